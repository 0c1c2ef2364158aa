public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
import FieldpackSQLite

/// The receiver of devices' edits: it keeps them in a GeoPackage, decides on conflicts, and gives all
/// edits out in its own order.
///
/// Where two edits changed the same column of a feature, neither knowing of the other, the value that
/// came first stands, and the other is kept as a row of the layer `conflict`. Different columns of a
/// feature are merged. An edit that changes a feature brings it back where the other deleted it.
///
///     let service = SyncService(of: store)
///     try await SyncRun(of: device, with: service).run()
public struct SyncService: SyncPeer {
  public let name: String
  private let store: GeoPackageStore
  private let clock: FieldClock

  public init(of store: GeoPackageStore, clock: FieldClock = .system) {
    (self.store, self.clock) = (store, clock)
    name = store.path
  }

  // MARK: Giving out

  public func layers() async throws(FieldpackError) -> [SyncLayer] {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try SyncLayer.all(in: snapshot)
    }
  }

  public func edit(
    at position: Int64, of layer: LayerID
  ) async throws(FieldpackError) -> String? {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try Self.log(of: layer, in: snapshot).id(at: position)
    }
  }

  public func edits(
    of layer: LayerID, after position: Int64, limit: Int
  ) async throws(FieldpackError) -> SyncPage {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      let log = try Self.log(of: layer, in: snapshot)
      let links = try LinkColumns(of: log, in: snapshot)
      let logged = try log.edits(after: position, limit: limit)
      var edits: [SyncEdit] = []
      var size = 0
      for edit in logged {
        let changed = try log.changedColumns(edit)
        guard let made = try SyncEdit(edit, changed: changed, in: log, links, snapshot) else {
          continue
        }
        edits.append(made)
        size += made.content?.count ?? 0
        if size >= SyncEdit.contentAtOnce, edit != logged.last {
          return SyncPage(edits: edits, position: edit.number, isLast: false)
        }
      }
      return SyncPage(
        edits: edits, position: logged.last?.number ?? position, isLast: logged.count < limit)
    }
  }

  static func log(
    of layer: LayerID, in snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> EditLog {
    if let log = try snapshot.editLog(of: layer) { return log }
    throw FieldpackError(
      .notFound, "the edits of layer '\(layer)' are not logged", location: .init(layer: layer))
  }

  // MARK: Receiving

  public func send(
    _ edits: [SyncEdit], of layer: LayerID
  ) async throws(FieldpackError) -> SyncReceipt {
    try await store.keepStatementJournals()
    // A savepoint for each edit takes as long as the edit. Receivers refuse few edits, so that most
    // batches are taken without savepoints.
    do throws(FieldpackError) {
      return try await receive(edits, of: layer, refusing: false)
    } catch {
      guard error.isForGood else { throw error }
      return try await receive(edits, of: layer, refusing: true)
    }
  }

  private func receive(
    _ edits: [SyncEdit], of layer: LayerID, refusing: Bool
  ) async throws(FieldpackError) -> SyncReceipt {
    let now = clock.now
    return try await store.write {
      (writer: GeoPackageWriter) throws(FieldpackError) -> SyncReceipt in
      try SyncTables.create(in: writer)
      let log = try Self.log(of: layer, in: writer)
      let before = try log.head()
      let answers = try EditReception(
        GeoPackageReception(log, writer, at: now), at: now
      ).receive(edits, refusing: refusing)
      let position = try log.head()
      return SyncReceipt(
        answers: answers, before: before, position: position, edit: try log.id(at: position))
    }
  }
}

extension SyncLayer {
  /// The logged layers of a file. Media come first and links of relations last, so that each edit finds
  /// what it names.
  static func all(in snapshot: GeoPackageSnapshot) throws(FieldpackError) -> [SyncLayer] {
    let logs = try snapshot.editLogs()
    var layers: [SyncLayer] = []
    let names = Set(logs.map(\.layer))
    let file = try SyncTables.file(in: snapshot)
    for rank in 0...2 {
      // The links of a layer that is not logged would name other features elsewhere.
      for log in logs
      where log.syncRank == rank && log.references.values.allSatisfy({ names.contains($0) }) {
        layers.append(
          SyncLayer(
            name: log.layer, origin: log.origin, columns: log.valueColumns.map { log.columns[$0] },
            references: log.references, head: try log.head(), replica: file.id,
            receiver: file.receiver))
      }
    }
    return layers
  }
}

extension EditLog {
  /// 0 for media, 2 for links of relations, 1 for all else.
  fileprivate var syncRank: Int { lacksContent ? 0 : references.isEmpty ? 1 : 2 }
}

extension SyncEdit {
  /// After so many bytes of media no more edits are taken into memory.
  static let contentAtOnce = 8 << 20

  /// - Parameter changed: the positions of the columns that the edit changed.
  /// - Returns: `nil` for a row that is no edit.
  init?(
    _ edit: LoggedEdit, changed: [Int], in log: EditLog, _ links: LinkColumns,
    _ snapshot: GeoPackageSnapshot, base: Base? = nil
  ) throws(FieldpackError) {
    guard let id = edit.id,
      let operation = OutgoingEdit.Operation(rawValue: Int(edit.operation.rawValue))
    else { return nil }
    var values = edit.values
    try links.replaceIDs(in: &values)
    var content: [UInt8]?
    // An update that changed none of the columns in the log changed the content.
    if log.lacksContent, operation == .insert || operation == .update && changed.isEmpty {
      // Media that are gone by now are empty, until their deletion comes.
      content = try snapshot.content(of: edit.feature, in: log) ?? []
    }
    self.init(
      id: id, operation: operation, identity: try log.identity(of: edit),
      position: edit.number, base: base, changed: changed.map { log.columns[$0] },
      values: log.valueColumns.map { values[$0] }, content: content, time: edit.time,
      author: edit.author, device: edit.device)
  }
}
