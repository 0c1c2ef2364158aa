import FieldpackGeoPackage
import FieldpackSQLite

/// The registrations in `gpkg_extensions`.
struct Registrations {
  private struct Target: Hashable {
    /// `nil` for any non-standard extension.
    var name: SQLName?
    var table: SQLName?
    var column: SQLName?
  }

  private var targets: Set<Target> = []

  mutating func add(_ name: String, _ table: String?, _ column: String?) {
    let (name, table) = (SQLName(name), table.map { SQLName($0) })
    let column = column.map { SQLName($0) }
    targets.insert(Target(name: name))
    if table != nil { targets.insert(Target(name: name, table: table)) }
    guard table != nil, column != nil else { return }
    targets.insert(Target(name: name, table: table, column: column))
    if !name.hasPrefix("gpkg_") { targets.insert(Target(table: table, column: column)) }
  }

  /// Whether an extension is registered for a table and a column, where these are given. The name
  /// `nil` stands for any non-standard extension.
  func has(_ name: String?, _ table: String?, _ column: String?) -> Bool {
    targets.contains(
      Target(
        name: name.map { SQLName($0) }, table: table.map { SQLName($0) },
        column: column.map { SQLName($0) }))
  }
}
