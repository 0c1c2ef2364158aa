package import FieldpackCore
package import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// Writes a file of MBTiles 1.3, which appears under its name when it is whole.
package final class MBTilesWriter: TileArchiveWriter {
  private let pending: PendingFile
  private let connection: Connection
  private let path: String
  private var extents: [Int: TileExtent] = [:]
  private var formats: [MediaType: Int] = [:]

  /// MBTiles' own, "MPBX".
  private static let applicationID = 0x4D50_4258

  package init(_ path: String, overwrite: Bool) throws(FieldpackError) {
    self.path = path
    pending = try PendingFile(target: path, overwrite: overwrite)
    do throws(SQLiteError) {
      connection = try Connection(path: pending.path, mode: .unshared, profile: .bulk)
      _ = try connection.scalar("PRAGMA journal_mode = OFF")
      _ = try connection.scalar("PRAGMA synchronous = OFF")
      try connection.execute("PRAGMA application_id = \(Self.applicationID)")
      try connection.execute("BEGIN")
      try connection.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
      try connection.execute(
        "CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, "
          + "tile_data BLOB)")
    } catch { throw FieldpackError(error, path: path) }
  }

  package func put(_ tile: RawSpan, at address: TileAddress) throws(FieldpackError) {
    do throws(SQLiteError) {
      let statement = try connection.prepare(
        "INSERT INTO tiles (zoom_level, tile_column, tile_row, tile_data) VALUES (?1, ?2, ?3, ?4)")
      defer { statement.reset() }
      try statement.bind(address.zoom, at: 1)
      try statement.bind(address.column, at: 2)
      try statement.bind((1 << address.zoom) - 1 - address.row, at: 3)
      try statement.run(lending: tile, at: 4)
    } catch { throw FieldpackError(error, path: path) }
    extents[address.zoom, default: TileExtent(address)].extend(address)
    if let type = tile.withUnsafeBytes({ MediaType($0) }) { formats[type, default: 0] += 1 }
  }

  package func commit(_ pyramid: TilePyramid) throws(FieldpackError) -> [Note] {
    let common = formats.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key
    do throws(SQLiteError) {
      for (name, value) in metadata(pyramid, common) {
        try connection.execute("INSERT INTO metadata VALUES (?, ?)", .text(name), .text(value))
      }
      try connection.execute(
        "CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)")
      try connection.execute("COMMIT")
      connection.clearStatementCache()
      _ = try connection.scalar("PRAGMA journal_mode = DELETE")
    } catch { throw FieldpackError(error, path: path) }
    try pending.commit()
    guard let common, formats.count > 1 else { return [] }
    return [
      Note(
        "\(path) names \(common.name) as the format of its tiles, and also has tiles of "
          + formats.keys.filter { $0 != common }.map(\.name).sorted().joined(separator: ", "))
    ]
  }

  private func metadata(
    _ pyramid: TilePyramid, _ format: MediaType?
  ) -> [(String, String)] {
    let formats: [MediaType: String] = [.png: "png", .jpeg: "jpg", .webp: "webp"]
    var rows = [
      ("name", pyramid.title ?? pyramid.name.rawValue),
      ("format", format.flatMap { formats[$0] } ?? "png"), ("type", "overlay"), ("version", "1"),
    ]
    if let text = pyramid.description, !text.isEmpty { rows.append(("description", text)) }
    guard let low = extents.keys.min(), let high = extents.keys.max(),
      let area = extents[high]?.area(zoom: high)
    else { return rows }
    let degrees = WebMercator.degrees(area)
    let sides = [degrees.minX, degrees.minY, degrees.maxX, degrees.maxY]
    rows.append(
      ("bounds", sides.map { Decimals.short($0, digits: 6) }.joined(separator: ",")))
    return rows + [("minzoom", "\(low)"), ("maxzoom", "\(high)")]
  }
}

/// Takes tiles of web maps, whose rows count from the top, and gives them a name when all are there.
package protocol TileArchiveWriter {
  func put(_ tile: RawSpan, at address: TileAddress) throws(FieldpackError)
  /// Finishes with what is told of the pyramid, and says what the user should know.
  func commit(_ pyramid: TilePyramid) throws(FieldpackError) -> [Note]
}
