import FieldpackCore
import FieldpackGeometry

/// How a layer is divided now.
package struct ShardLayout: Hashable, Sendable {
  package var key: ShardKey
  /// In the order of their ranges.
  package var parts: [ShardPart]
  /// The schema of the layer, and of all parts.
  package var schema: String
  /// The servers that do not answer and are to be passed over.
  package var absent: Set<String> = []

  package init(key: ShardKey, parts: [ShardPart], schema: String) {
    (self.key, self.parts, self.schema) = (key, parts, schema)
  }

  /// The servers of the parts in order, without the store's own.
  package var servers: [String] {
    var names: [String] = []
    for case let name? in parts.map(\.server) where !names.contains(name) { names.append(name) }
    return names
  }

  package var plan: ShardPlan {
    let own: [String?] = [nil]
    return ShardPlan(
      parts: parts, servers: own + servers.map { $0 },
      generation: parts.map { Self.generation(of: $0.table) }.max() ?? 0)
  }

  /// The number in the name of a part's table.
  static func generation(of table: String) -> Int {
    let pieces = table.split(separator: "_")
    guard pieces.count >= 3, pieces[pieces.count - 1].first == "p",
      pieces[pieces.count - 2].first == "g"
    else { return 0 }
    return Int(pieces[pieces.count - 2].dropFirst()) ?? 0
  }

  /// The bounds in PostgreSQL's words, `FOR VALUES FROM ('-2') TO ('0')`.
  static func range(_ bound: String) -> Range<Int64>? {
    let numbers = bound.split { !($0.isASCII && ($0.isNumber || $0 == "-")) }.compactMap {
      Int64($0)
    }
    guard bound.hasPrefix("FOR VALUES FROM"), numbers.count == 2, numbers[0] < numbers[1] else {
      return nil
    }
    return numbers[0]..<numbers[1]
  }

  /// The condition that rows are in one of the ranges, by which the server passes over whole parts.
  func condition(touching boxes: [Envelope]) -> String {
    var tests = key.hasWide ? ["\(ShardSQL.hilbert) = \(ShardKey.wide)"] : []
    for range in boxes.flatMap({ key.ranges(touching: $0) }) {
      let (first, last) = (range.lowerBound, range.upperBound - 1)
      tests.append("\(ShardSQL.hilbert) BETWEEN \(first) AND \(last)")
    }
    return tests.isEmpty ? "FALSE" : "(\(tests.joined(separator: " OR ")))"
  }

  /// The parts that can be asked, as the store's server calls them.
  private var present: [String] {
    let parts = parts.filter { part in part.server.map { !absent.contains($0) } ?? true }
    return parts.map { "\(quotedUnchecked(schema)).\(quotedUnchecked($0.table))" }
  }

  /// The rows of the servers that answer, as a table; `nil` where all do.
  var presentRows: String? {
    guard !absent.isEmpty else { return nil }
    let rows = present.map { "SELECT * FROM \($0)" }
    return "(\(rows.joined(separator: " UNION ALL "))) AS present"
  }

  /// The statement that counts rows. Each server counts its own at the same time; a `count(*)` of the
  /// whole table would fetch all rows.
  func count(_ condition: SQLPart?) -> SQLPart {
    let counts = present.map { part -> SQLPart in
      guard let condition else { return "SELECT count(*) AS n FROM \(part)" }
      return "SELECT count(*) AS n FROM \(part) WHERE \(condition)"
    }
    return "SELECT coalesce(sum(n), 0)::int8 FROM (\(.joined(counts, by: " UNION ALL "))) AS parts"
  }

  /// The statement that counts all rows and gives the sides of their envelope, each server its own.
  func extent(_ geometry: String) -> String {
    let parts = present.map { "SELECT count(*) AS n, ST_Extent(\(geometry)) AS e FROM \($0)" }
    return "SELECT coalesce(sum(n), 0)::int8, min(ST_XMin(e)), min(ST_YMin(e)), max(ST_XMax(e)), "
      + "max(ST_YMax(e)) FROM (\(parts.joined(separator: " UNION ALL "))) AS parts"
  }
}

#if PostGIS
  extension ShardLayout {
    private static let query = """
      SELECT c.relname, pg_get_expr(c.relpartbound, c.oid), s.srvname,
        (SELECT option_value FROM pg_options_to_table(f.ftoptions)
          WHERE option_name = 'table_name')
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      LEFT JOIN pg_foreign_table f ON f.ftrelid = c.oid
      LEFT JOIN pg_foreign_server s ON s.oid = f.ftserver
      WHERE i.inhparent = $1
      """

    /// The parts of a table; `nil` where it is divided in another way.
    static func read(
      _ table: UInt32, _ key: ShardKey, in schema: String, on connection: PostgresConnection
    ) throws(FieldpackError) -> ShardLayout? {
      let rows = try connection.execute(query, [.integer(Int64(table))])
      var parts: [ShardPart] = []
      for row in 0..<rows.count {
        guard let name = rows.text(row, 0), let range = range(rows.text(row, 1) ?? "") else {
          return nil
        }
        parts.append(
          ShardPart(range: range, server: rows.text(row, 2), table: rows.text(row, 3) ?? name))
        guard parts.last?.table == name else { return nil }
      }
      guard !parts.isEmpty else { return nil }
      parts.sort { $0.range.lowerBound < $1.range.lowerBound }
      return ShardLayout(key: key, parts: parts, schema: schema)
    }
  }
#endif
