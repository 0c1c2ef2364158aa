import FieldpackCore
import FieldpackGeometry
import FieldpackTopology

/// The operations of a query for one layer.
struct GeometrySteps: Sendable {
  var operations: GeometryOperations
  /// The clip box in the layer's SRS.
  var clip: Geometry?
  /// The tolerance of simplification, in units of the SRS of the answer.
  var tolerance: Double?
}

/// Applies a query's operations to one geometry after the other.
///
/// Confined to the thread of its connection, as its GEOS context is.
final class GeometryPipeline {
  private let steps: GeometrySteps
  private var context: TopologyContext?
  private var clip: PreparedGeometry?

  init(_ steps: GeometrySteps) { self.steps = steps }

  /// Applies the operations that work in the layer's own SRS; `false` where nothing is left.
  func prepare(_ wkb: inout [UInt8]) throws(TopologyError) -> Bool {
    if steps.operations.makesValid { try mend(&wkb) }
    guard let box = steps.clip else { return true }
    return try cut(&wkb, to: box)
  }

  /// Applies the operations that work in the SRS of the answer; gives the envelope.
  func finish(_ wkb: inout [UInt8]) throws(TopologyError) -> Envelope? {
    if let tolerance = steps.tolerance {
      wkb = try topology().read(wkb: wkb).simplified(tolerance: tolerance).wkb()
    }
    let operations = steps.operations
    do throws(GeometryError) {
      if operations.dimensions != nil || operations.promotes {
        var geometry = try WKB.read(wkb)
        if let dimensions = operations.dimensions {
          geometry = geometry.converted(to: dimensions)
        }
        if operations.promotes, operations.promotesToMulti || geometry.type != .point {
          geometry = geometry.promotedToMulti()
        }
        wkb = WKB.bytes(of: geometry)
        return geometry.envelope
      }
      return try WKB.envelope(of: wkb.span.bytes)
    } catch {
      throw TopologyError(.invalidGeometry, "the geometry is damaged: \(error)")
    }
  }

  private func topology() throws(TopologyError) -> TopologyContext {
    if let context { return context }
    let made = try TopologyContext()
    context = made
    return made
  }

  private func mend(_ wkb: inout [UInt8]) throws(TopologyError) {
    let geometry = try topology().read(wkb: wkb)
    guard try !geometry.isValid() else { return }
    wkb = WKB.bytes(of: try mended(try geometry.geometry()))
  }

  private func mended(_ geometry: Geometry) throws(TopologyError) -> Geometry {
    if case .geometryCollection(let members, let dimensions) = geometry {
      var kept: [Geometry] = []
      for member in members {
        let valid = try mended(member)
        if !valid.isEmpty || member.isEmpty { kept.append(valid) }
      }
      return .geometryCollection(kept, dimensions)
    }
    let shape = try topology().read(geometry)
    guard try !shape.isValid() else { return geometry }
    return try shape.madeValid().geometry().parts(ofExtent: geometry.extent)
  }

  private func cut(_ wkb: inout [UInt8], to box: Geometry) throws(TopologyError) -> Bool {
    let clip =
      if let clip = self.clip { clip } else { try PreparedGeometry(box, in: try topology()) }
    self.clip = clip
    switch try clip.test(.coveredBy, of: wkb.span.bytes) {
    case nil: return false
    case true?: return true
    case false?: break
    }
    let geometry = try topology().read(wkb: wkb).geometry()
    guard let rest = try rest(of: geometry, in: clip.base) else { return false }
    wkb = WKB.bytes(of: rest)
    return true
  }

  private func rest(
    of geometry: Geometry, in box: TopologyGeometry
  ) throws(TopologyError) -> Geometry? {
    if case .geometryCollection(let members, let dimensions) = geometry {
      var kept: [Geometry] = []
      for member in members {
        if let rest = try rest(of: member, in: box) { kept.append(rest) }
      }
      return kept.isEmpty ? nil : .geometryCollection(kept, dimensions)
    }
    let rest = try topology().read(geometry).intersection(box).geometry()
      .parts(ofExtent: geometry.extent)
    return rest.isEmpty ? nil : rest
  }
}

extension Geometry {
  /// 0 for points, 1 for lines, 2 for areas. A collection has the largest value of its members.
  fileprivate var extent: Int {
    switch self {
    case .point, .multiPoint: 0
    case .lineString, .multiLineString, .circularString: 1
    case .polygon, .multiPolygon: 2
    case .geometryCollection(let members, _): members.map(\.extent).max() ?? 0
    case .composite(.compoundCurve, _, _), .composite(.multiCurve, _, _): 1
    case .composite: 2
    }
  }

  /// The members of that extent alone, as a Multi type where there are several.
  fileprivate func parts(ofExtent wanted: Int) -> Geometry {
    guard case .geometryCollection(let members, let dimensions) = self else {
      return extent == wanted ? self : .multi(ofExtent: wanted, dimensions)
    }
    let kept = members.map { $0.parts(ofExtent: wanted) }.filter { !$0.isEmpty }
    if kept.count == 1 { return kept[0] }
    var points: [Position?] = []
    var lines: [CoordinateSequence] = []
    var polygons: [[CoordinateSequence]] = []
    for member in kept {
      switch member {
      case .point(let position, _): points.append(position)
      case .multiPoint(let positions, _): points += positions
      case .lineString(let line): lines.append(line)
      case .multiLineString(let members, _): lines += members
      case .polygon(let rings, _): polygons.append(rings)
      case .multiPolygon(let members, _): polygons += members
      default: break
      }
    }
    return .multi(ofExtent: wanted, dimensions, points, lines, polygons)
  }

  private static func multi(
    ofExtent extent: Int, _ dimensions: Dimensions, _ points: [Position?] = [],
    _ lines: [CoordinateSequence] = [], _ polygons: [[CoordinateSequence]] = []
  ) -> Geometry {
    switch extent {
    case 0: .multiPoint(points, dimensions)
    case 1: .multiLineString(lines, dimensions)
    default: .multiPolygon(polygons, dimensions)
    }
  }
}
