import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// The layers of a file as they lie in it.
struct Catalogue: Sendable {
  var layers: [LayerTable]
  var triggerSet: RTreeTriggerSet
  /// The SRS definitions by `srs_id`.
  var systems: SortedMap<Int64, SystemRow>
  /// Whether there are tables whose rows may refer to a layer's rows: links, or metadata.
  var hasRowReferences = false
  /// Whether there are statistics of the indexes, in `sqlite_stat1`.
  var hasStatistics = false
  /// What the catalogue names but the file lacks, in words.
  var notes: [String] = []

  struct SystemRow: Hashable, Sendable {
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
  func layer(_ id: LayerID) -> LayerTable? {
    if let exact = layers.first(where: { $0.layer.id == id }) { return exact }
    let name = SQLName(id.rawValue)
    return layers.first { SQLName($0.layer.id.rawValue) == name }
  }
}
