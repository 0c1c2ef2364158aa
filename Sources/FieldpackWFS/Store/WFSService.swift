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
    let operations = try await operations()
    if let known = state.withLock({ $0.descriptions[type.name] }) { return known }
    let version = operations.version
    let url = operations.address(of: "DescribeFeatureType").url([
      ("service", "WFS"), ("version", version.rawValue), ("request", "DescribeFeatureType"),
      (version == .wfs20 ? "typeNames" : "typeName", type.name),
      // The standard's parameter differs from what some services of version 2 look at.
      ("typeName", version == .wfs20 ? type.name : nil),
    ])
    let root = try await named { () async throws(FieldpackError) in
      try await self.connection.document(WFSRequest(url: url))
    }
    let made = try FeatureTypeDescription(root, of: type)
    state.withLock { $0.descriptions[type.name] = made }
    return made
  }

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
