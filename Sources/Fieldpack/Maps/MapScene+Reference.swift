import FieldpackCore
import FieldpackGeometry
import FieldpackMaps
import FieldpackProjection

extension MapScene {
  /// The reference system of a map, with the length of its unit where the map is.
  func reference(in envelope: Envelope) -> MapReference {
    let srs = targets.first?.schema.geometry?.srs ?? .wgs84
    guard srs != .wgs84 else { return .wgs84 }
    guard !srs.isUndefined else {
      return MapReference(
        name: "no reference system", isGeographic: isGeographic,
        metres: isGeographic ? nil : .nan)
    }
    guard let definition = try? SRSCatalogue().definition(of: srs) else {
      return MapReference(name: "\(srs)", isGeographic: isGeographic)
    }
    return MapReference(
      name: "\(definition.name), \(srs)", isGeographic: isGeographic,
      unit: isGeographic ? nil : Self.symbol(of: definition.unit),
      metres: isGeographic
        ? nil : Self.metres(of: srs, in: envelope) ?? definition.unitFactor)
  }

  private static func symbol(of unit: String) -> String {
    switch unit {
    case "metre": "m"
    case "foot": "ft"
    case "US survey foot": "ftUS"
    default: unit
    }
  }

  /// The length of a unit of x in the middle of the map, which differs from the unit's own where the
  /// projection stretches.
  private static func metres(of srs: SRS, in envelope: Envelope) -> Double? {
    guard !envelope.isEmpty, let system = try? CoordinateTransformation(from: srs, to: .wgs84)
    else { return nil }
    let (x, y) = (
      envelope.minX / 2 + envelope.maxX / 2, envelope.minY / 2 + envelope.maxY / 2
    )
    let step = max(envelope.width / 100, 1)
    guard let west = system.transform(Position(x: x - step / 2, y: y)),
      let east = system.transform(Position(x: x + step / 2, y: y))
    else { return nil }
    let metres = Geodesic.wgs84.distance(from: west, to: east) / step
    return metres.isFinite && metres > 0 ? metres : nil
  }
}
