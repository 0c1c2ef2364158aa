import FieldpackCore
import FieldpackGeoPackage

/// The tiles that a store has fetched, in a GeoPackage: a pyramid with the tiles, and a table that tells
/// when each was fetched.
actor TileCache {
  /// What is known of a tile.
  struct Entry: Hashable, Sendable {
    /// The entity tag of the answer.
    var tag: String?
    var fetched: Instant
    /// In seconds.
    var maximumAge: Int
    /// `nil` where the server has none.
    var tile: Tile?

    func isFresh(at now: Instant) -> Bool {
      let age = now.milliseconds - fetched.milliseconds
      return age >= 0 && age < Int64(maximumAge) * 1000
    }
  }

  /// Other programs count the pixels of a pyramid in 32 bits.
  static let zooms = 0...22
  /// How many bytes are kept where the config does not say.
  static let standardRoom = 256 << 20

  /// A year, in seconds; the file may say anything.
  private static let longestAge: Int64 = 365 * 86_400

  private static let tiles: LayerID = "tiles"
  private static let fetches: LayerID = "fetches"
  /// What a row takes beside the tile, in bytes.
  private static let rowSize = 100

  private let path: String
  private let store: StoreID
  /// Tiles of other addresses do not count.
  private let source: String
  private let room: Int
  private let logger: Logger
  private var file: GeoPackageStore?
  private var isClosed = false
  /// How many bytes the tiles have; `nil` before they are counted.
  private var size: Int?

  init(path: String, store: StoreID, source: String, room: Int, logger: Logger) {
    self.path = path
    self.store = store
    self.source = source
    self.room = room
    self.logger = logger
  }

  // MARK: The file

  private func opened(creating: Bool) async throws(FieldpackError) -> GeoPackageStore? {
    if let file { return file }
    if !FileSystem.exists(path) {
      guard creating else { return nil }
      try create()
    }
    let opened = try await GeoPackageStore(path: path, id: store, usesWAL: false, logger: logger)
    guard file == nil, !isClosed else {
      await opened.close()
      guard let file else {
        throw FieldpackError(
          .unavailable, "store '\(store)' is closed", location: .init(store: store))
      }
      return file
    }
    file = opened
    return opened
  }

  private func create() throws(FieldpackError) {
    let folder = FileSystem.folder(of: path)
    do throws(FieldpackError) { try FileSystem.makeFolder(folder) } catch {
      throw FieldpackError(
        .cannotCreate, "cannot create the folder \(folder)", underlying: error)
    }
    do throws(FieldpackError) {
      let writer = try GeoPackageBulkWriter(creating: path, store: store, logger: logger)
      var pyramid = TilePyramid.webMercator(Self.tiles, zooms: Self.zooms)
      pyramid.description = "Tiles that were fetched from a server"
      try writer.createTilePyramid(pyramid)
      try writer.create(Self.schema)
      _ = try writer.commit()
    } catch {
      // Another program may have made it meanwhile.
      guard error.code == .cannotCreate, FileSystem.exists(path) else {
        throw error
      }
    }
  }

  private static let schema = Schema(
    layer: fetches,
    columns: [
      ColumnDefinition("zoom", .integer, isNullable: false),
      ColumnDefinition("column", .integer, isNullable: false),
      ColumnDefinition("row", .integer, isNullable: false),
      ColumnDefinition("source", .text(), isNullable: false),
      ColumnDefinition("tag", .text()),
      ColumnDefinition("fetched", .dateTime, isNullable: false),
      ColumnDefinition("max_age_s", .integer, isNullable: false),
      ColumnDefinition("byte_count", .integer, isNullable: false),
    ])

  /// The row of a tile: the tiles of each zoom level row by row, after those of the levels above.
  private static func row(of address: TileAddress) -> FeatureID {
    let before = ((1 << (2 * address.zoom)) - 1) / 3
    return .integer(Int64(1 + before + address.row << address.zoom + address.column))
  }

  func close() async {
    isClosed = true
    await file?.close()
    file = nil
  }

  // MARK: Tiles

  func entry(at address: TileAddress) async throws(FieldpackError) -> Entry? {
    guard let file = try await opened(creating: false) else { return nil }
    let source = source
    return try await file.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      let row = try snapshot.feature(Self.row(of: address), in: Self.fetches)?.attributes
      guard case .text(source)? = row?["source"], case .dateTime(let fetched)? = row?["fetched"],
        case .integer(let age)? = row?["max_age_s"], case .integer(let count)? = row?["byte_count"]
      else { return nil }
      var entry = Entry(fetched: fetched, maximumAge: Int(min(max(0, age), Self.longestAge)))
      if case .text(let tag)? = row?["tag"] { entry.tag = tag }
      guard count > 0 else { return entry }
      entry.tile = try snapshot.withTile(at: address, of: Self.tiles) {
        (bytes, type) throws(FieldpackError) in
        Tile(address: address, mediaType: type, bytes: bytes.withUnsafeBytes { Array($0) })
      }
      return entry.tile == nil ? nil : entry
    }
  }

  /// Keeps what is known of a tile. The oldest go where there is no room.
  ///
  /// - Parameter isSame: whether the tile itself is kept already.
  func put(
    _ entry: Entry, at address: TileAddress, isSame: Bool
  ) async throws(FieldpackError) {
    let count = entry.tile?.bytes.count ?? 0
    guard count + Self.rowSize <= room, let file = try await opened(creating: true) else { return }
    let before = if let size { size } else { try await Self.size(of: file) }
    let (id, source) = (Self.row(of: address), source)
    let grown = try await file.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      let old = try writer.feature(id, in: Self.fetches)?.attributes["byte_count"]
      if !isSame {
        if let tile = entry.tile {
          try writer.putTile(tile.bytes, at: address, of: Self.tiles)
        } else {
          try writer.deleteTile(at: address, of: Self.tiles)
        }
      }
      try writer.upsert(
        Feature(
          id: id,
          attributes: [
            "zoom": address.zoom, "column": address.column, "row": address.row, "source": source,
            "tag": entry.tag, "fetched": entry.fetched, "max_age_s": entry.maximumAge,
            "byte_count": count,
          ]), in: Self.fetches)
      return count + Self.rowSize - (old.map { Self.size($0) } ?? 0)
    }
    size = (size ?? before) + grown
    while let size, size > room, try await removeOldest(size - room, from: file) {}
  }

  // MARK: Room

  private static func size(_ byteCount: Value?) -> Int {
    guard case .integer(let count)? = byteCount else { return rowSize }
    return Int(min(max(0, count), 1 << 30)) + rowSize
  }

  private static func size(of file: GeoPackageStore) async throws(FieldpackError) -> Int {
    var size = 0
    let query = Query(fetches).select("byte_count")
    for try await batch in try await file.query(query) {
      for index in 0..<batch.count {
        size += Self.size(try batch.feature(at: index).attributes["byte_count"])
      }
    }
    return size
  }

  /// Removes the oldest tiles, until there are so many bytes more or a hundred are gone.
  ///
  /// - Returns: whether there were any.
  private func removeOldest(
    _ count: Int, from file: GeoPackageStore
  ) async throws(FieldpackError) -> Bool {
    var removed: [(id: FeatureID, address: TileAddress)] = []
    var freed = 0
    let oldest = Query(Self.fetches).order(by: [Order("fetched")]).limit(100)
    for try await batch in try await file.query(oldest) {
      for index in 0..<batch.count where freed < count {
        let feature = try batch.feature(at: index)
        let row = feature.attributes
        guard let id = feature.id, case .integer(let zoom)? = row["zoom"],
          case .integer(let column)? = row["column"], case .integer(let line)? = row["row"]
        else { continue }
        removed.append((id, TileAddress(zoom: Int(zoom), column: Int(column), row: Int(line))))
        freed += Self.size(row["byte_count"])
      }
    }
    guard !removed.isEmpty else { return false }
    try await file.write { [removed] (writer: GeoPackageWriter) throws(FieldpackError) in
      for (id, address) in removed {
        try writer.deleteTile(at: address, of: Self.tiles)
        try writer.delete(id, in: Self.fetches)
      }
    }
    size = size.map { $0 - freed }
    return true
  }
}
