import FieldpackArchive
import FieldpackCore
import FieldpackGeoPackage
import FieldpackProjection
import FieldpackSQLite

/// A GeoPackage that is served, and what is known of its layers.
final class ServedFile: Sendable {
  let store: GeoPackageStore
  let options: ServerDocuments.Options
  let tiles = KeptTiles()
  /// For answers that clients take slowly.
  let room: SpillRoom
  /// Begins every entity tag, so that none of an earlier run is taken for one of this.
  private let run: String
  private let state: Locked<State>
  private let uptime: @Sendable () -> Duration

  private struct State {
    /// A connection that tells only whether somebody has changed the file.
    var watch: Connection?
    var known: Known?
    /// The layers with features that an R-tree does not have, in the version that they were counted in.
    var bare: [LayerID: (version: Int64, isBare: Bool)] = [:]
    /// The counter of each layer, with the version of the file that it was read in.
    var counters: [LayerID: (version: Int64, counter: String)] = [:]
  }

  /// What is made for one version of the file.
  struct Known {
    var version: Int64
    var read: Duration
    var documents: ServerDocuments
    var kept: [KeptName: KeptDocument] = [:]
  }

  struct KeptName: Hashable {
    var name: ServerDocuments.Name
    var format: ServerDocuments.Format
    var base: LinkBase
    /// The layers in the document; `nil` where it has all of the file.
    var layers: [LayerID]?
    var version: Int64
  }

  /// A document as it is sent, with its entity tag.
  struct KeptDocument {
    var document: ServerDocuments.Document
    var tag: String
    /// The bytes as gzip; `nil` where they are too few.
    var packed: [UInt8]?
  }

  /// How long a change of the layers may go unnoticed.
  private static let patience = Duration.seconds(1)
  /// Documents of other bases than the usual are not kept without end.
  private static let mostKept = 2_000

  init(
    _ store: GeoPackageStore, _ options: ServerDocuments.Options, room: SpillRoom = SpillRoom(),
    uptime: @escaping @Sendable () -> Duration
  ) {
    self.store = store
    self.room = room
    self.options = options
    self.uptime = uptime
    run = String(UInt64.random(in: .min ... .max), radix: 36)
    var state = State()
    state.watch = try? Connection(path: store.path, mode: .readOnly, busyTimeout: .zero)
    self.state = Locked(state)
  }

  /// A number that changes with every commit to the file; `nil` where it cannot be told now.
  func version() -> Int64? { state.withLock { try? $0.watch?.dataVersion } }

  /// The entity tag of what was read after `version` was asked for. It is a weak one: the moment in an
  /// answer is another one each time.
  func tag(of version: Int64, _ format: String) -> String { tag(of: "\(version)", format) }

  /// The entity tag of what was read after a counter of ``counter(of:)``, as the tag of a version.
  func tag(of counter: String, _ format: String) -> String {
    "W/\"\(run)-\(counter)-\(format)\""
  }

  /// A text that is another one after each change of the layers; `nil` where changes cannot be noticed.
  /// The text of a layer with a change log changes with the edits of that layer only.
  func counter(of layers: [LayerID]) async throws(FieldpackError) -> String? {
    guard let version = version() else { return nil }
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

  /// What is known of the layers, where it need not be read again.
  func known() -> ServerDocuments? {
    state.withLock { state in
      guard let known = state.known else { return nil }
      guard uptime() - known.read > Self.patience else { return known.documents }
      guard (try? state.watch?.dataVersion) == known.version else { return nil }
      state.known?.read = uptime()
      return known.documents
    }
  }

  /// Reads the layers.
  func documents() async throws(FieldpackError) -> ServerDocuments {
    if let known = known() { return known }
    let version = version() ?? 0
    let layers = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try snapshot.layers(areCounted: false)
    }
    let pyramids = try await store.tilePyramids()
    var documents = ServerDocuments(
      layers.map { ServedLayer($0) }, pyramids: pyramids.compactMap { ServedPyramid($0) }, options)
    documents.version = version
    state.withLock { [documents] in
      $0.known = Known(version: version, read: uptime(), documents: documents)
    }
    return documents
  }

  /// A document that is kept, or is made now.
  func document(
    _ name: ServerDocuments.Name, _ format: ServerDocuments.Format, _ base: LinkBase,
    of documents: ServerDocuments
  ) -> KeptDocument? {
    let key = KeptName(
      name: name, format: format, base: base, layers: documents.kept, version: documents.version)
    if let kept = state.withLock({ $0.known?.kept[key] }) { return kept }
    guard let document = documents.document(name, as: format, base: base) else { return nil }
    let isLong = document.bytes.count >= ContentCoding.shortest
    let kept = KeptDocument(
      document: document, tag: Self.tag(of: document.bytes),
      packed: isLong ? try? GzipPacker.packed(document.bytes, level: 6) : nil)
    state.withLock { state in
      if state.known?.kept.count ?? 0 >= Self.mostKept { state.known?.kept = [:] }
      state.known?.kept[key] = kept
    }
    return kept
  }

  /// An entity tag of bytes.
  static func tag(of bytes: [UInt8]) -> String {
    var hash = FNV1a()
    for byte in bytes { hash.update(byte) }
    return "\"" + String(hash.value, radix: 36) + "\""
  }

  /// Whether the file has layers about people.
  var hasBioLayers: Bool {
    state.withLock { $0.known?.documents.layers.contains { AccessRight.isBio($0.id) } } ?? true
  }

  // MARK: Features without geometry

  /// The condition of a box. Features without geometry meet every box (OGC 17-069r4,
  /// /req/core/fc-bbox-response C), and an R-tree does not have them.
  ///
  /// - Parameter version: what ``version()`` has given.
  func condition(
    of box: Filter?, in layer: ServedLayer, version: Int64?
  ) async throws(FieldpackError) -> Filter? {
    guard let box, let geometry = layer.schema.geometry else { return box }
    let known = state.withLock { $0.bare[layer.id] }
    let isBare: Bool
    if let known, known.version == version {
      isBare = known.isBare
    } else {
      isBare = try await hasBareFeatures(layer.id)
      if let version { state.withLock { $0.bare[layer.id] = (version, isBare) } }
    }
    return isBare ? box || .isNull(.column(geometry.name)) : box
  }

  private func hasBareFeatures(_ layer: LayerID) async throws(FieldpackError) -> Bool {
    let (table, count) = try await store.table(of: layer)
    guard let rtree = table.rtree else { return true }
    let entries = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try snapshot.rows("SELECT count(*) FROM \(quoted("\(rtree)_rowid"))")
    }
    return entries.first?.first?.integerValue.map { $0 < Int64(count) } ?? true
  }

  func close() { state.withLock { $0.watch = nil } }
}

extension GeoPackageSnapshot {
  /// The version of the file's schema and the number of the last edit of the layer; `nil` for a layer
  /// whose log does not have all edits.
  fileprivate func changeCounter(of layer: LayerID) throws(FieldpackError) -> String? {
    guard let log = try editLog(of: layer), try log.isCurrent() else { return nil }
    let version = try rows("PRAGMA schema_version").first?.first?.integerValue ?? 0
    return "s\(version)-\(try log.head())"
  }
}
