import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackProjection

/// Tells, by a file's index, which features a query can be about.
struct FileIndex: Sendable {
  let features: FlatGeobufIndex
  /// The SRS of the file, and that of the layer made of it.
  private let srs: SRS
  private let layerSRS: SRS

  init(features: FlatGeobufIndex, options: ImportOptions) {
    self.features = features
    srs = options.sourceSRS ?? features.srs ?? .undefinedCartesian
    layerSRS = options.srs ?? srs
  }

  /// The most features that are read without the others.
  var limit: Int { max(1000, features.featureCount / 8) }

  /// Boxes in the file's SRS. The box of every feature that meets the filter touches one of them.
  ///
  /// `nil` where the filter names no place, or one that cannot be transformed: the query of the whole
  /// file then says why.
  func boxes(of filter: Filter) -> [Envelope]? {
    do throws(ProjectionError) {
      guard let boxes = try boxes(of: filter, negated: false), boxes.count <= 16 else { return nil }
      return boxes
    } catch {
      return nil
    }
  }

  private func boxes(
    of filter: Filter, negated: Bool
  ) throws(ProjectionError) -> [Envelope]? {
    switch filter {
    case .not(let part): return try boxes(of: part, negated: !negated)
    case .and(let parts) where !negated, .or(let parts) where negated:
      for part in parts {
        if let boxes = try boxes(of: part, negated: negated) { return boxes }
      }
      return nil
    case .or(let parts), .and(let parts):
      var all: [Envelope] = []
      for part in parts {
        guard let boxes = try boxes(of: part, negated: negated) else { return nil }
        all += boxes
      }
      return all.isEmpty ? nil : all
    case .envelope(let relation, let box, let srs):
      guard (relation == .disjoint) == negated else { return nil }
      return try transformed(box, from: srs)
    case .vertex(let box, let srs):
      return negated ? nil : try transformed(box, from: srs)
    case .relation(let relation, let geometry, let srs, _):
      guard (relation == .disjoint) == negated else { return nil }
      return try transformed(geometry, from: srs)
    default: return nil
    }
  }

  private func transformed(
    _ box: Envelope, from given: SRS?
  ) throws(ProjectionError) -> [Envelope]? {
    let given = given ?? layerSRS
    guard given != srs, !given.isUndefined, !srs.isUndefined else {
      guard box.minX > box.maxX else { return [box] }
      return [
        Envelope(minX: box.minX, minY: box.minY, maxX: .infinity, maxY: box.maxY),
        Envelope(minX: -.infinity, minY: box.minY, maxX: box.maxX, maxY: box.maxY),
      ]
    }
    return try CoordinateTransformation(from: given, to: srs).transform(box)
  }

  private func transformed(
    _ geometry: Geometry, from given: SRS?
  ) throws(ProjectionError) -> [Envelope]? {
    let given = given ?? layerSRS
    guard given != srs, !given.isUndefined, !srs.isUndefined else {
      return geometry.envelope.map { [$0] }
    }
    let transformation = try CoordinateTransformation(from: given, to: srs)
    return try transformation.transform(geometry).envelope.map { [$0] }
  }
}
