public import FieldpackCore
public import FieldpackHTTP

/// A receiver that is asked by HTTP, see ``SyncPeer/respond(to:path:query:body:)``.
///
///     let office = try HTTPSyncPeer("https://example.org/sync")
///     let report = try await SyncRun(of: device, with: office).run()
///
/// What it answers is not trusted: an answer that is no answer is an error, and changes nothing.
public struct HTTPSyncPeer: SyncPeer {
  public let name: String
  private let url: String
  private let client: HTTPClient
  private let signedIn: (any SignedIn)?

  /// - Parameters:
  ///   - address: http or https, without a query. One without a path stands for `/sync` there.
  ///   - signedIn: whose token is sent, as `Bearer`; by default none is.
  ///   - allowsUnencrypted: whether another machine may be asked by http. Then others on the way can
  ///     read the features and the token.
  /// - Throws: `.permission` where features would be sent without encryption and may not,
  ///   `.invalidArgument` for an address that cannot be asked.
  public init(
    _ address: String, signedIn: (any SignedIn)? = nil, client: HTTPClient? = nil,
    allowsUnencrypted: Bool = false
  ) throws(FieldpackError) {
    let backend = try BackendAddress(address)
    try backend.checkEncryption(allowsUnencrypted: allowsUnencrypted)
    guard !address.contains(where: { $0 == "?" || $0 == "#" }) else {
      throw FieldpackError(
        .invalidArgument, "the address of a receiver has no query. Try: leave out what follows ?")
    }
    // After the scheme and the server.
    let path = address.split(separator: "/", omittingEmptySubsequences: true).dropFirst(2)
    url = backend.url("/" + (path.isEmpty ? "sync" : path.joined(separator: "/")))
    name = url
    self.client = if let client { client } else { try HTTPClient() }
    self.signedIn = signedIn
  }

  // MARK: Asking

  public func layers() async throws(FieldpackError) -> [SyncLayer] {
    let answer = try await ask("/layers")
    return try read { () throws(FieldpackError) in
      var layers: [SyncLayer] = []
      for item in try SyncJSON.list("layers", of: answer) { layers.append(try SyncLayer(item)) }
      return layers
    }
  }

  public func edit(
    at position: Int64, of layer: LayerID
  ) async throws(FieldpackError) -> String? {
    let answer = try await ask("/edit", [("layer", layer.rawValue), ("position", "\(position)")])
    return try read { () throws(FieldpackError) in
      switch answer["edit_id"] {
      case .null: return nil
      case .text(let id): return id
      default: throw SyncJSON.broken("a text 'edit_id'")
      }
    }
  }

  public func edits(
    of layer: LayerID, after position: Int64, limit: Int
  ) async throws(FieldpackError) -> SyncPage {
    let limit = min(limit, SyncResponse.Limit.edits)
    let answer = try await ask(
      "/edits", [("layer", layer.rawValue), ("after", "\(position)"), ("limit", "\(limit)")])
    return try read { () throws(FieldpackError) in
      try SyncPage(fromOutside: answer, after: position, limit: limit)
    }
  }

  /// Sends as many of the edits as make 1 MiB, and gives the answers to those.
  public func send(
    _ edits: [SyncEdit], of layer: LayerID
  ) async throws(FieldpackError) -> SyncReceipt {
    var body = Array(#"{"edits":["#.utf8)
    var count = 0
    for edit in edits.prefix(SyncResponse.Limit.edits) {
      let start = body.count
      if count > 0 { body.append(UInt8(ascii: ",")) }
      edit.append(to: &body)
      if count > 0, body.count > SyncResponse.Limit.page {
        body.removeSubrange(start...)
        break
      }
      count += 1
      guard body.count < SyncResponse.Limit.request else {
        let refusal = SyncAnswer(
          edit.id, .refused, at: 0, message: "the edit is larger than a receiver takes, 16 MiB")
        return SyncReceipt(answers: [refusal], before: 0, position: 0)
      }
    }
    body += "]}".utf8
    let answer = try await ask("/edits", [("layer", layer.rawValue)], body)
    return try read { () throws(FieldpackError) in
      let receipt = try SyncReceipt(answer)
      let answers = receipt.answers
      guard answers.count == count || answers.count < count && answers.last?.verdict == .later
      else { throw SyncJSON.broken("an answer to each edit") }
      return receipt
    }
  }

  /// Names the receiver in errors about its answer.
  private func read<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R {
    do throws(FieldpackError) { return try body() } catch {
      throw FieldpackError(error.code, "\(name): \(error.message)")
    }
  }

  // MARK: Exchanges

  private func ask(
    _ path: String, _ query: [(String, String)] = [], _ body: [UInt8]? = nil
  ) async throws(FieldpackError) -> JSONValue {
    let parts = query.map { "\($0)=\(PercentText.encode($1))" }
    let address = url + path + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    var token = try await signedIn?.token()
    var response = try await exchange(address, body, token)
    if response.status == 401, let refused = token, let signedIn {
      token = try await signedIn.token(otherThan: refused)
      response = try await exchange(address, body, token)
    }
    if (400..<500).contains(response.status), ![401, 403, 408, 429].contains(response.status),
      let error = SyncResponse.error(in: response.body, of: name)
    {
      throw error
    }
    let answer = try response.checked(name)
    return try read { () throws(FieldpackError) in try SyncJSON.read(answer.body) }
  }

  private func exchange(
    _ address: String, _ body: [UInt8]?, _ token: String?
  ) async throws(FieldpackError) -> HTTPResponse {
    var fields: HTTPFields = ["Accept": "application/json"]
    if body != nil { fields["Content-Type"] = "application/json" }
    if let token { fields["Authorization"] = "Bearer \(token)" }
    return try await client.send(
      HTTPRequest(
        body == nil ? .get : .post, address, fields: fields, body: body.map { .bytes($0) } ?? .none,
        maximumLength: SyncResponse.Limit.answer))
  }
}

extension SyncPage {
  /// A page that somebody else wrote.
  ///
  /// - Parameters:
  ///   - start: after which edit was asked.
  ///   - limit: how many edits were asked for.
  /// - Throws: `.invalidData` for a page that does not go on, or goes backwards.
  init(
    fromOutside json: JSONValue, after start: Int64, limit: Int
  ) throws(FieldpackError) {
    let items = try SyncJSON.list("edits", of: json)
    guard items.count <= limit else { throw SyncJSON.broken("at most \(limit) edits") }
    (edits, position) = ([], try SyncJSON.integer("position", of: json))
    var last = start
    for item in items {
      let edit = try SyncEdit(fromOutside: item)
      guard edit.position > last, edit.position <= position else {
        throw SyncJSON.broken("a position that goes on")
      }
      last = edit.position
      edits.append(edit)
    }
    isLast = json["last"] == .boolean(true)
    guard isLast ? position >= start : position > start else {
      throw SyncJSON.broken("a position that goes on")
    }
  }
}
