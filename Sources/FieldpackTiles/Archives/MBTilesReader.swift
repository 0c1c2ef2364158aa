package import FieldpackCore
package import FieldpackGeoPackage
import FieldpackSQLite

/// Reads a file of MBTiles 1.0 to 1.3, whose rows count from the bottom.
///
/// Source: https://github.com/mapbox/mbtiles-spec
package final class MBTilesReader: TileArchive {
  private let connection: Connection
  private let path: String
  package let title: String?
  package let description: String?
  package let count: Int
  package let extents: [Int: TileExtent]
  package let notes: [Note] = []
  package let interrupt: (@Sendable () -> Void)?

  /// Whether the file is MBTiles: a database of SQLite with its tables or views.
  package static func isMBTiles(_ path: String) -> Bool {
    guard let head = try? ByteInput(path: path).head(16),
      head == Array("SQLite format 3\0".utf8),
      let connection = try? Connection(path: path, mode: .readOnly),
      (try? connection.scalar("PRAGMA application_id"))
        != .integer(GeoPackageVersion.applicationID)
    else { return false }
    let sql =
      "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view') "
      + "AND lower(name) IN ('tiles', 'metadata')"
    return (try? connection.scalar(sql)) == .integer(2)
  }

  /// - Parameter opened: called with what stops the work from another thread, before the work begins.
  /// - Throws: `.unsupported` for vector tiles, `.invalidData` for addresses that the grid does not
  ///   have.
  package init(
    _ path: String, opened: (@escaping @Sendable () -> Void) -> Void = { _ in }
  ) throws(FieldpackError) {
    self.path = path
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: .readOnly)
    } catch { throw FieldpackError(error, path: path) }
    let handle = connection.interruptHandle
    interrupt = { handle.interrupt() }
    opened { handle.interrupt() }
    let metadata = try Self.rows(connection, path, "SELECT name, value FROM metadata")
    var values: [String: String] = [:]
    for row in metadata {
      guard let name = row[0].textValue, let value = row[1].textValue else { continue }
      values[name.lowercased()] = value
    }
    title = values["name"]
    let texts = [values["description"], values["attribution"]].compactMap { $0 }
      .filter { !$0.isEmpty }
    description = texts.isEmpty ? nil : texts.joined(separator: "\n")
    if let format = values["format"], ["pbf", "mvt"].contains(format.lowercased()) {
      throw Self.vectors(path)
    }
    (count, extents) = try Self.extents(connection, path)
  }

  private static func vectors(_ path: String) -> FieldpackError {
    FieldpackError(
      .unsupported,
      "\(path) holds vector tiles (pbf), which are not imported, only pictures: PNG, JPEG, WebP",
      position: FilePosition(file: path))
  }

  private static func extents(
    _ connection: Connection, _ path: String
  ) throws(FieldpackError) -> (Int, [Int: TileExtent]) {
    var count = 0
    var extents: [Int: TileExtent] = [:]
    let rows = try rows(
      connection, path,
      "SELECT zoom_level, min(tile_column), min(tile_row), max(tile_column), max(tile_row), "
        + "count(*) FROM tiles GROUP BY zoom_level")
    for row in rows {
      let numbers = row.compactMap(\.integerValue).compactMap { Int(exactly: $0) }
      guard numbers.count == 6, let low = address(numbers[0], numbers[1], numbers[2]),
        let high = address(numbers[0], numbers[3], numbers[4])
      else {
        let zoom = row[0].integerValue.map { " of zoom \($0)" } ?? ""
        throw FieldpackError(
          .invalidData, "\(path) has tiles\(zoom) whose addresses lie outside of the grid",
          position: FilePosition(file: path))
      }
      count += numbers[5]
      var extent = TileExtent(low)
      extent.extend(high)
      extents[numbers[0]] = extent
    }
    return (count, extents)
  }

  /// The address with its row from the top; `nil` where the grid does not have it.
  private static func address(_ zoom: Int, _ column: Int, _ row: Int) -> TileAddress? {
    guard WebMercator.zooms.contains(zoom), 0..<(1 << zoom) ~= column, 0..<(1 << zoom) ~= row
    else { return nil }
    return TileAddress(zoom: zoom, column: column, row: (1 << zoom) - 1 - row)
  }

  private static func rows(
    _ connection: Connection, _ path: String, _ sql: String
  ) throws(FieldpackError) -> [[SQLiteValue]] {
    do throws(SQLiteError) {
      let statement = try connection.prepare(sql, caching: false)
      var rows: [[SQLiteValue]] = []
      while try statement.step() {
        rows.append((0..<statement.columnCount).map { statement.value($0) })
      }
      return rows
    } catch { throw FieldpackError(error, path: path) }
  }

  package func readAll(
    _ body: (TileAddress, RawSpan) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let sql = "SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles"
    let statement: Statement
    do throws(SQLiteError) {
      statement = try connection.prepare(sql, caching: false)
    } catch { throw FieldpackError(error, path: path) }
    while try step(statement) {
      let numbers = (0..<3).compactMap { Int(exactly: statement.integer($0)) }
      // The file may have changed meanwhile.
      guard numbers.count == 3, let address = Self.address(numbers[0], numbers[1], numbers[2])
      else { continue }
      try statement.withBytes(3) { (bytes) throws(FieldpackError) in
        // Gzip packs vector tiles.
        if bytes.withUnsafeBytes({ $0.starts(with: [0x1F, 0x8B]) }) { throw Self.vectors(path) }
        try body(address, bytes)
      }
    }
  }

  private func step(_ statement: Statement) throws(FieldpackError) -> Bool {
    do throws(SQLiteError) { return try statement.step() } catch {
      throw FieldpackError(error, path: path)
    }
  }
}
