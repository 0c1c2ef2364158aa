import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Writes the statement of a derived layer.
struct DerivedSQL {
  let file: GeoPackageSession
  let catalogue: Catalogue
  let derivation: Derivation
  /// A view of the statement's rows, where a condition or a union has to know them.
  var rows: LayerTable?

  /// The names of the virtual tables that a join looks up.
  static let (left, right) = ("fieldpack left", "fieldpack right")
  /// The schema of a file that is attached.
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

  /// Those of a statement's rows that the filter keeps.
  private func selection(of rows: LayerTable) throws(FieldpackError) -> String {
    let all = "SELECT * FROM \(quoted(rows.table))"
    guard layer.filter != .all else { return all }
    var rows = rows
    // What would number them is not among the columns.
    rows.idSQL = "NULL"
    let lowering = FilterLowering(
      table: rows, project: LiteralProjection(file: file, catalogue: catalogue))
    return "\(all) WHERE \(try lowering.condition(layer.filter).inlined)"
  }

  private func condition(_ table: LayerTable) throws(FieldpackError) -> String {
    guard let ids = try ids(of: table) else { return "" }
    return " WHERE \(table.id) IN (\(ids))"
  }

  /// A selection of the ids that the filter keeps; `nil` for all.
  private func ids(of table: LayerTable) throws(FieldpackError) -> String? {
    guard layer.filter != .all else { return nil }
    let lowering = FilterLowering(
      table: table, project: LiteralProjection(file: file, catalogue: catalogue))
    let access = try lowering.access(layer.filter)
    let source = access.source.inlined
    return "SELECT \(access.id) FROM \(source) WHERE \(access.condition.inlined)"
  }

  // MARK: Join

  private func join(
    _ table: LayerTable, _ joined: Derivation.Joined
  ) throws(FieldpackError) -> (sql: String, columns: [String]) {
    let schema = joined.path == nil ? "main" : Self.attached
    let (selected, columns) = Self.columns(table, joined.table)
    let sql =
      "SELECT \(selected.joined(separator: ", ")) FROM (\(try pairs(table, joined))) AS p "
      + "CROSS JOIN main.\(quoted(table.table)) AS m ON m.\(table.id) = p.a "
      + "CROSS JOIN \(quoted(schema)).\(quoted(joined.table.table)) AS j "
      + "ON j.\(joined.table.id) = p.b"
    return (sql, columns)
  }

  /// The ids of each pair, by both. The features of the smaller layer are looked up in the other's
  /// index; they are prepared once each, so that they may be the more complex ones as well.
  private func pairs(
    _ table: LayerTable, _ joined: Derivation.Joined
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
    // Without a limit SQLite would leave the order out.
    return sql + " ORDER BY a, b LIMIT -1"
  }

  private func moved(
    _ other: GeometryColumn, _ joined: Derivation.Joined, to table: LayerTable
  ) throws(FieldpackError) -> String {
    let column = "r.\(quoted(other.name))"
    // Each file has its own numbers of systems.
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

  /// The number that this file has for a system of another.
  private func ownNumber(
    of srs: SRS, _ joined: Derivation.Joined
  ) throws(FieldpackError) -> Int64 {
    let systems = catalogue.systems
    if let known = systems.entries.first(where: { $0.value.srs == srs }) { return known.key }
    guard srs.organization == "EPSG", systems[Int64(srs.code)] == nil else {
      throw FieldpackError(
        .unsupported,
        "this file does not define \(srs), in which layer '\(joined.table.layer.id)' is",
        advice: .transformLayer, location: .init(layer: joined.table.layer.id))
    }
    return Int64(srs.code)
  }

  /// What is selected of both, with the names that it gets.
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
    let sql = "SELECT \(selected.joined(separator: ", ")) FROM \(rows)"
    if keys.isEmpty { return sql }
    let list = keys.joined(separator: ", ")
    return "\(sql) GROUP BY \(list) ORDER BY \(list)"
  }
}

extension LayerTable {
  /// What names the id in a table or view.
  fileprivate var id: String { idSQL ?? "rowid" }
}

extension SQLFragment {
  /// The text with the values in it, for views, which take no parameters.
  var inlined: String {
    var result = String.UnicodeScalarView()
    var values = parameters[...]
    var quote: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      if let open = quote {
        if scalar == open { quote = nil }
      } else if scalar == "'" || scalar == "\"" {
        quote = scalar
      } else if scalar == "?", let value = values.popFirst() {
        result.append(contentsOf: value.literal.unicodeScalars)
        continue
      }
      result.append(scalar)
    }
    return String(result)
  }
}

extension SQLiteValue {
  /// The value as SQL writes it.
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
