import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// Writes the statement of a derived layer.
struct DerivedSQL {
  let file: GeoPackageSession
  let catalogue: Catalogue
  let derivation: LayerDerivation
  /// A view of the statement's rows, where a condition or a union needs their columns.
  var rows: LayerTable?

  /// The names of the two virtual tables of a join.
  static let (left, right) = ("fieldpack left", "fieldpack right")
  /// The schema name of an attached file.
  static let attached = "fieldpack joined"

  private var layer: DerivedLayer { derivation.layer }

  func statement() throws(FieldpackError) -> String {
    switch layer.source {
    case .sql(let sql):
      var (selection, columns) = try file.selection(of: sql)
      if let rows { selection = try self.selection(of: rows) }
      guard let grouping = layer.grouping else { return selection }
      return try group(
        "(\(selection))", grouping, columns: columns, geometry: rows?.schema.geometry?.name)
    case .layer(let id):
      guard let table = catalogue.layer(id) else { throw file.missingLayer(id, in: catalogue) }
      return try statement(table)
    }
  }

  private func statement(_ table: LayerTable) throws(FieldpackError) -> String {
    let geometry = table.schema.geometry?.name
    guard let joined = derivation.joined else {
      let columns = table.schema.columns.map(\.name) + [table.schema.idColumn].compactMap { $0 }
      guard let grouping = layer.grouping else {
        return "SELECT * FROM \(quoted(table.table))\(try condition(table))"
      }
      let rows = "\(quoted(table.table))\(try condition(table))"
      return try group(
        "(SELECT * FROM \(rows))", grouping, columns: columns, geometry: geometry)
    }
    let (rows, columns) = try join(table, joined)
    guard let grouping = layer.grouping else { return rows }
    return try group("(\(rows))", grouping, columns: columns, geometry: geometry)
  }

  /// A selection of the statement's rows that the filter keeps.
  private func selection(of rows: LayerTable) throws(FieldpackError) -> String {
    let all = "SELECT * FROM \(quoted(rows.table))"
    guard layer.filter != .all else { return all }
    var rows = rows
    // The columns have no id that a condition could ask for.
    rows.idSQL = "NULL"
    let lowering = FilterLowering(table: rows, of: file, catalogue)
    return "\(all) WHERE \(try lowering.condition(layer.filter).text(\.literal))"
  }

  private func condition(_ table: LayerTable) throws(FieldpackError) -> String {
    guard let ids = try ids(of: table) else { return "" }
    return " WHERE \(table.id) IN (\(ids))"
  }

  /// A selection of the ids that the filter keeps; `nil` for all.
  private func ids(of table: LayerTable) throws(FieldpackError) -> String? {
    guard layer.filter != .all else { return nil }
    let lowering = FilterLowering(table: table, of: file, catalogue)
    let access = try lowering.access(layer.filter)
    let source = access.source.text(\.literal)
    return "SELECT \(access.id) FROM \(source) WHERE \(access.condition.text(\.literal))"
  }

  // MARK: Join

  private func join(
    _ table: LayerTable, _ joined: LayerDerivation.Joined
  ) throws(FieldpackError) -> (sql: String, columns: [String]) {
    let schema = joined.path == nil ? "main" : Self.attached
    let (selected, columns) = Self.columns(table, joined.table)
    let sql =
      "SELECT \(selected.sqlList) FROM (\(try pairs(table, joined))) AS p "
      + "CROSS JOIN main.\(quoted(table.table)) AS m ON m.\(table.id) = p.a "
      + "CROSS JOIN \(quoted(schema)).\(quoted(joined.table.table)) AS j "
      + "ON j.\(joined.table.id) = p.b"
    return (sql, columns)
  }

  /// A selection of the pairs of ids, ordered by both. The features of the smaller layer are looked
  /// up in the R-tree of the other; each is prepared once, so that complex geometries cost little,
  /// too.
  private func pairs(
    _ table: LayerTable, _ joined: LayerDerivation.Joined
  ) throws(FieldpackError) -> String {
    guard let relation = layer.join?.relation, let geometry = table.schema.geometry,
      let other = joined.table.schema.geometry
    else {
      let bare = table.schema.geometry == nil ? table : joined.table
      throw FieldpackError(
        .invalidArgument, "layer '\(bare.layer.id)' has no geometry to join by",
        location: .init(layer: bare.layer.id))
    }
    let count = try file.integer("SELECT count(*) FROM \(quoted(table.table))") ?? 0
    let (l, r) = ("l.\(quoted(geometry.name))", try moved(other, joined, to: table))
    let isMoved = r != "r.\(quoted(other.name))"
    let looksUpLeft =
      isMoved || joined.rowCount <= count || !IndexedLayerTables.canStand(for: joined.table)
    let (left, right) = ("temp.\(quoted(Self.left)) AS l", "temp.\(quoted(Self.right)) AS r")
    let from =
      looksUpLeft
      ? "\(right) CROSS JOIN \(left) ON ST_\(relation.functionName)(\(l), \(r))"
      : "\(left) CROSS JOIN \(right) ON ST_\(relation.mirrored.functionName)(\(r), \(l))"
    var sql = "SELECT l.\(table.id) AS a, r.\(joined.table.id) AS b FROM \(from)"
    if let ids = try ids(of: table) { sql += " WHERE +l.\(table.id) IN (\(ids))" }
    // Without a limit SQLite drops the order of a subquery.
    return sql + " ORDER BY a, b LIMIT -1"
  }

  private func moved(
    _ other: GeometryColumn, _ joined: LayerDerivation.Joined, to table: LayerTable
  ) throws(FieldpackError) -> String {
    let column = "r.\(quoted(other.name))"
    // An `srs_id` is good within its own file only.
    let isElsewhere = joined.path != nil
    guard let srs = table.schema.geometry?.srs else { return column }
    if srs == other.srs {
      guard isElsewhere, let id = table.srsID, id != joined.table.srsID else { return column }
      return "ST_SetSRID(\(column), \(id))"
    }
    guard !srs.isUndefined, !other.srs.isUndefined, let id = table.srsID else {
      throw FieldpackError(
        .invalidArgument,
        "layers '\(table.layer.id)' and '\(joined.table.layer.id)' are in \(srs) and \(other.srs), "
          + "which cannot be compared",
        location: .init(layer: joined.table.layer.id))
    }
    guard isElsewhere else { return "ST_Transform(\(column), \(id))" }
    return "ST_Transform(ST_SetSRID(\(column), \(try ownNumber(of: other.srs, joined))), \(id))"
  }

  /// The `srs_id` that this file has for a reference system of the other file.
  private func ownNumber(
    of srs: SRS, _ joined: LayerDerivation.Joined
  ) throws(FieldpackError) -> Int64 {
    let known = catalogue.systems.filter { $0.row.srs == srs }.map(\.id).min()
    if let known { return known }
    guard srs.organization == "EPSG", catalogue.system(Int64(srs.code)) == nil else {
      throw FieldpackError(
        .unsupported,
        "this file does not define \(srs), in which layer '\(joined.table.layer.id)' is",
        advice: .transformLayer, location: .init(layer: joined.table.layer.id))
    }
    return Int64(srs.code)
  }

  /// The columns selected from both layers, with the names that they get.
  static func columns(
    _ table: LayerTable, _ other: LayerTable
  ) -> (selected: [String], names: [String]) {
    var taken: Set<SQLName> = []
    var selected: [String] = []
    var names: [String] = []
    func add(_ alias: String, _ column: String, prefix: String?) {
      var name = column
      if let prefix, taken.contains(SQLName(name)) { name = "\(prefix)_\(column)" }
      var number = 2
      while taken.contains(SQLName(name)) {
        name = "\(prefix ?? "column")_\(column)_\(number)"
        number += 1
      }
      taken.insert(SQLName(name))
      names.append(name)
      selected.append("\(alias).\(quoted(column)) AS \(quoted(name))")
    }
    if let geometry = table.schema.geometry { add("m", geometry.name, prefix: nil) }
    if let id = table.schema.idColumn { add("m", id, prefix: nil) }
    for column in table.schema.columns { add("m", column.name, prefix: nil) }
    let prefix = other.layer.id.rawValue
    for column in other.schema.columns { add("j", column.name, prefix: prefix) }
    if let id = other.schema.idColumn { add("j", id, prefix: prefix) }
    return (selected, names)
  }

  // MARK: Groups

  private func group(
    _ rows: String, _ grouping: Grouping, columns: [String], geometry: String?
  ) throws(FieldpackError) -> String {
    func known(_ name: String) throws(FieldpackError) -> String {
      if let found = columns.first(where: { SQLName($0) == SQLName(name) }) { return quoted(found) }
      throw FieldpackError(
        .notFound,
        "there is no column '\(name)' to group (there are: \(columns.joined(separator: ", ")))")
    }
    var keys: [String] = []
    for name in grouping.columns { keys.append(try known(name)) }
    var selected = keys
    for aggregate in grouping.aggregates {
      let name = quoted(aggregate.name)
      switch (aggregate.function, aggregate.column) {
      case (.union, _):
        guard let geometry else {
          throw FieldpackError(
            .invalidArgument, "there is no column of geometries to make a union of")
        }
        selected.append("ST_Union(\(quoted(geometry))) AS \(quoted(geometry))")
      case (let function, let column?):
        selected.append("\(function.rawValue)(\(try known(column))) AS \(name)")
      case (_, nil): selected.append("count(*) AS \(name)")
      }
    }
    let sql = "SELECT \(selected.sqlList) FROM \(rows)"
    if keys.isEmpty { return sql }
    let list = keys.sqlList
    return "\(sql) GROUP BY \(list) ORDER BY \(list)"
  }
}

extension LayerTable {
  /// The SQL of the id in the table or view.
  fileprivate var id: String { idSQL ?? "rowid" }
}

extension SQLiteValue {
  /// The value as an SQL literal, for views, which take no parameters.
  fileprivate var literal: String {
    switch self {
    case .null: return "NULL"
    case .integer(let number): return number == .min ? "(-9223372036854775807 - 1)" : "\(number)"
    case .real(let number):
      if number.isNaN { return "NULL" }
      return number.isFinite ? "\(number)" : number > 0 ? "9e999" : "-9e999"
    case .text(let text): return FieldpackSQLite.literal(text)
    case .blob(let bytes):
      let digits = Array("0123456789ABCDEF".utf8)
      var hex: [UInt8] = []
      for byte in bytes { hex += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
      return "x'\(String(decoding: hex, as: UTF8.self))'"
    }
  }
}
