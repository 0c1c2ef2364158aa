package import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackServices

/// A GeoPackage that is served.
final class ServedGeoPackage: ServedStore {
  let store: GeoPackageStore
  private let edits: EditQueue
  private let state: Locked<State>

  private typealias Look = Task<Result<Filter?, FieldpackError>, Never>

  private struct State {
    /// A connection that tells only whether somebody has changed the file.
    var watch: Connection?
    /// The features without geometry of each layer, and the version that was looked at.
    var bare: [LayerID: (version: String, bareness: GeoPackageSnapshot.Bareness)] = [:]
    /// The looks that are under way.
    var looks: [LayerID: (version: String, task: Look)] = [:]
    /// The counter of each layer, with the version of the file that it was read in.
    var counters: [LayerID: (version: Int64, counter: String)] = [:]
  }

  init(_ store: GeoPackageStore) {
    self.store = store
    edits = EditQueue(of: store)
    var state = State()
    state.watch = try? Connection(path: store.path, mode: .readOnly, busyTimeout: .zero)
    self.state = Locked(state)
  }

  var id: StoreID { store.id }
  var place: String { store.path }
  var peer: any SyncPeer { SyncService(of: store) }

  func close() { state.withLock { $0.watch = nil } }

  // MARK: Versions

  /// A number that changes with every commit to the file; `nil` where it cannot be told now.
  var commitNumber: Int64? { state.withLock { try? $0.watch?.dataVersion } }

  func version(of layer: LayerID) async throws(FieldpackError) -> String? {
    commitNumber.map { "\($0)" }
  }

  /// The text of a layer with a change log changes with the edits of that layer only.
  func counter(of layers: [LayerID]) async throws(FieldpackError) -> String? {
    guard let version = commitNumber else { return nil }
    var counters = knownCounters(of: layers, in: version)
    let others = layers.filter { counters[$0] == nil }
    if !others.isEmpty {
      let read = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        var found: [LayerID: String] = [:]
        for layer in others {
          found[layer] = try snapshot.changeCounter(of: layer) ?? "v\(version)"
        }
        return found
      }
      state.withLock { state in
        for (layer, counter) in read { state.counters[layer] = (version, counter) }
      }
      counters.merge(read) { _, new in new }
    }
    return layers.compactMap { counters[$0] }.joined(separator: ".")
  }

  private func knownCounters(of layers: [LayerID], in version: Int64) -> [LayerID: String] {
    state.withLock { state in
      var counters: [LayerID: String] = [:]
      for layer in layers {
        guard let known = state.counters[layer], known.version == version else { continue }
        counters[layer] = known.counter
      }
      return counters
    }
  }

  // MARK: Layers

  func describedLayers() async throws(FieldpackError) -> [DescribedLayer] {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try snapshot.layers(areCounted: false).map { DescribedLayer($0) }
    }
  }

  func featuresWithoutGeometry(
    of layer: LayerID, _ version: String?
  ) async throws(FieldpackError) -> Filter? {
    guard let version else { return try await look(at: layer, after: nil).condition }
    let (known, look) = state.withLock { state -> (Filter?, Look?) in
      let known = state.bare[layer]
      if let known, known.version == version { return (known.bareness.condition, nil) }
      if let look = state.looks[layer], look.version == version { return (nil, look.task) }
      let look = Look { [self] in await self.look(at: layer, version, after: known?.bareness) }
      state.looks[layer] = (version, look)
      return (nil, look)
    }
    guard let look else { return known }
    return try await look.value.get()
  }

  /// A look for all requests of one version of the file. It goes on when the first of them is cancelled.
  private func look(
    at layer: LayerID, _ version: String, after known: GeoPackageSnapshot.Bareness?
  ) async -> Result<Filter?, FieldpackError> {
    let result: Result<GeoPackageSnapshot.Bareness, FieldpackError>
    do throws(FieldpackError) {
      result = .success(try await look(at: layer, after: known))
    } catch { result = .failure(error) }
    state.withLock { state in
      // Requests of a newer version have begun a look of their own.
      guard state.looks[layer]?.version == version else { return }
      state.looks[layer] = nil
      if case .success(let bareness) = result { state.bare[layer] = (version, bareness) }
    }
    return result.map(\.condition)
  }

  private func look(
    at layer: LayerID, after known: GeoPackageSnapshot.Bareness?
  ) async throws(FieldpackError) -> GeoPackageSnapshot.Bareness {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try snapshot.bareness(of: layer, after: known)
    }
  }

  // MARK: Reading and changing

  func read<R: Sendable>(
    _ body: @Sendable (any ServedSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try body(snapshot)
    }
  }

  func readAtOnce<R>(
    _ body: (any ServedSnapshot) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R? {
    try store.readAtOnce { (snapshot) throws(FieldpackError) in try body(snapshot) }
  }

  func readSoon<R: Sendable>(
    _ body: @Sendable (any ServedSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await store.readSoon { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try body(snapshot)
    }
  }

  func edit<R: Sendable>(
    weight: Int, _ body: @escaping @Sendable (any ServedWriting) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await edits.edit(weight: weight) { (writer: GeoPackageWriter) throws(FieldpackError) in
      try body(writer)
    }
  }

  func closeUnusedConnections() async { await store.closeUnusedReaders() }

  func brokenRule(_ error: FieldpackError) -> BrokenRule? {
    guard error.code == .constraint, let cause = error.underlying as? SQLiteError else {
      return nil
    }
    let kind: BrokenRule.Kind =
      switch cause.extendedCode {
      case Self.notNull: .notNull
      case Self.unique, Self.primaryKey, Self.rowID: .unique
      case Self.foreignKey: .relation
      default: .other
      }
    return BrokenRule(kind, columns: Self.columns(in: cause.message))
  }

  // https://www.sqlite.org/rescode.html
  private static let notNull: Int32 = 1299
  private static let unique: Int32 = 2067
  private static let primaryKey: Int32 = 1555
  private static let rowID: Int32 = 2579
  private static let foreignKey: Int32 = 787

  /// The columns that a message of SQLite names, such as `UNIQUE constraint failed: wells.name`, each behind
  /// its table and a full stop.
  private static func columns(in message: String) -> [String] {
    guard let colon = message.firstRange(of: "failed: ") else { return [] }
    return message[colon.upperBound...].split(separator: ", ").map { String($0) }
  }

  func transformed(
    _ geometries: [Geometry], from srs: SRS, to layer: LayerID
  ) async throws(FieldpackError) -> [Geometry] {
    try await store.transformed(geometries, from: srs, to: layer)
  }

  func transformed(
    _ geometries: [Geometry], of layer: LayerID, to srs: SRS
  ) async throws(FieldpackError) -> [Geometry] {
    try await store.transformed(geometries, of: layer, to: srs)
  }
}

extension GeoPackageSnapshot: ServedSnapshot {
  /// The version of the file's schema and the number of the last edit of the layer; `nil` for a layer
  /// whose log does not have all edits.
  fileprivate func changeCounter(of layer: LayerID) throws(FieldpackError) -> String? {
    guard let log = try editLog(of: layer), try log.isCurrent() else { return nil }
    let version = try rows("PRAGMA schema_version").first?.first?.integerValue ?? 0
    return "s\(version)-\(try log.head())"
  }
}

extension GeoPackageWriter: ServedWriting {
  /// A transaction that writes keeps all others from writing.
  package func lock(_ id: FeatureID, in layer: LayerID) {}

  package func update(
    _ id: FeatureID, in layer: LayerID, set attributes: Attributes,
    toDefault columns: [ColumnDefinition], geometry: GeometryUpdate
  ) throws(FieldpackError) {
    var attributes = attributes
    for column in columns {
      let row = try rows("SELECT \(column.defaultSQL ?? "NULL")").first
      attributes[column.name] = row?.first.map { Value($0) } ?? .null
    }
    try update(id, in: layer, set: attributes, geometry: geometry)
  }
}
