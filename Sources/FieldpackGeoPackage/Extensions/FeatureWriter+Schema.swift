public import FieldpackCore

extension FeatureWriter {
  /// Gives a column a constraint that every later write is held to, or takes it away.
  ///
  /// Values that are there already are not tested. The name is shared with other columns that have
  /// the same constraint; where another constraint has it, `_2` is added.
  /// - Throws: `.notFound` for an unknown layer or column, `.invalidArgument` for a constraint that
  ///   allows nothing, `.unsupported` where the store is no GeoPackage.
  public mutating func setConstraint(
    _ constraint: ColumnConstraint?, of column: String, in layer: LayerID
  ) throws(FieldpackError) {
    try geoPackage.setConstraint(constraint, of: column, in: layer)
  }
}

extension FeatureWriter {
  /// The transaction on a GeoPackage that this writer stands for.
  var geoPackage: GeoPackageTransaction {
    get throws(FieldpackError) {
      if let transaction = backing as? GeoPackageTransaction { return transaction }
      throw FieldpackError(.unsupported, "the store is no GeoPackage, which alone can keep this")
    }
  }
}

extension StoreSnapshot {
  /// The reading of a GeoPackage that this snapshot stands for.
  var geoPackage: GeoPackageReading {
    get throws(FieldpackError) {
      if let reading = backing as? GeoPackageReading { return reading }
      throw FieldpackError(.unsupported, "the store is no GeoPackage, which alone can keep this")
    }
  }
}
