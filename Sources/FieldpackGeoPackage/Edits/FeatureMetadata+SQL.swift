import FieldpackCore
import FieldpackSQLite

extension QueryPlanner {
  /// As of ``GeoPackageSession/selected(_:of:)``.
  func selected(
    _ columns: ArraySlice<ColumnDefinition>, of table: LayerTable
  ) throws(FieldpackError) -> [String] {
    guard query.readsMetadata else { return columns.map { quoted($0.name) } }
    return try file.selected(columns, of: table)
  }
}

extension GeoPackageSession {
  /// The SQL of columns of an answer: of the table, or of metadata in its log.
  func selected(
    _ columns: ArraySlice<ColumnDefinition>, of table: LayerTable
  ) throws(FieldpackError) -> [String] {
    var selected: [String] = []
    for column in columns {
      guard let member = column.metadata else {
        selected.append(quoted(column.name))
        continue
      }
      selected.append(try logShape(of: table)?.sql(of: member) ?? "NULL")
    }
    return selected
  }
}

extension LogShape {
  /// The member of a row's metadata, as a SELECT for a row of ``table``.
  fileprivate func sql(of member: FeatureMetadata.Column) -> String {
    func last(_ column: Own, _ condition: String) -> String {
      let name = "log.\(own(column))"
      let value =
        column == .time ? "strftime('%Y-%m-%dT%H:%M:%fZ', \(name))" : name
      return "(SELECT \(value) FROM \(quoted(log)) AS log "
        + "WHERE log.\(feature) = \(quoted(table)).\(quoted(id)) "
        + "AND log.\(own(.operation)) \(condition) ORDER BY log.\(own(.number)) DESC LIMIT 1)"
    }
    // An id that was used again has a newer insertion.
    switch member {
    case .created: return last(.time, "= 1")
    case .modified: return last(.time, "<> 0")
    case .author: return last(.author, "<> 0")
    case .device: return last(.device, "<> 0")
    }
  }
}
