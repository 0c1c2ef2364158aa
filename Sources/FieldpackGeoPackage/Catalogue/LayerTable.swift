package import FieldpackCore
import FieldpackGeometry
package import FieldpackSQLite

/// A layer as it lies in the file: what SQL needs to know beside the schema.
package struct LayerTable: Sendable {
  package var layer: Layer
  /// The name in the case it has in `sqlite_master`.
  package var table: String
  /// What names the id in SQL: the primary key column, `rowid`, or `nil` in a keyless view.
  package var idSQL: String?
  /// The name of the R-tree, where one exists and is registered.
  package var rtree: String?
  package var srsID: Int64?
  /// The column whose texts are the feature ids, in the cache of a file.
  package var textID: String?
  /// Whether GDAL's count triggers and row are there.
  package var hasFeatureCount = false
  /// Whether nothing keeps the R-tree true while rows change.
  package var lacksIndexTriggers = false
  /// Whether rows are those of a statement, in an order of their own, which no id replaces.
  package var isDerived = false
  /// Whether each geometry says which reference system it is in, and has to be in the layer's.
  package var statesSystem = false
  /// Whether it is a table whose rows have row ids.
  package var hasRowIDs = false
  /// What else its rows can be found by.
  var indexes: [TableIndex] = []
  /// The collation that sorts the file's texts by code point.
  package var textCollation = "BINARY"

  package var schema: Schema { layer.schema }

  /// The table, or for a keyless view a selection that numbers its rows.
  package var fromSQL: String {
    idSQL == nil
      ? "(SELECT row_number() OVER () AS \(quoted(Self.rowNumber)), * FROM \(quoted(table)))"
      : quoted(table)
  }

  /// Whether the id has a column, whose name needs no table beside it in a join.
  package var hasIDColumn: Bool { idSQL?.hasPrefix("\"") == true }

  package var idExpression: String { idSQL ?? quoted(Self.rowNumber) }

  /// What the first column of a selection is: the feature id as the store gives it.
  package var publicID: String { textID.map { quoted($0) } ?? idExpression }

  private static let rowNumber = "fieldpack row number"
}

extension LayerTable {
  /// Makes the file's own ids, else those made from contents, the feature ids.
  package mutating func takeTextID() {
    let place = layer.schema.columns.firstIndex {
      $0.isSourceID || $0.name == LoadedIDs.contentIDColumn
    }
    guard let place else { return }
    let column = layer.schema.columns.remove(at: place)
    textID = column.name
    layer.schema.idColumn = column.isSourceID ? column.name : nil
  }

  /// The id as the id column holds it; `nil` where it cannot.
  package func sqlValue(of id: FeatureID) -> SQLiteValue? {
    switch id {
    case .integer(let number): textID == nil ? .integer(number) : .text(String(number))
    case .text(let text): textID == nil ? nil : .text(text)
    }
  }
}
