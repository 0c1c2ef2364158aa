public import FieldpackCore

extension GeoPackageWriter {
  /// Gives a column a constraint, which every later write must meet, or removes its constraint.
  ///
  /// Existing values are not tested. Columns with the same constraint share its name; where a
  /// different constraint has the name, `_2` is added.
  /// - Throws: `.notFound` for an unknown layer or column, `.invalidArgument` for a constraint that
  ///   allows nothing.
  public func setConstraint(
    _ constraint: ColumnConstraint?, of column: String, in layer: LayerID
  ) throws(FieldpackError) {
    let table = try table(layer)
    guard let index = table.schema.columnIndex(column) else {
      throw table.schema.unknownColumn(column).adding(location: .init(store: file.store))
    }
    try whole { () throws(FieldpackError) in
      try SchemaExtension(file: file).set(constraint, of: table.schema.columns[index], in: table)
    }
  }
}
