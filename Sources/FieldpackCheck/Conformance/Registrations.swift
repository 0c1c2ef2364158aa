import FieldpackGeoPackage
import FieldpackSQLite

/// What `gpkg_extensions` names.
struct Registrations {
  private struct Place: Hashable {
    /// `nil` for extensions that are none of the standard's.
    var name: SQLName?
    var table: SQLName?
    var column: SQLName?
  }

  private var places: Set<Place> = []

  mutating func add(_ name: String, _ table: String?, _ column: String?) {
    let (name, table) = (SQLName(name), table.map { SQLName($0) })
    let column = column.map { SQLName($0) }
    places.insert(Place(name: name))
    if table != nil { places.insert(Place(name: name, table: table)) }
    guard table != nil, column != nil else { return }
    places.insert(Place(name: name, table: table, column: column))
    if !name.hasPrefix("gpkg_") { places.insert(Place(table: table, column: column)) }
  }

  /// Whether an extension, or one that is none of the standard's, is registered: for a table, and a
  /// column of it, where these are given.
  func has(_ name: String?, _ table: String?, _ column: String?) -> Bool {
    places.contains(
      Place(
        name: name.map { SQLName($0) }, table: table.map { SQLName($0) },
        column: column.map { SQLName($0) }))
  }
}
