public import FieldpackCore

/// The layers of a Web Feature Service that takes changes.
///
/// One call of ``write(_:)`` is one request, which is sent when the body has ended; what the body reads
/// is what the service has until then. The standard wants the service to carry out a request as a whole
/// or not at all. QGIS Server carries out what it can of it; then the call throws. Features are not
/// locked: a change of somebody else between reading and writing is overwritten.
///
/// The service chooses the ids of new features. In the body a new feature has a text such as `new-1`
/// for its id; ``transaction(_:)`` gives the ids that the service chose. Where the service takes no
/// transactions, ``write(_:)`` throws `.readOnly`.
public final class WritableWFSStore: WritableStore {
  private let reading: WFSStore

  public var id: StoreID { reading.id }

  /// - Parameter store: a store of version 2.0.0. Where the service knows only 1.1.0, changes are sent
  ///   in that version.
  /// - Throws: `.readOnly` for a store of version 1.1.0.
  public init(_ store: WFSStore) throws(FieldpackError) {
    reading = store
    guard store.service.version == .wfs20 else { throw takesNoChanges }
  }

  private var takesNoChanges: FieldpackError {
    FieldpackError(
      .readOnly, "the service of store '\(id)' takes no changes", location: .init(store: id))
  }

  /// Those of the layers that the service has.
  package func having(_ layers: [LayerID]) async throws(FieldpackError) -> [LayerID] {
    try await reading.having(layers)
  }

  public func write<R: Sendable>(
    _ body: @Sendable (inout FeatureWriter) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await transaction(body).result
  }

  /// As ``write(_:)``, with the ids that the service gave to the new features, by those that they had
  /// in the body.
  public func transaction<R: Sendable>(
    _ body: @Sendable (inout FeatureWriter) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> (result: R, ids: [FeatureID: FeatureID]) {
    let operations = try await reading.service.operations()
    guard operations.capabilities.operations["Transaction"] != nil else { throw takesNoChanges }
    let (result, changes) = try await WFSSnapshot.onThread {
      [reading] () throws(FieldpackError) in
      let writer = WFSWriter(reading)
      var features = FeatureWriter(writer)
      let result = try body(&features)
      return (result, writer.changes)
    }
    guard !changes.isEmpty else { return (result, [:]) }
    return (result, try await send(changes))
  }

  private func send(_ changes: [WFSChange]) async throws(FieldpackError) -> [FeatureID: FeatureID] {
    let service = reading.service
    let operations = try await service.operations()
    let document = TransactionDocument(service, operations.version)
    let request = WFSRequest(
      url: operations.postAddress(of: "Transaction").plainURL, body: document.bytes(of: changes))
    let root = try await service.named { () async throws(FieldpackError) in
      try await service.connection.document(request)
    }
    return try document.ids(in: root, of: changes)
  }

  // MARK: Reading

  public func layers() async throws(FieldpackError) -> [Layer] { try await reading.layers() }
  public func schemas() async throws(FieldpackError) -> [Schema] { try await reading.schemas() }

  public func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try await reading.query(query)
  }

  public func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S {
    try await reading.scan(query, into: sink, report: report)
  }

  public func count(_ query: Query) async throws(FieldpackError) -> Int {
    try await reading.count(query)
  }

  public func feature(
    _ id: FeatureID, in layer: LayerID
  ) async throws(FieldpackError) -> Feature? {
    try await reading.feature(id, in: layer)
  }

  public func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await reading.read(body)
  }

  public func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    try await reading.explain(query)
  }

  public func close() async { await reading.close() }
}
