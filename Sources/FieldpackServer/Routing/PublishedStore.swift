import FieldpackArchive
import FieldpackCore
import FieldpackGeoPackage
import FieldpackServices

/// A GeoPackage or a database that is served, with what is known of its layers and kept of its answers.
final class PublishedStore: Sendable {
  private enum Kind {
    case file(ServedGeoPackage)
    case database(any ServedDatabase)
  }

  private let kind: Kind
  let content: any ServedStore
  let options: ServerDocuments.Options
  let tiles = KeptTiles()
  /// For answers that clients take slowly.
  let room: SpillRoom
  /// Begins every entity tag, so that none of an earlier run is taken for one of this.
  private let run: String
  private let state = Locked(State())
  private let uptime: @Sendable () -> Duration

  private struct State {
    var known: Known?
    /// How many readings of the layers have found others than the one before.
    var readings: Int64 = 0
  }

  /// What is made for one version of the layers.
  struct Known {
    var version: Int64
    /// When the reading of the layers began, and when it was over.
    var begun: Duration
    var read: Duration
    /// How long it stays known. A database has no number that tells of a change of its layers.
    var patience: Duration
    var layers: [DescribedLayer]
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
  private static let longestPatience = Duration.seconds(60)
  /// A server spends at most one part in so many of its time on looking at the layers of a database.
  private static let share = 50
  /// Documents of other bases than the usual are not kept without end.
  private static let mostKept = 2_000

  convenience init(
    _ store: GeoPackageStore, _ options: ServerDocuments.Options, room: SpillRoom = SpillRoom(),
    uptime: @escaping @Sendable () -> Duration
  ) {
    let file = ServedGeoPackage(store)
    self.init(.file(file), file, options, room, uptime)
  }

  convenience init(
    _ database: any ServedDatabase, _ options: ServerDocuments.Options,
    room: SpillRoom = SpillRoom(), uptime: @escaping @Sendable () -> Duration
  ) {
    self.init(.database(database), database, options, room, uptime)
  }

  private init(
    _ kind: Kind, _ content: any ServedStore, _ options: ServerDocuments.Options,
    _ room: SpillRoom, _ uptime: @escaping @Sendable () -> Duration
  ) {
    (self.kind, self.content, self.room) = (kind, content, room)
    (self.options, self.uptime) = (options, uptime)
    run = String(UInt64.random(in: .min ... .max), radix: 36)
  }

  /// The file; `nil` where a database is served.
  var ownFile: ServedGeoPackage? { if case .file(let file) = kind { file } else { nil } }

  /// The database; `nil` where a file is served.
  var database: (any ServedDatabase)? {
    if case .database(let database) = kind { database } else { nil }
  }

  /// The GeoPackage that is served.
  ///
  /// - Throws: `.notFound` where it is a database.
  var store: GeoPackageStore {
    get throws(FieldpackError) {
      guard let ownFile else {
        throw FieldpackError(
          .notFound, "this server serves a database, which has nothing of that kind")
      }
      return ownFile.store
    }
  }

  /// What events are read from.
  func followed(_ logger: Logger) -> any FollowedStore {
    switch kind {
    case .file(let file): FollowedGeoPackage(file.store)
    case .database(let database): FollowedDatabase(database, logger: logger)
    }
  }

  /// The entity tag of what was read after a version or a counter of the store was asked for. It is a
  /// weak one: the moment in an answer is another one each time.
  func tag(of counter: String, _ format: String) -> String {
    "W/\"\(run)-\(counter)-\(format)\""
  }

  // MARK: Layers

  /// What is known of the layers, where it need not be read again.
  func known() -> ServerDocuments? {
    state.withLock { state in
      guard let known = state.known else { return nil }
      guard uptime() - known.read > known.patience else { return known.documents }
      guard let number = ownFile?.commitNumber, number == known.version else { return nil }
      state.known?.read = uptime()
      return known.documents
    }
  }

  /// Reads the layers.
  func documents() async throws(FieldpackError) -> ServerDocuments {
    if let known = known() { return known }
    let begun = uptime()
    let number = ownFile.map { $0.commitNumber ?? 0 }
    let layers = try await content.describedLayers()
    let pyramids = try await ownFile?.store.tilePyramids() ?? []
    let read = uptime()
    let patience =
      number == nil
      ? min(Self.longestPatience, max(Self.patience, (read - begun) * Self.share)) : Self.patience
    let same = state.withLock { state -> ServerDocuments? in
      guard number == nil, let known = state.known, known.layers == layers else { return nil }
      state.known?.read = read
      state.known?.patience = patience
      return known.documents
    }
    if let same { return same }
    var documents = ServerDocuments(
      layers.map { ServedLayer($0) }, pyramids: pyramids.compactMap { ServedPyramid($0) }, options)
    return state.withLock { state in
      // Another one has read them later, and was faster.
      if number == nil, let known = state.known, known.begun > begun { return known.documents }
      state.readings += 1
      documents.version = number ?? state.readings
      state.known = Known(
        version: documents.version, begun: begun, read: read, patience: patience, layers: layers,
        documents: documents)
      return documents
    }
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
    "\"" + String(FNV1a.hash(of: bytes), radix: 36) + "\""
  }

  /// Whether the file has layers about people.
  var hasBioLayers: Bool {
    state.withLock { $0.known?.documents.layers.contains { AccessRight.isBio($0.id) } } ?? true
  }

  /// The condition of a box. Features without geometry meet every box (OGC 17-069r4,
  /// /req/core/fc-bbox-response C), and an R-tree does not have them.
  ///
  /// - Parameter version: what ``ServedStore/version(of:)`` has given.
  func condition(
    of box: Filter?, in layer: ServedLayer, version: String?
  ) async throws(FieldpackError) -> Filter? {
    guard let box else { return nil }
    let bare = try await content.featuresWithoutGeometry(of: layer.id, version)
    return bare.map { box || $0 } ?? box
  }

  /// Closes connections that nobody uses, and removes the tiles of layers that have changed since, for which
  /// nobody may ask for a long time.
  func giveBackMemory() async {
    await content.closeUnusedConnections()
    for layers in tiles.layers {
      let turn = tiles.takeTurn()
      if let counter = try? await content.counter(of: layers) {
        tiles.forget(layers, before: counter, in: turn)
      }
    }
  }

  func close() { ownFile?.close() }
}
