import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackTopology

/// The operations of a query for one layer.
struct GeometrySteps: Sendable {
  var operations: GeometryOperations
  /// The clip area in the layer's SRS.
  var clip: Geometry?
  var buffer: LayerBuffer?
  /// The tolerance of simplification, in units of the SRS of the answer.
  var tolerance: Double?
}

/// How the geometries of a layer are buffered.
struct LayerBuffer: Sendable {
  /// In metres on the ellipsoid, or in the units of the layer's SRS.
  var distance: Double
  var style: BufferStyle
  /// The ellipsoid of a layer in longitude and latitude; `nil` in the plane.
  var ellipsoid: Geodesic?
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
    if let area = steps.clip, try !cut(&wkb, to: area) { return false }
    if let buffer = steps.buffer { try grow(&wkb, by: buffer) }
    return true
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
    let context = try topology()
    guard try context.validity(of: wkb.span.bytes) != .valid else { return }
    wkb = WKB.bytes(of: try context.mended(context.read(wkb: wkb).geometry()))
  }

  private func grow(_ wkb: inout [UInt8], by buffer: LayerBuffer) throws(TopologyError) {
    let context = try topology()
    guard let ellipsoid = buffer.ellipsoid else {
      wkb = try context.read(wkb: wkb).buffered(by: buffer.distance, style: buffer.style).wkb()
      return
    }
    let geodesic = GeodesicBuffer(
      metres: buffer.distance, style: buffer.style, on: ellipsoid, in: context)
    wkb = WKB.bytes(of: try geodesic.buffer(of: try context.read(wkb: wkb).geometry()))
  }

  private func cut(_ wkb: inout [UInt8], to area: Geometry) throws(TopologyError) -> Bool {
    let clip =
      if let clip = self.clip { clip } else { try PreparedGeometry(area, in: try topology()) }
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
    of geometry: Geometry, in area: TopologyGeometry
  ) throws(TopologyError) -> Geometry? {
    if case .geometryCollection(let members, let dimensions) = geometry {
      var kept: [Geometry] = []
      for member in members {
        if let rest = try rest(of: member, in: area) { kept.append(rest) }
      }
      return kept.isEmpty ? nil : .geometryCollection(kept, dimensions)
    }
    let rest = try topology().read(geometry).intersection(area).geometry()
      .parts(ofExtent: geometry.extent)
    return rest.isEmpty ? nil : rest
  }
}
