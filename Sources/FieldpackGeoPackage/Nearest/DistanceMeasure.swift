import FieldpackCore
package import FieldpackGeometry
import FieldpackProjection
import FieldpackTopology

/// Measures the distances of a layer's features from one geometry.
///
/// Confined to the thread of its connection, as its GEOS and PROJ contexts are.
final class DistanceMeasure {
  private enum Kind {
    case planar(PreparedGeometry)
    case geodesic(GeodesicShape, GeodesicSystem)
  }

  private let kind: Kind

  init(_ prepared: PreparedGeometry) { kind = .planar(prepared) }

  /// - Parameter system: the system of the features. The shape is in degrees.
  init(_ shape: GeodesicShape, _ system: GeodesicSystem) { kind = .geodesic(shape, system) }

  /// Whether features must be transformed to be measured. A box then costs as much as several
  /// features.
  var transforms: Bool {
    if case .geodesic(_, let system) = kind { system.transformation != nil } else { false }
  }

  /// A lower bound of the distance to any feature in the box, which is in the layer's SRS.
  func leastDistance(to box: Envelope) -> Double {
    switch kind {
    case .planar(let prepared): prepared.envelope.map { box.gap(to: $0) } ?? .infinity
    case .geodesic(let shape, let system): system.leastDistance(from: shape, to: box)
    }
  }

  /// The distance to a geometry; `nil` where one of the two is empty.
  func distance(to wkb: RawSpan) throws -> Double? {
    switch kind {
    case .planar(let prepared): try prepared.distance(to: wkb)
    case .geodesic(let shape, let system): try system.shape(of: wkb).distance(to: shape)
    }
  }

  /// Whether the distance is at most `limit`; `nil` where one of the two geometries is empty.
  func isWithin(_ limit: Double, of wkb: RawSpan) throws -> Bool? {
    switch kind {
    case .planar(let prepared): try prepared.isWithin(limit, of: wkb)
    case .geodesic(let shape, let system): try system.shape(of: wkb).isWithin(limit, of: shape)
    }
  }
}

extension QueryPlanner {
  /// Makes the measure of distances between the features of a layer and `geometry`.
  func measure(
    _ table: LayerTable, to geometry: Geometry, srs: SRS?, _ metric: DistanceMetric
  ) throws(FieldpackError) -> DistanceMeasure {
    let project = LiteralProjection(file: file, catalogue: catalogue)
    guard metric == .geodesic else {
      let literal = try project.geometry(geometry, from: srs, to: table)
      do throws(TopologyError) {
        return DistanceMeasure(
          try file.relations.prepared(WKB.bytes(of: literal).span.bytes))
      } catch {
        throw FieldpackError(
          .invalidArgument, "distances cannot be measured from the geometry: \(error)")
      }
    }
    let (shape, system) = try project.shape(geometry, from: srs, beside: table)
    return DistanceMeasure(shape, system)
  }
}

extension LiteralProjection {
  func degrees(
    _ geometry: Geometry, from srs: SRS?, beside table: LayerTable
  ) throws(FieldpackError) -> (wkb: [UInt8], system: GeodesicSystem, text: String) {
    let (system, reference) = try system(of: table)
    var wkb = WKB.bytes(of: geometry)
    let own = table.schema.geometry?.srs
    do throws(ProjectionError) {
      if srs == nil || srs == own {
        try system.transformation?.transform(wkb: &wkb)
      } else if let srs, !srs.isUndefined, own?.isUndefined != true {
        // Features of geographic systems are measured in their own system, all others in WGS 84.
        let target = system.transformation == nil ? reference : SRSReference(.wgs84)
        try file.transformations.transformation(from: SRSReference(srs), to: target)
          .transform(wkb: &wkb)
      }
      return (wkb, system, reference.text)
    } catch {
      throw FieldpackError(
        .invalidArgument, "distances cannot be measured from the geometry: \(error)",
        location: .init(store: file.store, layer: table.layer.id), underlying: error)
    }
  }

  /// The geometry as a geodesic shape, and the system that measures the layer's features.
  func shape(
    _ geometry: Geometry, from srs: SRS?, beside table: LayerTable
  ) throws(FieldpackError) -> (GeodesicShape, GeodesicSystem) {
    let (wkb, system, _) = try degrees(geometry, from: srs, beside: table)
    do throws(ProjectionError) {
      return (try GeodesicShape(wkb: wkb.span.bytes, on: system.ellipsoid), system)
    } catch {
      throw FieldpackError(
        .invalidArgument, "distances cannot be measured from the geometry: \(error)",
        location: .init(store: file.store, layer: table.layer.id), underlying: error)
    }
  }

  /// The system that measures the layer's features on the ellipsoid. Throws `.notFound` for a layer
  /// without a location on Earth, as for a layer that lacks a column.
  func system(of table: LayerTable) throws(FieldpackError) -> (GeodesicSystem, SRSReference) {
    let location = KeyTuple.Partial(store: file.store, layer: table.layer.id)
    let srs = table.schema.geometry?.srs
    guard srs != .undefinedCartesian else {
      throw FieldpackError(
        .notFound,
        "layer '\(table.layer.id)' has no defined SRS, so distances in metres have no meaning "
          + "in it", location: location)
    }
    let reference =
      srs == .undefinedGeographic
      ? SRSReference(.undefinedGeographic) : try file.reference(of: table, in: catalogue)
    do throws(ProjectionError) {
      return (try file.geodesics(reference), reference)
    } catch {
      throw FieldpackError(error, location: location)
    }
  }
}

extension Envelope {
  /// The distance between the boxes, 0 where they meet.
  package func gap(to other: Envelope) -> Double {
    let dx = max(0, other.minX - maxX, minX - other.maxX)
    let dy = max(0, other.minY - maxY, minY - other.maxY)
    return (dx * dx + dy * dy).squareRoot()
  }
}
