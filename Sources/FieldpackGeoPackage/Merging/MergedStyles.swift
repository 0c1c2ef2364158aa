import FieldpackCore
import FieldpackSQLite

/// The styles that QGIS has stored for merged layers that are new.
struct MergedStyles {
  let merge: LayerMerge
  let target: GeoPackageSession

  func copy() throws(FieldpackError) {
    let name = LayerChange.styles
    guard try merge.source.kind(of: name) == "table" else { return }
    var columns = try TableReader(file: merge.source, table: name, isView: false).columns([])
    let id = try TableReader(file: merge.source, table: name, isView: false).takeID(from: &columns)
    let own = columns.map(\.definition)
    guard own.contains(where: { SQLName($0.name) == SQLName("f_table_name") }) else { return }
    for part in merge.parts where part.isNew {
      let names = own.map { quoted($0.name) }.sqlList
      let rows = try merge.source.rows(
        "SELECT \(names) FROM \(name) WHERE lower(f_table_name) = lower(?)",
        [.text(part.source.rawValue)])
      guard !rows.isEmpty else { continue }
      try create(own, id: id?.name)
      try insert(rows, own, of: part)
    }
  }

  /// Creates the table as QGIS does, as a layer without geometry.
  private func create(_ columns: [ColumnDefinition], id: String?) throws(FieldpackError) {
    let name = LayerChange.styles
    guard try !target.hasTable(name) else { return }
    let schema = Schema(layer: LayerID(name), idColumn: id, columns: columns)
    let types = try merge.source.storedTypes(of: schema)
    try LayerCreation(file: target).create(schema.copied(storedTypes: types))
  }

  private func insert(
    _ rows: [[SQLiteValue]], _ columns: [ColumnDefinition], of part: LayerMerge.Part
  ) throws(FieldpackError) {
    let name = LayerChange.styles
    let present = Set(
      try target.rows("SELECT name FROM pragma_table_xinfo(?) WHERE NOT hidden", [.text(name)])
        .compactMap { $0[0].textValue.map { SQLName($0) } })
    let kept = columns.indices.filter { present.contains(SQLName(columns[$0].name)) }
    let marks = kept.map { _ in "?" }.sqlList
    let sql =
      "INSERT INTO \(name) (\(kept.map { quoted(columns[$0].name) }.sqlList)) VALUES (\(marks))"
    for row in rows {
      try target.execute(
        sql,
        kept.map { index in
          SQLName(columns[index].name) == SQLName("f_table_name")
            ? .text(part.target.rawValue) : row[index]
        })
    }
  }
}
