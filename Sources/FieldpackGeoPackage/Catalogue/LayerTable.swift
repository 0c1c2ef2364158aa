package import FieldpackCore
import FieldpackGeometry
package import FieldpackSQLite

/// A layer as the file stores it: what SQL needs besides the schema.
package struct LayerTable: Sendable {
  package var layer: Layer
  /// The name in the case that `sqlite_master` has.
  package var table: String
  /// The id in SQL: the primary key column or `rowid`; `nil` in a keyless view.
  package var idSQL: String?
  /// The name of the R-tree; `nil` where none exists or is registered.
  package var rtree: String?
  package var srsID: Int64?
  /// The column whose texts are the feature ids (in a file's cache); `nil` where ids are integers.
  package var textID: String?
  /// Whether GDAL's count triggers and its row exist.
  package var hasFeatureCount = false
  /// Whether the R-tree has no triggers that keep it correct while rows change.
  package var lacksIndexTriggers = false
  /// Whether the rows come from a statement, whose order is kept and not replaced by the order of
  /// ids.
  package var isDerived = false
  /// Whether each geometry states its SRS, which must then be the layer's.
  package var statesSystem = false
  /// Whether the geometry column is NOT NULL.
  package var requiresGeometry = false
  /// Whether the layer is a table whose rows have rowids.
  package var hasRowIDs = false
  /// The indexes of the table.
  var indexes: [TableIndex] = []
  /// The collation that sorts the file's texts by code point.
  package var textCollation = "BINARY"

  package init(
    layer: Layer, table: String, idSQL: String? = nil, rtree: String? = nil, srsID: Int64? = nil
  ) {
    self.layer = layer
    self.table = table
    self.idSQL = idSQL
    self.rtree = rtree
    self.srsID = srsID
  }

  package var schema: Schema { layer.schema }

  /// The table; for a keyless view a SELECT that numbers the rows.
  package var fromSQL: String {
    idSQL == nil
      ? "(SELECT row_number() OVER () AS \(quoted(Self.rowNumber)), * FROM \(quoted(table)))"
      : quoted(table)
  }

  /// Whether the id is a column, whose name is clear in a join without the table's name.
  package var hasIDColumn: Bool { idSQL?.hasPrefix("\"") == true }

  package var idExpression: String { idSQL ?? quoted(Self.rowNumber) }

  /// The first column of each SELECT: the feature id as the store gives it.
  package var publicID: String { textID.map { quoted($0) } ?? idExpression }

  private static let rowNumber = "fieldpack row number"
}

extension LayerTable {
  /// Makes the source's own ids the feature ids, else the ids made from contents.
  package mutating func takeTextID() {
    let index = layer.schema.columns.firstIndex {
      $0.isSourceID || $0.name == LoadedIDs.contentIDColumn
    }
    guard let index else { return }
    let column = layer.schema.columns.remove(at: index)
    textID = column.name
    layer.schema.idColumn = column.isSourceID ? column.name : nil
  }

  /// The id as the id column holds it; `nil` where the column cannot hold it.
  package func sqlValue(of id: FeatureID) -> SQLiteValue? {
    switch id {
    case .integer(let number): textID == nil ? .integer(number) : .text(String(number))
    case .text(let text): textID == nil ? nil : .text(text)
    }
  }
}
