public import Fieldpack
public import FieldpackCore
public import FieldpackField
public import FieldpackHTTP

/// Sends new features to the forms of a backend: `POST /api/form/ID/submit`, one request a feature.
///
/// A receiver that knows `metadata.edit_id` takes an edit once, however often it comes. Old servers do
/// not look at it: an edit whose acknowledgement was lost is there twice.
///
/// Changes and deletions are refused, and so are features of layers that belong to no form. Geometries
/// are taken to be in WGS 84.
public struct FormTransport: EditTransport {
  private let address: BackendAddress
  private let signedIn: any SignedIn
  private let client: HTTPClient
  private let clock: FieldClock

  /// The largest answer that is read, in bytes.
  private static let maximumLength = 1 << 16

  /// - Parameters:
  ///   - client: sends the requests; by default one of its own.
  ///   - clock: tells until when a server asks to wait.
  ///   - allowsUnencrypted: whether another machine may be asked by http. Then others on the way can
  ///     read the features and the token.
  /// - Throws: `.permission` where features would be sent without encryption and may not,
  ///   `.invalidArgument` for an address that cannot be asked.
  public init(
    _ remote: RemoteConfig, signedIn: any SignedIn, client: HTTPClient? = nil,
    clock: FieldClock = .system, allowsUnencrypted: Bool = false
  ) throws(FieldpackError) {
    address = try BackendAddress(remote)
    try address.checkEncryption(allowsUnencrypted: allowsUnencrypted)
    self.client = if let client { client } else { try HTTPClient() }
    (self.signedIn, self.clock) = (signedIn, clock)
  }

  public func send(_ edits: [OutgoingEdit]) async -> [EditAnswer] {
    var answers: [EditAnswer] = []
    for edit in edits {
      let answer = await answer(to: edit)
      answers.append(answer)
      if case .later = answer { break }
    }
    return answers
  }

  private func answer(to edit: OutgoingEdit) async -> EditAnswer {
    guard edit.operation == .insert, let form = edit.form else {
      return .refused(
        FieldpackError(
          .unsupported, "\(address.host) takes new features of forms only",
          location: edit.location))
    }
    let body: [UInt8]
    do throws(FieldpackError) { body = try edit.geoJSON() } catch {
      return .refused(error.adding(location: edit.location))
    }
    do throws(FieldpackError) {
      var token = try await signedIn.token()
      var response = try await post(body, form, token)
      if response.status == 401, let refused = token {
        token = try await signedIn.token(otherThan: refused)
        response = try await post(body, form, token)
      }
      return answer(response, to: edit, form, hiding: token)
    } catch {
      return .later(error.adding(location: edit.location))
    }
  }

  private func post(
    _ body: [UInt8], _ form: Int64, _ token: String?
  ) async throws(FieldpackError) -> HTTPResponse {
    var fields: HTTPFields = ["Content-Type": "application/json", "Accept": "application/json"]
    if let token { fields["Authorization"] = "Token \(token)" }
    do throws(FieldpackError) {
      return try await client.send(
        HTTPRequest(
          .post, url(of: form), fields: fields, body: .bytes(body),
          maximumLength: Self.maximumLength))
    } catch {
      throw address.failure(error)
    }
  }

  private func url(of form: Int64) -> String { address.url("/api/form/\(form)/submit") }

  // MARK: Answers

  private func answer(
    _ response: HTTPResponse, to edit: OutgoingEdit, _ form: Int64, hiding token: String?
  ) -> EditAnswer {
    let document = try? JSONValueReader.read(String(decoding: response.body, as: UTF8.self))
    // A redirect turns the request into another one, whose success says nothing of the edit.
    let isMoved = (try? HTTPAddress(response.url)) != (try? HTTPAddress(url(of: form)))
    if isMoved || !response.isSuccess && !response.refusesForGood {
      return .later(failure(response).adding(location: edit.location))
    }
    let reason = (document?["error"]).flatMap { $0 == .null ? nil : $0 }
    if response.isSuccess, reason == nil {
      switch document?["result"] {
      case nil, .null: return .later(failure(response).adding(location: edit.location))
      case .boolean(false): break
      case let result?: return .accepted(serverID: Self.serverID(in: result))
      }
    }
    let words = Self.words(reason?.string, hiding: token)
    let status = response.isSuccess ? "" : " with status \(response.status)"
    return .refused(
      FieldpackError(
        .constraint, "\(address.host) refuses the feature\(status)\(words)",
        location: edit.location, underlying: HTTPFailure.status(response.status)))
  }

  /// Why an answer says nothing of the edit.
  private func failure(_ response: HTTPResponse) -> FieldpackError {
    do throws(FieldpackError) {
      _ = try response.checked(address.host, at: clock.now)
      return FieldpackError(
        .invalidData, "\(address.host) does not say what became of the feature")
    } catch {
      return error
    }
  }

  private static func serverID(in result: JSONValue) -> String? {
    switch result["id"] {
    case .text(let id) where !id.isEmpty: id
    case .integer(let id): String(id)
    default: nil
    }
  }

  /// The words of the server in one line, without what must not be told.
  private static func words(_ text: String?, hiding token: String?) -> String {
    guard let text, !text.isEmpty, token.map(text.contains) != true else { return "" }
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return ": " + (words.count > 200 ? words.prefix(200) + "…" : words)
  }
}

extension SignedIn {
  /// A token in place of one that a server refused.
  ///
  /// - Throws: `.permission` where there is no other.
  func token(otherThan refused: String) async throws(FieldpackError) -> String? {
    if let renewing = self as? any TokenRenewing { return try await renewing.token(after: refused) }
    let token = try await token()
    guard token != refused else {
      throw FieldpackError(
        .permission, "the server takes the token no longer", advice: .signIn(config: nil))
    }
    return token
  }
}

extension HTTPResponse {
  /// Whether the same request would be refused again and again.
  var refusesForGood: Bool { Self.refusesForGood(status) }

  static func refusesForGood(_ status: Int) -> Bool {
    (400..<500).contains(status) && ![401, 408, 429].contains(status)
  }
}
