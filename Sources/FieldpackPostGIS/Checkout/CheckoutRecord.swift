package import FieldpackCore
package import FieldpackGeoPackage
package import FieldpackGeometry
import FieldpackSQLite

/// Where a field copy comes from, and which features it was asked to have: a row of the copy itself.
package struct CheckoutRecord: Hashable, Sendable {
  /// The path of the config.
  package var config: String
  /// The store in it.
  package var store: StoreID
  /// The box that features had to meet, in ``boxSRS``; `nil` where any place would do.
  package var box: Envelope?
  package var boxSRS = SRS.wgs84
  /// The condition in CQL2.
  package var condition: String?

  package init(config: String, store: StoreID) {
    (self.config, self.store) = (config, store)
  }

  private static let table = "fieldpack_checkout"

  /// Which features the copy was asked to have.
  package var filter: Filter {
    get throws(FieldpackError) {
      var filter = box.map { Filter.envelope(.intersects, $0, srs: boxSRS) } ?? .all
      if let condition {
        let other = try Filter(cql2: condition)
        filter = box == nil ? other : filter && other
      }
      return filter
    }
  }

  // MARK: In the copy

  package func write(to writer: GeoPackageWriter) throws(FieldpackError) {
    try writer.execute(
      "CREATE TABLE \(Self.table) (config TEXT NOT NULL, store TEXT NOT NULL, minx REAL, miny REAL, "
        + "maxx REAL, maxy REAL, srs TEXT, condition TEXT)")
    try writer.registerExtension("fieldpack_checkout", table: Self.table)
    let sides = box.map { [$0.minX, $0.minY, $0.maxX, $0.maxY].map { SQLiteValue.real($0) } }
    try writer.execute(
      "INSERT INTO \(Self.table) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      [.text(config), .text(store.rawValue)]
        + (sides ?? Array(repeating: .null, count: 4))
        + [.text("\(boxSRS)"), condition.map { .text($0) } ?? .null])
  }

  /// The record of a file; `nil` for a file that is no field copy.
  package init?(in snapshot: GeoPackageSnapshot) throws(FieldpackError) {
    guard try snapshot.hasTable(Self.table) else { return nil }
    let row = try snapshot.rows(
      "SELECT config, store, minx, miny, maxx, maxy, srs, condition FROM \(Self.table)"
    ).first
    guard let row, let config = row[0].textValue, let store = row[1].textValue else { return nil }
    self.init(config: config, store: StoreID(store))
    let sides = row[2...5].compactMap { value in
      if case .real(let number) = value { number } else { nil }
    }
    if sides.count == 4 {
      box = Envelope(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3])
    }
    if let text = row[6].textValue, let srs = SRS(text) { boxSRS = srs }
    condition = row[7].textValue
  }
}
