import FieldpackCore

/// A table that is divided, or will be: what its parts need to be the same.
package struct ShardTable: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package var name: String
    /// In SQL, as the server writes it.
    package var type: String
    package var isNullable = true
    /// In SQL; of the parent alone, as the parts get all values.
    package var defaultSQL: String?
    /// Whether the server gives values itself.
    package var isIdentity = false

    package init(
      _ name: String, _ type: String, isNullable: Bool = true, defaultSQL: String? = nil,
      isIdentity: Bool = false
    ) {
      (self.name, self.type, self.isNullable) = (name, type, isNullable)
      (self.defaultSQL, self.isIdentity) = (defaultSQL, isIdentity)
    }
  }

  package struct Check: Hashable, Sendable {
    package var name: String
    /// Such as `CHECK ((depth > 0))`.
    package var definition: String

    package init(_ name: String, _ definition: String) {
      (self.name, self.definition) = (name, definition)
    }
  }

  package var schema: String
  package var name: String
  /// Without the column of the curve.
  package var columns: [Column]
  package var checks: [Check] = []
  package var id: String
  package var geometry: String
  /// The database of the store, by a number that no other server has, and its name.
  package var origin: String

  package init(
    schema: String, name: String, columns: [Column], checks: [Check] = [], id: String,
    geometry: String, origin: String
  ) {
    (self.schema, self.name, self.columns) = (schema, name, columns)
    (self.checks, self.id, self.geometry, self.origin) = (checks, id, geometry, origin)
  }

  /// The names of the columns, quoted, without that of the curve.
  var columnNames: [String] { columns.map { quotedUnchecked($0.name) } }

  /// Schema and table.
  func quoted(_ table: String? = nil) throws(FieldpackError) -> String {
    "\(try FieldpackPostGIS.quoted(identifier: schema))."
      + (try FieldpackPostGIS.quoted(identifier: table ?? name))
  }

  /// What the comment of a part says, by which parts that nobody uses are found.
  var partComment: String {
    Self.partComment(of: TableName(schema: schema, table: name), origin)
  }

  static func partComment(of layer: TableName, _ origin: String) -> String {
    "fieldpack: a part of the layer \(layer.schema).\(layer.table) of \(origin)"
  }
}
