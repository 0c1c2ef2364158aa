public import FieldpackCore

extension FeatureWriter {
  /// Gives a column a constraint, which every later write must meet, or removes its constraint.
  ///
  /// Existing values are not tested. Columns with the same constraint share its name; where a
  /// different constraint has the name, `_2` is added.
  /// - Throws: `.notFound` for an unknown layer or column, `.invalidArgument` for a constraint that
  ///   allows nothing, `.unsupported` where the store is no GeoPackage.
  public mutating func setConstraint(
    _ constraint: ColumnConstraint?, of column: String, in layer: LayerID
  ) throws(FieldpackError) {
    try geoPackage.setConstraint(constraint, of: column, in: layer)
  }
}

extension FeatureWriter {
  /// The GeoPackage transaction behind this writer.
  var geoPackage: GeoPackageTransaction {
    get throws(FieldpackError) {
      if let transaction = backing as? GeoPackageTransaction { return transaction }
      throw FieldpackError(.unsupported, "the store is no GeoPackage, which alone can keep this")
    }
  }
}

extension StoreSnapshot {
  /// The GeoPackage reading behind this snapshot.
  var geoPackage: GeoPackageReading {
    get throws(FieldpackError) {
      if let reading = backing as? GeoPackageReading { return reading }
      throw FieldpackError(.unsupported, "the store is no GeoPackage, which alone can keep this")
    }
  }
}
