import FieldpackGeometry

extension SpatialTest {
  /// Throws for a DE-9IM pattern that is none, and for a distance that is not a number.
  package func check() throws(FieldpackError) {
    switch self {
    case .matrix(let pattern):
      guard !RelationPattern.isPattern(pattern) else { return }
      throw FieldpackError(.invalidArgument, RelationPattern.complaint(pattern))
    case .within(let distance, _):
      guard distance.isNaN || distance < 0 else { return }
      throw FieldpackError(.invalidArgument, "a distance of \(distance) holds nothing")
    }
  }

  /// The same test with the two geometries exchanged.
  var mirrored: SpatialTest {
    switch self {
    case .matrix(let pattern): .matrix(RelationPattern.transposed(pattern))
    case .within: self
    }
  }

  /// The function's name in CQL2 Text; it is an extension of the standard, which allows for more
  /// functions.
  var functionName: String {
    switch self {
    case .matrix: "S_RELATE"
    case .within: "S_DWITHIN"
    }
  }

  /// The arguments behind the two geometries.
  var arguments: [Operand] {
    switch self {
    case .matrix(let pattern): [.literal(.text(pattern))]
    case .within(let distance, .geodesic): [.literal(.real(distance))]
    case .within(let distance, let metric):
      [.literal(.real(distance)), .literal(.text(metric.rawValue))]
    }
  }

  /// The test for a function's name and the arguments behind its two geometries.
  static func named(
    _ name: String, _ arguments: [Value]
  ) throws(CQL2.Mistake) -> SpatialTest {
    switch (name, arguments.first, arguments.dropFirst().first) {
    case ("S_RELATE", .text(let pattern)?, nil):
      guard RelationPattern.isPattern(pattern) else {
        throw CQL2.Mistake(RelationPattern.complaint(pattern))
      }
      return .matrix(pattern)
    case ("S_RELATE", _, _):
      throw CQL2.Mistake("S_RELATE takes two geometries and a DE-9IM pattern in quotes")
    case ("S_DWITHIN", let distance?, let metric) where arguments.count <= 2:
      let number = Double(attributeValue: distance)
      let wanted: DistanceMetric? =
        switch metric {
        case nil: .geodesic
        case .text(let name)?: DistanceMetric(rawValue: name)
        default: nil
        }
      guard let number, number >= 0, let wanted else { break }
      return .within(number, wanted)
    default: break
    }
    throw CQL2.Mistake(
      "S_DWITHIN takes two geometries, a distance that is not negative, in metres, and perhaps "
        + "'planar' for units of the layer's system")
  }
}

extension CQL2 {
  /// The functions that take arguments behind their two geometries.
  static let tests = ["S_DWITHIN", "S_RELATE"]

  /// The filter for a test of two geometries, one of which must be a column.
  static func test(
    _ test: SpatialTest, _ a: SpatialOperand, _ b: SpatialOperand
  ) throws(Mistake) -> Filter {
    switch (a, b) {
    case (.column(let name), .geometry(let geometry, let srs)):
      return .test(test, geometry, srs: srs, column: name)
    case (.geometry(let geometry, let srs), .column(let name)):
      return .test(test.mirrored, geometry, srs: srs, column: name)
    default:
      throw Mistake("one of the two geometries has to be the geometry column, the other none")
    }
  }
}
