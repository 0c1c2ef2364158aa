import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Tile pyramids: `gpkg_tile_matrix_set`, `gpkg_tile_matrix` and the tables of tiles.
struct TileTables {
  let file: GeoPackageSession

  // MARK: Reading

  func pyramids() throws(FieldpackError) -> [TilePyramid] {
    let rows = try file.rows(
      of: [.tableName, .dataType, .identifier, .description, .srsID] + GPKGContents.extent,
      " WHERE lower(data_type) IN ('tiles', '2d-gridded-coverage') ORDER BY rowid")
    guard !rows.isEmpty else { return [] }
    let sets = try self.sets()
    let matrices = try self.matrices()
    let catalogue = try file.catalogue()
    let tables = Set(
      try file.rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        .compactMap { $0[0].textValue.map { SQLName($0) } })
    var pyramids: [TilePyramid] = []
    for row in rows {
      guard let name = row[.tableName].textValue, tables.contains(SQLName(name)) else { continue }
      let set = sets[SQLName(name)]
      let srs = catalogue.system(set?.srsID ?? row[.srsID].integerValue)?.srs
      var pyramid = TilePyramid(
        LayerID(name), srs: srs ?? .undefinedCartesian, bounds: set?.bounds ?? .empty,
        matrices: matrices[SQLName(name)] ?? [], title: row[.identifier].textValue,
        description: row[.description].textValue)
      let kind = row[.dataType].textValue?.lowercased()
      pyramid.kind = kind.flatMap { TilePyramid.Kind(rawValue: $0) } ?? .tiles
      pyramid.envelope = Envelope(stated: row[GPKGContents.extent].map(\.realValue))
      if set == nil { pyramid.notes.append("it has no row in gpkg_tile_matrix_set") }
      if srs == nil { pyramid.notes.append("its SRS is not in gpkg_spatial_ref_sys") }
      if pyramid.matrices.isEmpty { pyramid.notes.append("it has no row in gpkg_tile_matrix") }
      pyramids.append(pyramid)
    }
    return pyramids
  }

  /// The pyramid of that name.
  func pyramid(_ name: LayerID) throws(FieldpackError) -> TilePyramid {
    let all = try pyramids()
    if let found = all.first(where: { SQLName($0.name.rawValue) == SQLName(name.rawValue) }) {
      return found
    }
    let known = all.isEmpty ? "none" : all.map(\.name.rawValue).joined(separator: ", ")
    throw FieldpackError(
      .notFound, "store '\(file.store)' has no tiles '\(name)' (it has: \(known))",
      location: .init(store: file.store, layer: name))
  }

  private func sets() throws(FieldpackError) -> [SQLName: (srsID: Int64?, bounds: Envelope)] {
    guard try file.hasTable(GPKGTileMatrixSet.table) else { return [:] }
    var found: [SQLName: (srsID: Int64?, bounds: Envelope)] = [:]
    for row in try file.rows(of: GPKGTileMatrixSet.columns) {
      guard let name = row[.tableName].textValue else { continue }
      let bounds = Envelope(stated: row[GPKGTileMatrixSet.bounds].map(\.realValue)) ?? .empty
      found[SQLName(name)] = (row[.srsID].integerValue, bounds)
    }
    return found
  }

  /// The matrices by table. Rows whose numbers make no grid are skipped.
  private func matrices() throws(FieldpackError) -> [SQLName: [TileMatrix]] {
    guard try file.hasTable(GPKGTileMatrix.table) else { return [:] }
    var found: [SQLName: [TileMatrix]] = [:]
    for row in try file.rows(of: GPKGTileMatrix.columns, " ORDER BY zoom_level") {
      let whole = row[[.zoom] + GPKGTileMatrix.counts].compactMap(\.integerValue)
        .compactMap { Int32(exactly: $0) }.map(Int.init)
      let sizes = row[GPKGTileMatrix.pixels].compactMap(\.realValue)
      guard let name = row[.tableName].textValue, whole.count == 5, sizes.count == 2,
        whole[1...].allSatisfy({ $0 > 0 }), sizes.allSatisfy({ $0 > 0 && $0.isFinite })
      else { continue }
      found[SQLName(name), default: []].append(
        TileMatrix(
          zoom: whole[0], width: whole[1], height: whole[2], tileWidth: whole[3],
          tileHeight: whole[4], pixelWidth: sizes[0], pixelHeight: sizes[1]))
    }
    return found
  }

  private static let addressCondition = "zoom_level = ? AND tile_column = ? AND tile_row = ?"

  private static func values(_ address: TileAddress) -> [SQLiteValue] {
    [address.zoom, address.column, address.row].map { .integer(Int64($0)) }
  }

  /// Lends a tile's bytes with their media type; `nil`, without a call, where there is no such
  /// tile.
  func withTile<R>(
    _ address: TileAddress, of name: LayerID,
    _ body: (RawSpan, String?) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R? {
    guard let table = try tableName(name) else { throw try missing(name) }
    let statement = try file.prepare(
      "SELECT tile_data FROM \(quoted(table)) WHERE \(Self.addressCondition)",
      Self.values(address), in: name)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return try statement.row.withBytes(0) { (bytes) throws(FieldpackError) in
      try body(bytes, bytes.withUnsafeBytes { MediaType($0)?.rawValue })
    }
  }

  /// The addresses of the existing tiles, row by row from the top, at one zoom level or at all.
  func addresses(of name: LayerID, zoom: Int?) throws(FieldpackError) -> [TileAddress] {
    guard let table = try tableName(name) else { throw try missing(name) }
    let condition = zoom == nil ? "" : " WHERE zoom_level = ?"
    return try file.rows(
      "SELECT zoom_level, tile_column, tile_row FROM \(quoted(table))\(condition) "
        + "ORDER BY zoom_level, tile_row, tile_column",
      zoom.map { [.integer(Int64($0))] } ?? []
    ).compactMap { row in
      let numbers = row.compactMap(\.integerValue).compactMap { Int(exactly: $0) }
      guard numbers.count == 3 else { return nil }
      return TileAddress(zoom: numbers[0], column: numbers[1], row: numbers[2])
    }
  }

  /// Whether a zoom level has tiles.
  func hasTiles(of name: LayerID, zoom: Int) throws(FieldpackError) -> Bool {
    guard let table = try tableName(name) else { throw try missing(name) }
    return try file.integer(
      "SELECT 1 FROM \(quoted(table)) WHERE zoom_level = ? LIMIT 1", [.integer(Int64(zoom))]) != nil
  }

  /// The addresses of the existing tiles in a part of a zoom level, row by row; `limit` at most.
  func addresses(
    of name: LayerID, zoom: Int, columns: ClosedRange<Int>, rows: ClosedRange<Int>, limit: Int
  ) throws(FieldpackError) -> [TileAddress] {
    guard let table = try tableName(name) else { throw try missing(name) }
    return try file.rows(
      "SELECT tile_column, tile_row FROM \(quoted(table)) WHERE zoom_level = ? "
        + "AND tile_column BETWEEN ? AND ? AND tile_row BETWEEN ? AND ? "
        + "ORDER BY tile_row, tile_column LIMIT ?",
      [zoom, columns.lowerBound, columns.upperBound, rows.lowerBound, rows.upperBound, limit]
        .map { .integer(Int64($0)) }
    ).compactMap { row in
      guard let column = row[0].integerValue, let line = row[1].integerValue else { return nil }
      return TileAddress(zoom: zoom, column: Int(column), row: Int(line))
    }
  }

  private func tableName(_ name: LayerID) throws(FieldpackError) -> String? {
    let sql =
      "SELECT m.name FROM gpkg_contents c JOIN sqlite_master m "
      + "ON lower(m.name) = lower(c.table_name) AND m.type IN ('table', 'view') "
      + "WHERE lower(c.table_name) = lower(?) "
      + "AND lower(c.data_type) IN ('tiles', '2d-gridded-coverage')"
    return try file.rows(sql, [.text(name.rawValue)]).first?.first?.textValue
  }

  private func missing(_ name: LayerID) throws(FieldpackError) -> FieldpackError {
    do throws(FieldpackError) {
      _ = try pyramid(name)
      return file.missingLayer(name, in: try file.catalogue())
    } catch { return error }
  }

  // MARK: Creating

  func create(_ pyramid: TilePyramid) throws(FieldpackError) {
    try LayerCreation(file: file).checkName(pyramid.name)
    try check(pyramid)
    let name = pyramid.name.rawValue
    guard try !file.hasTable(name) else {
      throw FieldpackError(
        .cannotCreate, "there is a table '\(name)' already",
        location: .init(store: file.store, layer: pyramid.name))
    }
    try file.ensure(GPKGTileMatrixSet.self)
    try file.ensure(GPKGTileMatrix.self)
    let srsID = try ReferenceSystems(file: file).ensure(pyramid.srs)
    let columns = GPKGTiles.columns.map(\.rawValue).sqlList
    try file.execute(
      "CREATE TABLE \(quoted(name)) (\(columns), UNIQUE (zoom_level, tile_column, tile_row))")
    try ContentsTable(file: file).insert(
      name, as: "tiles", title: pyramid.title, description: pyramid.description, srsID: srsID,
      extent: pyramid.envelope ?? pyramid.bounds)
    try file.execute(
      GPKGTileMatrixSet.insertion(),
      [.text(name), .integer(srsID)] + ContentsTable.bounds(pyramid.bounds))
    for matrix in pyramid.matrices { try insert(matrix, name) }
    if !pyramid.halvesPixels {
      try LayerCreation(file: file).registerExtension(
        "gpkg_zoom_other", table: name, column: "tile_data", scope: "read-write")
    }
  }

  private func insert(_ matrix: TileMatrix, _ name: String) throws(FieldpackError) {
    let counts = [
      matrix.zoom, matrix.width, matrix.height, matrix.tileWidth, matrix.tileHeight,
    ]
    try file.execute(
      GPKGTileMatrix.insertion(),
      [.text(name)] + counts.map { .integer(Int64($0)) }
        + [.real(matrix.pixelWidth), .real(matrix.pixelHeight)])
  }

  private func check(_ pyramid: TilePyramid) throws(FieldpackError) {
    guard let problem = pyramid.problem else { return }
    throw FieldpackError(
      .invalidArgument, "the tiles '\(pyramid.name)' cannot be made: \(problem)",
      location: .init(store: file.store, layer: pyramid.name))
  }

  // MARK: Tiles

  /// Stores a tile. It replaces one that exists and keeps its id.
  func put(
    _ content: RawSpan, at address: TileAddress, of pyramid: TilePyramid
  ) throws(FieldpackError) {
    let location = KeyTuple.Partial(store: file.store, layer: pyramid.name)
    guard pyramid.matrix(zoom: address.zoom)?.contains(address) == true else {
      throw FieldpackError(
        .invalidArgument, "there is no place \(address) (zoom/column/row) in '\(pyramid.name)'",
        location: location)
    }
    let type = content.withUnsafeBytes { MediaType($0) }
    guard let type, [.png, .jpeg, .webp].contains(type) else {
      throw FieldpackError(
        .invalidData,
        "tile \(address) of '\(pyramid.name)' is \(type?.rawValue ?? "no picture"), not PNG, JPEG or WebP",
        location: location)
    }
    if type == .webp {
      try LayerCreation(file: file).registerExtension(
        "gpkg_webp", table: pyramid.name.rawValue, column: "tile_data", scope: "read-write")
    }
    let table = quoted(pyramid.name.rawValue)
    let count = try store(
      content, address,
      "UPDATE \(table) SET tile_data = ?4 WHERE zoom_level = ?1 "
        + "AND tile_column = ?2 AND tile_row = ?3")
    guard count == 0 else { return }
    let stored = try store(
      content, address,
      "INSERT INTO \(table) (zoom_level, tile_column, tile_row, tile_data) VALUES (?1, ?2, ?3, ?4)")
    guard stored == 1 else { throw file.ignored(nil, in: nil, table: pyramid.name.rawValue) }
  }

  private func store(
    _ content: RawSpan, _ address: TileAddress, _ sql: String
  ) throws(FieldpackError) -> Int {
    try file.prepare(sql, Self.values(address)).run(lending: content, at: 4)
    return file.connection.changes
  }

  func delete(
    _ address: TileAddress, of pyramid: TilePyramid
  ) throws(FieldpackError) -> Bool {
    let name = pyramid.name.rawValue
    let table = quoted(name)
    let id = try file.integer(
      "SELECT rowid FROM \(table) WHERE \(Self.addressCondition)", Self.values(address))
    guard let id else { return false }
    try RowLeftovers(file: file).deleting(id, of: name, id: "rowid") {
      () throws(FieldpackError) in
      try file.execute("DELETE FROM \(table) WHERE rowid = ?", [.integer(id)])
    }
    return true
  }

  func writable(_ name: LayerID) throws(FieldpackError) -> TilePyramid {
    let pyramid = try pyramid(name)
    guard pyramid.kind == .tiles else {
      throw FieldpackError(
        .unsupported, "'\(name)' is a gridded coverage, whose tiles are only read",
        location: .init(store: file.store, layer: name))
    }
    return pyramid
  }

  // MARK: Removing

  /// Removes a pyramid of any kind with everything that belongs to it.
  func remove(_ name: LayerID) throws(FieldpackError) {
    let table = try pyramid(name).name.rawValue
    try file.execute("PRAGMA defer_foreign_keys = ON")
    try LayerChange(file: file).forget(table)
    let naming = [
      (GPKGTileMatrixSet.table, "table_name"), (GPKGTileMatrix.table, "table_name"),
      (GPKGCoverageAncillary.table, GPKGCoverageAncillary.tableName.sql),
      (GPKGTileAncillary.table, GPKGTileAncillary.tableName.sql),
      (GPKGContents.table, "table_name"),
    ]
    for (naming, column) in naming where try file.hasTable(naming) {
      try file.execute("DELETE FROM \(naming) WHERE lower(\(column)) = lower(?)", [.text(table)])
    }
    try file.drop(table)
  }
}

extension TilePyramid {
  /// Whether each zoom level has half the pixel size of the one before. Across a gap any size is
  /// allowed.
  fileprivate var halvesPixels: Bool {
    zip(matrices, matrices.dropFirst()).allSatisfy { above, below in
      guard below.zoom == above.zoom + 1 else { return true }
      return abs(above.pixelWidth / below.pixelWidth - 2) < 1e-6
        && abs(above.pixelHeight / below.pixelHeight - 2) < 1e-6
    }
  }

  /// Why a file must not hold the pyramid; `nil` where it may.
  fileprivate var problem: String? {
    guard kind == .tiles else { return "gridded coverages are only read" }
    guard !matrices.isEmpty else { return "there is no zoom level" }
    guard bounds.minX < bounds.maxX, bounds.minY < bounds.maxY,
      [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY].allSatisfy(\.isFinite)
    else { return "the bounds are empty" }
    for (above, below) in zip(matrices, matrices.dropFirst()) {
      guard above.zoom < below.zoom, above.pixelWidth > below.pixelWidth,
        above.pixelHeight > below.pixelHeight
      else { return "pixels do not get smaller from zoom \(above.zoom) to zoom \(below.zoom)" }
    }
    for matrix in matrices {
      let counts = [matrix.width, matrix.height, matrix.tileWidth, matrix.tileHeight]
      guard matrix.zoom >= 0 else { return "zoom \(matrix.zoom) is below 0" }
      guard counts.allSatisfy({ $0 > 0 }) else { return "zoom \(matrix.zoom) has no tiles" }
      guard counts.allSatisfy({ $0 <= Int(Int32.max) }) else {
        return "zoom \(matrix.zoom) has more tiles or pixels than 32 bits count"
      }
      let (wide, high) = (bounds.maxX - bounds.minX, bounds.maxY - bounds.minY)
      guard abs(Double(matrix.width) * matrix.tileUnitsWide / wide - 1) < 1e-6,
        abs(Double(matrix.height) * matrix.tileUnitsHigh / high - 1) < 1e-6
      else { return "the tiles of zoom \(matrix.zoom) do not cover the bounds" }
    }
    return nil
  }
}
