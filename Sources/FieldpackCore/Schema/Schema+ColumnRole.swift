extension Schema {
  /// The kind of column that a name in a condition or query means.
  public enum ColumnRole: Hashable, Sendable {
    /// The attribute at an index of ``Schema/columns``.
    case attribute(Int)
    case id
    case geometry
  }

  /// The column that `name` means: an exact match first, else one that ignores ASCII case, as SQL
  /// does. `geometry` means the geometry column, unless another column has that name.
  public func role(of name: String) -> ColumnRole? {
    if let index = columnIndex(name) { return .attribute(index) }
    let folded = name.uppercasedASCII
    func isMeant(_ column: String?) -> Bool {
      column?.uppercasedASCII.hasSameBytes(as: folded) ?? false
    }
    if isMeant(idColumn) { return .id }
    return geometry != nil && (isMeant(geometry?.name) || isMeant(CQL2.anyGeometry))
      ? .geometry : nil
  }

  /// The geometry column; where `name` is given, the column must have that name.
  ///
  /// - Throws: `.notFound`, naming the geometry column that the layer has.
  public func geometryColumn(named name: String? = nil) throws(FieldpackError) -> GeometryColumn {
    guard let geometry else {
      throw FieldpackError(
        .notFound, "layer '\(layer)' has no geometry for a spatial condition",
        location: .init(layer: layer))
    }
    guard let name, !name.uppercasedASCII.hasSameBytes(as: geometry.name.uppercasedASCII) else {
      return geometry
    }
    throw FieldpackError(
      .notFound,
      "layer '\(layer)' has no geometry column '\(name)' (it has '\(geometry.name)', which may "
        + "also be called geometry)", location: .init(layer: layer))
  }

  package func geometryIsNoValue(_ name: String) -> FieldpackError {
    FieldpackError(
      .invalidArgument,
      "the geometry column '\(name)' compares with nothing: use a relation such as "
        + "S_INTERSECTS, or IS NULL", location: .init(layer: layer))
  }

  /// The error for a column that the layer lacks; it suggests columns with similar names. For the name of
  /// the geometry it says that a geometry is no value.
  public func unknownColumn(_ name: String) -> FieldpackError {
    if case .geometry? = role(of: name) {
      return FieldpackError(
        .invalidArgument,
        "'\(name)' of layer '\(layer)' is the geometry of its features, and no value",
        location: .init(layer: layer))
    }
    let names = [idColumn, geometry?.name].compactMap(\.self) + columns.map(\.name)
    let listed = names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
    return FieldpackError(
      .notFound,
      "layer '\(layer)' has no column '\(name)'\(NearNames.question(name, in: names))"
        + " (it has: \(listed))", location: .init(layer: layer))
  }
}
