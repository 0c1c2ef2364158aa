import FieldpackCore
import FieldpackSQLite

/// How far the R-tree of a layer can be believed.
enum IndexVerdict: Sendable {
  case sound
  /// The R-tree has entries of rows without geometry, which only the rows themselves tell.
  case holdsEmpties
  /// Entries are missing or nodes are damaged, so that only the table tells which rows there are.
  case unsound

  /// What the user should know, of a layer.
  func note(_ layer: String) -> Note? {
    guard self == .unsound else { return nil }
    return Note(
      "the R-tree of layer '\(layer)' is damaged or lacks features, so all features are read",
      advice: .rebuildIndex)
  }
}

/// What has been found of the R-trees of one opened file, for all of its connections.
final class IndexVerdicts: Sendable {
  private let known = Locked<[String: IndexVerdict]>([:])

  subscript(rtree: String) -> IndexVerdict? {
    get { known.withLock { $0[rtree] } }
    set { known.withLock { $0[rtree] = newValue } }
  }
}

/// A layer with an R-tree, as its names are in SQL.
struct IndexedTable: Sendable {
  var layer: String
  var table: String
  var id: String
  var geometry: String

  init?(_ table: LayerTable) {
    guard let id = table.idSQL, let geometry = table.schema.geometry, !table.layer.isView else {
      return nil
    }
    layer = table.layer.id.rawValue
    // While a user's statement runs, a temporary table may have the layer's name.
    (self.table, self.id, self.geometry) = (
      "main.\(quoted(table.table))", id, quoted(geometry.name)
    )
  }

  /// Rows of places spread over the table, the last row among them, each with the number of its leaf.
  /// One of every second place comes with its leaf and the node above that, too.
  ///
  /// A blob of more than 200 bytes is not empty, and its bytes are not read.
  /// The table is `t`, so that no name of its own or of a column hides those of the statement.
  func sample(of rtree: String) -> String {
    let (t, g, last) = (table, geometry, Self.places - 1)
    func shadow(_ suffix: String) -> String { "main.\(quoted("\(rtree)_\(suffix)"))" }
    func lacks(_ g: String) -> String {
      "CASE WHEN \(g) ISNULL THEN 1 WHEN length(\(g)) > 200 THEN 0 ELSE ST_IsEmpty(\(g)) END"
    }
    return """
      WITH RECURSIVE places(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM places WHERE i < \(last)),
      ends(low, high) AS (SELECT (SELECT min(\(id)) FROM \(t)), (SELECT max(\(id)) FROM \(t))),
      starts(i, x) AS (SELECT i, CASE i WHEN 0 THEN low WHEN \(last) THEN high - \(Self.neighbours - 1)
        ELSE low + (high / \(last).0 - low / \(last).0) * i END FROM ends, places),
      walk(id, k, whole) AS (SELECT (SELECT \(id) FROM \(t) t WHERE \(id) >= starts.x
        ORDER BY \(id) LIMIT 1), 1, starts.i % 2 FROM starts UNION ALL
        SELECT (SELECT \(id) FROM \(t) t WHERE \(id) > walk.id ORDER BY \(id) LIMIT 1), walk.k + 1, 0
        FROM walk WHERE walk.id NOTNULL AND walk.k < \(Self.neighbours))
      SELECT p.id, p.whole, \(lacks("t.\(g)")), r.nodeno, leaf.data, up.data
      FROM walk p JOIN \(t) t ON t.\(id) = p.id
      LEFT JOIN \(shadow("rowid")) r ON r.rowid = p.id
      LEFT JOIN \(shadow("node")) leaf ON leaf.nodeno = CASE WHEN p.whole THEN r.nodeno END
      LEFT JOIN \(shadow("parent")) a ON a.nodeno = leaf.nodeno
      LEFT JOIN \(shadow("node")) up ON up.nodeno = a.parentnode
      """
  }

  private static let places = 8
  /// How many rows of each place are looked up. They share pages: 64 rows apart from each other, each
  /// with its nodes, made the opening of a file of a million points a sixth longer.
  private static let neighbours = 8

  /// All ids of the table.
  var everyID: String { "SELECT \(id) FROM \(table)" }
}
