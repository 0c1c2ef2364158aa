package import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// The layers of a file as they lie in it.
package struct Catalogue: Sendable {
  package var layers: [LayerTable]
  package var triggerSet: RTreeTriggerSet
  /// The SRS definitions by `srs_id`.
  package var systems: SortedMap<Int64, SystemRow>
  /// Whether there are tables whose rows may refer to a layer's rows: links, or metadata.
  package var hasRowReferences = false
  /// Whether there are statistics of the indexes, in `sqlite_stat1`.
  package var hasStatistics = false
  /// What the catalogue names but the file lacks, in words.
  package var notes: [String] = []

  package struct SystemRow: Hashable, Sendable {
    var srs: SRS
    var name: String
    var definition: String
    var description: String?
    /// WKT 2, where the file has it.
    var wkt2: String?
    /// The coordinate epoch, as a year.
    var epoch: Double?

    /// The definition that the CRS WKT extension puts first.
    var bestDefinition: String { wkt2 ?? definition }
  }

  /// The layer of that name, by exact name, else ignoring ASCII case as SQL does.
  package func layer(_ id: LayerID) -> LayerTable? {
    if let exact = layers.first(where: { $0.layer.id == id }) { return exact }
    let name = SQLName(id.rawValue)
    return layers.first { SQLName($0.layer.id.rawValue) == name }
  }
}
