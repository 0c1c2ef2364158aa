package import FieldpackCore
package import FieldpackGeometry
import FieldpackSQLite

/// The layers of a file as its tables describe them.
package struct Catalogue: Sendable {
  package var layers: [LayerTable]
  package var triggerSet: RTreeTriggerSet
  /// SRS definitions, each with its `srs_id`. A list, because with a dictionary the runtime looks up a
  /// conformance of the keys, which the benchmark of a condition with an index shows.
  package typealias Systems = [(id: Int64, row: SystemRow)]

  package var systems: Systems
  /// Whether some tables (links or metadata) may refer to a layer's rows.
  package var hasRowReferences = false
  /// Whether the file has statistics of its indexes, in `sqlite_stat1`.
  package var hasStatistics = false
  /// Notes on tables that the catalogue names and the file lacks.
  package var notes: [String] = []

  package struct SystemRow: Hashable, Sendable {
    package var srs: SRS
    var name: String
    var definition: String
    var description: String?
    /// WKT 2; `nil` where the file has none.
    var wkt2: String?
    /// The coordinate epoch, as a year.
    var epoch: Double?

    /// The definition that the CRS WKT extension prefers.
    var bestDefinition: String { wkt2 ?? definition }
  }

  /// The SRS definition of an `srs_id`.
  package func system(_ id: Int64?) -> SystemRow? { systems.first { $0.id == id }?.row }

  /// The layers with R-trees, by the names of these.
  var indexedTables: [String: IndexedTable] {
    var tables: [String: IndexedTable] = [:]
    for layer in layers {
      if let rtree = layer.rtree { tables[rtree] = IndexedTable(layer) }
    }
    return tables
  }

  /// The layer of that name: the exact name first, else ignoring ASCII case as SQL does.
  package func layer(_ id: LayerID) -> LayerTable? {
    if let exact = layers.first(where: { $0.layer.id == id }) { return exact }
    let name = SQLName(id.rawValue)
    return layers.first { SQLName($0.layer.id.rawValue) == name }
  }
}
