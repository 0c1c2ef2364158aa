import FieldpackCore
import FieldpackSQLite

/// Finds the media of one file in another one: the same bytes and media type, and the same values
/// that links hold instead of ids.
///
/// Only media of one length are compared, so that few are read.
struct EqualMedia {
  let source: GeoPackageSession
  let target: GeoPackageSession

  /// The rows of `layer` that `other` has, with the ids that they have there.
  func find(
    _ layer: LayerID, in other: LayerID
  ) throws(FieldpackError) -> [Int64: [Int64]] {
    guard let from = try source.catalogue().layer(layer), from.idSQL != nil,
      let into = try target.catalogue().layer(other), into.idSQL != nil
    else { return [:] }
    let columns = try comparedColumns(of: from)
    guard columns.allSatisfy({ into.schema.columnIndex($0) != nil }) else { return [:] }
    return try find(from, into, columns)
  }

  private func find(
    _ from: LayerTable, _ into: LayerTable, _ columns: [String]
  ) throws(FieldpackError) -> [Int64: [Int64]] {
    var known: [Int64: [Int64]] = [:]
    try visitLengths(of: into, in: target) { id, length in known[length, default: []].append(id) }
    var candidates: [(id: Int64, equals: [Int64])] = []
    guard !known.isEmpty else { return [:] }
    try visitLengths(of: from, in: source) { id, length in
      if let same = known[length] { candidates.append((id, same)) }
    }
    let names = columns.map { quoted($0) }
    let contents = try source.prepare(
      reading: from,
      "SELECT \(names.sqlList) FROM \(quoted(from.table)) WHERE \(from.idExpression) = ?", [])
    let tests = names.map { "\($0) IS ?" }.joined(separator: " AND ")
    let comparison = try target.prepare(
      reading: into,
      "SELECT 1 FROM \(quoted(into.table)) WHERE \(into.idExpression) = ? AND \(tests)", [])
    var found: [Int64: [Int64]] = [:]
    for (id, same) in candidates {
      defer { contents.reset() }
      try contents.bind(id, at: 1)
      guard try contents.step() else { continue }
      for (index, value) in contents.row.values.enumerated() {
        try comparison.bind(value, at: index + 2)
      }
      var equals: [Int64] = []
      for other in same {
        defer { comparison.reset() }
        try comparison.bind(other, at: 1)
        guard try comparison.step() else { continue }
        equals.insert(other, at: other == id ? 0 : equals.count)
      }
      if !equals.isEmpty { found[id] = equals }
    }
    return found
  }

  /// The columns that tell media apart.
  private func comparedColumns(of table: LayerTable) throws(FieldpackError) -> [String] {
    var columns = MediaColumns.all
    for relation in try RelationTables(file: source).all()
    where SQLName(relation.related.rawValue) == SQLName(table.layer.id.rawValue) {
      let column = relation.relatedColumn
      let isKnown = columns.contains { SQLName($0) == SQLName(column) }
      if !isKnown, table.schema.columnIndex(column) != nil { columns.append(column) }
    }
    return columns
  }

  private func visitLengths(
    of table: LayerTable, in file: GeoPackageSession, _ body: (_ id: Int64, _ length: Int64) -> Void
  ) throws(FieldpackError) {
    let rows = try file.prepare(
      reading: table,
      "SELECT \(table.idExpression), length(\(quoted(MediaColumns.data))) "
        + "FROM \(quoted(table.table)) ORDER BY 1", [])
    defer { rows.reset() }
    while try rows.step() { body(rows.row.integer(0), rows.row.value(1).integerValue ?? -1) }
  }
}
