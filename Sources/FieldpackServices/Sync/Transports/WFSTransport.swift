public import FieldpackCore
public import FieldpackHTTP
import FieldpackWFS

/// Sends edits to a Web Feature Service that takes transactions, one transaction an edit.
///
/// The layers of the service have the names of those of the edits, or are their names after a colon.
/// Transactions have no place for the id of an edit: one whose answer was lost is there twice. Changes
/// and deletions need ``OutgoingEdit/serverID``.
public actor WFSTransport: EditTransport {
  private let address: BackendAddress
  private let url: String
  private let signedIn: any SignedIn
  private let client: HTTPClient
  /// The service as the last token reaches it.
  private var opened: (token: String?, store: WritableWFSStore)?

  /// - Parameters:
  ///   - url: where the service is, such as `https://example.org/geoserver/wfs`.
  ///   - signedIn: gives the token, which is sent as `Bearer`.
  ///   - client: sends the requests; by default one of its own.
  ///   - allowsUnencrypted: whether another machine may be asked by http.
  /// - Throws: `.permission` where features would be sent without encryption and may not,
  ///   `.invalidArgument` for an address that cannot be asked.
  public init(
    url: String, signedIn: any SignedIn, client: HTTPClient? = nil,
    allowsUnencrypted: Bool = false
  ) throws(FieldpackError) {
    address = try BackendAddress(url)
    try address.checkEncryption(allowsUnencrypted: allowsUnencrypted)
    self.client = if let client { client } else { try HTTPClient() }
    (self.url, self.signedIn) = (url, signedIn)
  }

  public func send(_ edits: [OutgoingEdit]) async -> [EditAnswer] {
    var answers: [EditAnswer] = []
    for edit in edits {
      do throws(FieldpackError) {
        answers.append(try await answer(to: edit))
      } catch {
        answers.append(.later(error.adding(location: edit.location)))
        break
      }
    }
    return answers
  }

  private func answer(to edit: OutgoingEdit) async throws(FieldpackError) -> EditAnswer {
    let token = try await signedIn.token()
    do throws(FieldpackError) { return try await answer(to: edit, token) } catch {
      guard case .status(401, _)? = error.httpFailure, let token else { throw error }
      return try await answer(to: edit, try await signedIn.token(otherThan: token))
    }
  }

  private func answer(
    to edit: OutgoingEdit, _ token: String?
  ) async throws(FieldpackError) -> EditAnswer {
    let store = try store(token)
    let hasLayer = try await !store.having([edit.layer]).isEmpty
    guard hasLayer else { return refusal(of: edit, "\(address.host) has no layer '\(edit.layer)'") }
    let id = edit.serverID.map { FeatureID($0) }
    guard edit.operation == .insert || id != nil else {
      return refusal(of: edit, "the id that \(address.host) gave to the feature is not known")
    }
    let (result, ids): (Result<FeatureID?, FieldpackError>, [FeatureID: FeatureID])
    do throws(FieldpackError) {
      (result, ids) = try await store.transaction { (writer) throws(FieldpackError) in
        Result { () throws(FieldpackError) in try Self.write(edit, id, to: &writer) }
      }
    } catch {
      guard error.isRefusedForGood else { throw error }
      return .refused(error.adding(location: edit.location))
    }
    switch result {
    case .success(let id): return .accepted(serverID: id.flatMap { ids[$0]?.description })
    case .failure(let error):
      // An error about the edit names its layer, others are about the service.
      guard error.location.layer != nil else { throw error }
      return refusal(of: edit, error.message)
    }
  }

  /// - Returns: the id that a new feature has until the service gives its own.
  private static func write(
    _ edit: OutgoingEdit, _ id: FeatureID?, to writer: inout FeatureWriter
  ) throws(FieldpackError) -> FeatureID? {
    var feature = edit.feature
    (feature.key, feature.id) = (nil, nil)
    switch (edit.operation, id) {
    case (.update, let id?):
      try writer.update(
        id, in: edit.layer, set: feature.attributes, geometry: .set(feature.geometry))
    case (.delete, let id?):
      // What is not there was deleted by this edit, whose answer was lost.
      do throws(FieldpackError) { try writer.delete(id, in: edit.layer) } catch {
        guard error.code == .notFound, error.location.feature != nil else { throw error }
      }
    default: return try writer.create(feature, in: edit.layer)
    }
    return nil
  }

  private func store(_ token: String?) throws(FieldpackError) -> WritableWFSStore {
    if let opened, opened.token == token { return opened.store }
    let store = try WritableWFSStore(
      WFSStore(
        address: url, id: "wfs", client: client,
        fields: token.map { ["Authorization": "Bearer \($0)"] } ?? [:]))
    opened = (token, store)
    return store
  }

  private func refusal(of edit: OutgoingEdit, _ message: String) -> EditAnswer {
    .refused(FieldpackError(.unsupported, message, location: edit.location))
  }
}

/// Shows nothing of the token.
extension WFSTransport: CustomReflectable {
  public nonisolated var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}

extension FieldpackError {
  /// Whether a service would refuse the same edit again and again.
  fileprivate var isRefusedForGood: Bool {
    switch wfsFailure {
    case .exception, .incomplete: return true
    case .repeatedPage, .otherDocument: return false
    case nil: break
    }
    switch httpFailure {
    case .status(let status, _): return HTTPResponse.refusesForGood(status)
    case nil: return code == .readOnly
    default: return false
    }
  }
}
