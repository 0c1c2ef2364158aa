import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// A service as a store knows it: what it says of itself and of its layers is asked for once.
final class WFSService: Sendable {
  let store: StoreID
  /// The version that the service is asked for. It may answer in an earlier one, see
  /// ``WFSOperations/version``.
  let version: WFSVersion
  let base: WFSAddress
  let connection: WFSConnection
  /// The most features in a page.
  let pageSize: Int
  let axes = AxisOrders()

  private struct State {
    var operations: WFSOperations?
    var descriptions: [String: FeatureTypeDescription] = [:]
    /// The service has refused GeoJSON although it offers it.
    var refusesJSON = false
    var isClosed = false
  }

  private let state = Locked(State())

  init(
    store: StoreID, version: WFSVersion, address: String, connection: WFSConnection,
    pageSize: Int = 1_000
  ) {
    self.pageSize = pageSize
    self.store = store
    self.version = version
    self.base = WFSAddress(address)
    self.connection = connection
  }

  func close() { state.withLock { $0.isClosed = true } }

  func checkOpen() throws(FieldpackError) {
    guard state.withLock({ $0.isClosed }) else { return }
    throw FieldpackError(
      .unavailable, "store '\(store)' is closed", location: .init(store: store))
  }

  var refusesJSON: Bool { state.withLock { $0.refusesJSON } }
  func noteJSONRefused() { state.withLock { $0.refusesJSON = true } }

  func operations() async throws(FieldpackError) -> WFSOperations {
    try checkOpen()
    if let known = state.withLock({ $0.operations }) { return known }
    let url = base.url([
      ("service", "WFS"), ("version", version.rawValue), ("request", "GetCapabilities"),
    ])
    let root = try await named { () async throws(FieldpackError) in
      try await self.connection.document(WFSRequest(url: url))
    }
    let capabilities = try WFSCapabilities(root, asked: version)
    let made = WFSOperations(base: base, capabilities: capabilities)
    state.withLock { $0.operations = made }
    return made
  }

  func description(
    of type: WFSCapabilities.FeatureType
  ) async throws(FieldpackError) -> FeatureTypeDescription {
    if let known = state.withLock({ $0.descriptions[type.name] }) { return known }
    let made = try FeatureTypeDescription(try await schema(of: type.name), of: type)
    state.withLock { $0.descriptions[type.name] = made }
    return made
  }

  /// The XML schema of types, whose names are separated by commas.
  private func schema(of names: String) async throws(FieldpackError) -> XMLTree {
    let operations = try await operations()
    let version = operations.version
    let url = operations.address(of: "DescribeFeatureType").url([
      ("service", "WFS"), ("version", version.rawValue), ("request", "DescribeFeatureType"),
      (version == .wfs20 ? "typeNames" : "typeName", names),
      // The standard's parameter differs from what some services of version 2 look at.
      ("typeName", version == .wfs20 ? names : nil),
    ])
    return try await named { () async throws(FieldpackError) in
      try await self.connection.document(WFSRequest(url: url))
    }
  }

  /// Asks for the descriptions of many types in few requests. What a service does not tell so is asked
  /// for one by one when it is needed.
  func describe(_ types: [WFSCapabilities.FeatureType]) async throws(FieldpackError) {
    let known = state.withLock { $0.descriptions }
    let missing = types.filter { known[$0.name] == nil }
    // A document has one namespace, and names alone tell the types in it apart.
    let groups = Dictionary(grouping: missing) { $0.name.dropLast($0.localName.count) }
    for group in groups.values where group.count > 1 {
      for start in stride(from: 0, to: group.count, by: Self.typesOfRequest) {
        let part = group[start..<min(start + Self.typesOfRequest, group.count)]
        let names = part.map(\.name).joined(separator: ",")
        guard let root = try? await schema(of: names) else { continue }
        for type in part {
          guard let made = try? FeatureTypeDescription(root, of: type) else { continue }
          state.withLock { $0.descriptions[type.name] = made }
        }
      }
    }
  }

  private static let typesOfRequest = 25

  /// The number of features that a service counts; `nil` where it gives none.
  func hits(
    _ request: FeatureRequest, _ writer: FESWriter
  ) async throws(FieldpackError) -> Int? {
    let operations = try await operations()
    var request = request
    request.isHits = true
    let encoded = request.encoded(for: operations, writer: writer)
    let root = try await named { () async throws(FieldpackError) in
      try await self.connection.document(encoded)
    }
    return AnswerReader.matched(root)
  }

  /// Runs a request and names the store in its error.
  func named<R: Sendable>(
    _ body: () async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    do throws(FieldpackError) { return try await body() } catch {
      throw error.adding(location: .init(store: store))
    }
  }
}
