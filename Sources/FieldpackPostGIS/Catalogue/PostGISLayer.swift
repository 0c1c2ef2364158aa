package import FieldpackCore
import FieldpackGeometry
import FieldpackProjection

/// A table or view that is a layer.
package struct PostGISLayer: Sendable {
  /// Where the id of a feature comes from.
  package enum ID: Hashable, Sendable {
    case column(PostGISColumn)
    /// There is no key: rows are numbered as they come.
    case rowNumber
  }

  /// The column of a layer's geometry.
  package struct GeometrySource: Hashable, Sendable {
    package let name: String
    package let srid: Int32
    /// Whether the type of the column says the SRID, so that every row has it.
    package let statesSRID: Bool
    package let isGeography: Bool
    package let hasIndex: Bool
    /// Whether no row can have a curve or a collection of different kinds.
    package let isSimple: Bool
    package let isPoint: Bool

    package var quoted: String { quotedUnchecked(name) }
  }

  package var schema: Schema
  package let oid: UInt32
  package let isView: Bool
  /// Whether policies say which rows the user sees. They may call functions that only a transaction for
  /// reading keeps from writing.
  let hasPolicies: Bool
  /// Schema and table, quoted.
  package let table: String
  package let id: ID
  package let geometry: GeometrySource?
  /// In the order of the schema's columns.
  package let columns: [PostGISColumn]
  /// The columns of the primary key.
  package let primaryKey: [String]
  /// A definition of the layer's system, where its code means nothing to PROJ.
  let definition: String?
  package let description: String?
  /// The number of rows as the server estimates it; `nil` where it has not counted.
  let estimatedRows: Int?
  /// About how many bytes a row has, with its geometry.
  let rowBytes: Int
  /// How the rows of a table without a key are numbered, so that each keeps its number from one query to
  /// the next; empty for views, whose rows have no place.
  let rowOrder: String
  package let notes: [Note]
  /// How the layer is divided over servers; `nil` where it is one table.
  package var shards: ShardLayout?
  /// Whether a new feature has to bring its id.
  var takesIDs = false
  /// The columns that cannot be NULL and whose defaults only the server can compute.
  var computedDefaults: Set<String> = []

  package var layer: LayerID { schema.layer }

  /// Whether a row keeps its id from one query to the next.
  var hasLastingIDs: Bool { id != .rowNumber || !rowOrder.isEmpty }

  /// The way out where it does not.
  static let idAdvice = "Try: the column of the ids, by 'name' and 'id' in the option 'tables'"
}

extension PostGISLayer {
  /// A name for the numbers of rows that no column is likely to have.
  private static let rowNumber = quotedUnchecked("fieldpack row")

  /// What rows are selected from.
  var source: String {
    if let shards, let present = shards.presentRows { return present }
    guard id == .rowNumber else { return table }
    return
      "(SELECT row_number() OVER (\(rowOrder)) AS \(Self.rowNumber), * FROM \(table)) AS numbered"
  }

  /// The id of a feature in SQL.
  var idExpression: String {
    switch id {
    case .column(let column): column.expression
    case .rowNumber: Self.rowNumber
    }
  }

  /// The id to sort by: texts by code point.
  var idOrder: String { hasTextID ? "(\(idExpression)) COLLATE \"C\"" : idExpression }

  var hasTextID: Bool {
    if case .column(let column) = id { column.kind == .text } else { false }
  }

  /// The column of a sort key; `nil` where the layer lacks it, and for the number of a row.
  func column(_ order: Order) -> PostGISColumn? {
    if let index = schema.columnIndex(order.column) { return columns[index] }
    guard schema.role(of: order.column) == .id, case .column(let id) = id else { return nil }
    return id
  }

  /// The condition that a row has an id; `nil` where no row can have it.
  package func condition(_ id: FeatureID) -> (sql: String, value: PostgresValue)? {
    switch (id, hasTextID) {
    case (.integer(let number), false): return ("\(idExpression) = $1", .integer(number))
    case (.text(let text), true):
      guard !text.utf8.contains(0) else { return nil }
      if case .column(let column) = self.id, column.type == PostgresType.uuid {
        guard text.isPlainUUID else { return nil }
        return ("\(column.quoted) = $1::uuid", .text(text))
      }
      return ("\(idExpression) = $1", .text(text))
    default: return nil
    }
  }

  /// The layer's system for PROJ: by its code, else by the definition in `spatial_ref_sys`.
  var reference: SRSReference {
    let srs = schema.geometry?.srs ?? .undefinedCartesian
    if let definition, let reference = try? SRSReference(wkt: definition) { return reference }
    return SRSReference(srs)
  }

  /// The geometry of a row as ISO WKB.
  var geometrySQL: String {
    guard let geometry else { return "NULL::bytea" }
    let column = geometry.isGeography ? "\(geometry.quoted)::geometry" : geometry.quoted
    return "ST_AsBinary(\(column), 'NDR')"
  }
}

extension String {
  /// Whether PostgreSQL would write the UUID in just this way.
  var isPlainUUID: Bool {
    guard utf8.count == 36 else { return false }
    for (index, byte) in utf8.enumerated() {
      let isDash = [8, 13, 18, 23].contains(index)
      let isDigit = (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
      if isDash ? byte != UInt8(ascii: "-") : !isDigit { return false }
    }
    return true
  }
}

/// The layers of a database as one connection sees them.
package struct PostGISCatalogue: Sendable {
  package let store: StoreID
  package var layers: [PostGISLayer]
  let boxPlans = BoxPlans()

  /// The layer of a name: an exact match first, else one that ignores case.
  package func layer(_ id: LayerID) -> PostGISLayer? {
    if let exact = layers.first(where: { $0.layer == id }) { return exact }
    let folded = id.rawValue.lowercased()
    let others = layers.filter { $0.layer.rawValue.lowercased() == folded }
    return others.count == 1 ? others[0] : nil
  }

  package func missing(_ layer: LayerID) -> FieldpackError {
    let known = layers.map(\.layer.rawValue)
    let listed = known.prefix(20).joined(separator: ", ") + (known.count > 20 ? ", …" : "")
    return FieldpackError(
      .notFound,
      "layer '\(layer)' is not in store '\(store)'\(NearNames.question(layer.rawValue, in: known)) "
        + (known.isEmpty ? "(it has none)" : "(it has: \(listed))"),
      location: .init(store: store, layer: layer))
  }
}
