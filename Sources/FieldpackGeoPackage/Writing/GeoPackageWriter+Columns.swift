public import FieldpackCore
public import FieldpackGeometry
import FieldpackSQLite

// What a GeoPackage keeps of a column elsewhere follows: the R-tree, the rows of extensions,
// metadata and relations, QGIS's styles, and the change logs of SpatialConnect and GeoGig.

extension GeoPackageWriter {
  /// Gives a column another name: an attribute's, the geometry's or the feature id's.
  ///
  /// - Throws: `.notFound` for an unknown layer or column, `.invalidArgument` where the layer has a
  ///   column of the new name.
  public func renameColumn(
    _ column: String, to name: String, in layer: LayerID
  ) throws(FieldpackError) {
    try change(layer) { (change) throws(FieldpackError) in
      try change.rename(try change.spelled(column), to: name)
    }
  }

  /// Removes an attribute's column with its values, and the indexes that hold it.
  ///
  /// - Throws: `.notFound` for an unknown layer or column, `.unsupported` for the id, the geometry
  ///   and a column that the table, a view or a trigger needs.
  public func removeColumn(_ column: String, from layer: LayerID) throws(FieldpackError) {
    try change(layer) { (change) throws(FieldpackError) in
      try change.drop(try change.spelled(column))
    }
  }

  /// Declares an attribute's column with another type. The column keeps its place and its rules,
  /// and the values become values of that type: texts are read, other values are written as texts.
  ///
  /// - Throws: `.notFound` for an unknown layer or column, `.constraint` with the first value that
  ///   has no form in the new type without loss.
  public func retypeColumn(
    _ column: String, as type: ColumnType, in layer: LayerID
  ) throws(FieldpackError) {
    try change(layer) { (change) throws(FieldpackError) in
      let name = try change.spelled(column)
      guard let index = change.table.schema.columnIndex(name) else {
        throw FieldpackError(
          .invalidArgument,
          "column '\(name)' of layer '\(layer)' is the id or the geometry, not an attribute",
          location: .init(store: file.store, layer: layer))
      }
      try change.retype(change.table.schema.columns[index], as: type)
    }
  }

  /// Declares the geometries of a layer as being of another type.
  ///
  /// - Parameters:
  ///   - z, m: the rules for ordinates; those that stand where `nil`.
  /// - Throws: `.notFound` for an unknown layer and one without geometry, `.constraint` with the
  ///   first geometry that does not fit.
  public func retypeGeometry(
    of layer: LayerID, as type: GeometryType, z: OrdinateRule? = nil, m: OrdinateRule? = nil
  ) throws(FieldpackError) {
    try change(layer) { (change) throws(FieldpackError) in
      guard var geometry = change.table.schema.geometry else {
        throw FieldpackError(
          .notFound, "layer '\(layer)' has no geometry column",
          location: .init(store: file.store, layer: layer))
      }
      geometry.type = type
      geometry.z = z ?? geometry.z
      geometry.m = m ?? geometry.m
      try change.retype(geometry)
    }
  }

  /// Gives an attribute's column the definition `column`; the values stay, and the column comes last.
  ///
  /// - Throws: `.notFound` for an unknown layer or column, `.constraint` where a value does not fit,
  ///   `.unsupported` where an index or a key of the table needs the column.
  package func redefine(
    _ column: ColumnDefinition, in layer: LayerID
  ) throws(FieldpackError) {
    try change(layer) { (change) throws(FieldpackError) in
      try change.redefine(try change.spelled(column.name), as: column)
    }
  }

  private func change(
    _ layer: LayerID, _ body: (ColumnChange) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let table = try writable(layer)
    touch(table)
    note(table.layer.id)
    try whole { () throws(FieldpackError) in
      // Foreign keys are checked at the end, when all names are right.
      try file.execute("PRAGMA defer_foreign_keys = ON")
      try body(ColumnChange(of: table, in: file))
    }
  }
}
