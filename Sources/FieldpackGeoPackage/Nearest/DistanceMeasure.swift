import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackTopology

/// The distances of a layer's features from one geometry.
///
/// Confined to the thread of its connection, as the contexts of GEOS and PROJ in it are.
final class DistanceMeasure {
  private enum Kind {
    case planar(PreparedGeometry)
    case geodesic(GeodesicShape, GeodesicSystem)
  }

  private let kind: Kind

  init(_ prepared: PreparedGeometry) { kind = .planar(prepared) }

  /// - Parameter system: that of the features; the shape is in degrees.
  init(_ shape: GeodesicShape, _ system: GeodesicSystem) { kind = .geodesic(shape, system) }

  /// Whether features have to be transformed to be measured, so that a box costs as much as some.
  var transforms: Bool {
    if case .geodesic(_, let system) = kind { system.transformation != nil } else { false }
  }

  /// No feature in the box, which is in the layer's SRS, is nearer.
  func leastDistance(to box: Envelope) -> Double {
    switch kind {
    case .planar(let prepared): prepared.envelope.map { box.gap(to: $0) } ?? .infinity
    case .geodesic(let shape, let system): system.leastDistance(from: shape, to: box)
    }
  }

  /// `nil` where one of both is empty.
  func distance(to wkb: RawSpan) throws -> Double? {
    switch kind {
    case .planar(let prepared): try prepared.distance(to: wkb)
    case .geodesic(let shape, let system): try system.shape(of: wkb).distance(to: shape)
    }
  }

  /// Whether no more than `limit` lies between both; `nil` where one of both is empty.
  func isWithin(_ limit: Double, of wkb: RawSpan) throws -> Bool? {
    switch kind {
    case .planar(let prepared): try prepared.isWithin(limit, of: wkb)
    case .geodesic(let shape, let system): try system.shape(of: wkb).isWithin(limit, of: shape)
    }
  }
}

extension QueryPlanner {
  /// What measures the distance between the features of a layer and `geometry`.
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
        // Features of geographic systems are measured where they are, all others in WGS 84.
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

  /// The geometry ready to be measured from, and how the layer's features are measured beside it.
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

  /// How features of a layer are measured on the ellipsoid. A layer that has no place on Earth is
  /// an error of code `.notFound`, as one that lacks a column.
  func system(of table: LayerTable) throws(FieldpackError) -> (GeodesicSystem, SRSReference) {
    let place = KeyTuple.Partial(store: file.store, layer: table.layer.id)
    let srs = table.schema.geometry?.srs
    guard srs != .undefinedCartesian else {
      throw FieldpackError(
        .notFound,
        "layer '\(table.layer.id)' has no defined SRS, so distances in metres have no meaning "
          + "in it", location: place)
    }
    let reference =
      srs == .undefinedGeographic
      ? SRSReference(.undefinedGeographic) : try file.reference(of: table, in: catalogue)
    do throws(ProjectionError) {
      return (try file.geodesics(reference), reference)
    } catch {
      throw FieldpackError(error, location: place)
    }
  }
}
