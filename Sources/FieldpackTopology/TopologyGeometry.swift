import CGEOS
public import FieldpackGeometry

/// A geometry in GEOS, for relations, measures and operations.
///
/// Made by ``TopologyContext/read(_:)``. It keeps its context alive and is confined to one task
/// with it. Lengths and areas are in the units of the geometry's reference system. An operation on
/// geometries of two contexts works in the first one's context.
public final class TopologyGeometry {
  let context: TopologyContext
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer, in context: TopologyContext) {
    self.pointer = pointer
    self.context = context
  }

  deinit { GEOSGeom_destroy_r(context.handle, pointer) }

  /// Whether the geometry has no position.
  public var isEmpty: Bool { GEOSisEmpty_r(context.handle, pointer) == 1 }

  /// Reads another geometry in this one's context.
  package func reading(_ wkb: RawSpan) throws(TopologyError) -> TopologyGeometry {
    try context.read(wkb: wkb)
  }

  /// The geometry in ISO WKB, little-endian, with z where it has one.
  public func wkb() throws(TopologyError) -> [UInt8] {
    try context.bytes(of: pointer)
  }

  /// The geometry as a value.
  public func geometry() throws(TopologyError) -> Geometry {
    let bytes = try wkb()
    do throws(GeometryError) {
      return try WKB.read(bytes)
    } catch {
      throw TopologyError(.failed, "GEOS wrote a geometry that cannot be read: \(error)")
    }
  }

  /// The box around the geometry in x and y; `nil` where the geometry is empty.
  public var envelope: Envelope? {
    guard !isEmpty else { return nil }
    var box = Envelope.empty
    let done = GEOSGeom_getExtent_r(
      context.handle, pointer, &box.minX, &box.minY, &box.maxX, &box.maxY)
    return done == 1 ? box : nil
  }
}

extension TopologyGeometry {
  /// Calls GEOS for a number that it writes through a pointer.
  func number(
    _ what: String, _ call: (OpaquePointer, OpaquePointer, UnsafeMutablePointer<Double>) -> Int32
  ) throws(TopologyError) -> Double {
    var value = 0.0
    guard call(context.handle, pointer, &value) == 1 else {
      throw context.failure("GEOS cannot tell the \(what)")
    }
    return value
  }

  /// Calls GEOS for an answer of 1 or 0; GEOS returns 2 on an exception.
  func answer(
    _ what: @autoclosure () -> String, _ result: CChar
  ) throws(TopologyError) -> Bool {
    switch result {
    case 0: return false
    case 1: return true
    default: throw context.failure("GEOS cannot tell whether \(what())")
    }
  }

  /// Calls GEOS for a new geometry; GEOS returns NULL on an exception.
  func made(
    _ what: String, _ result: OpaquePointer?
  ) throws(TopologyError) -> TopologyGeometry {
    guard let result else { throw context.failure("GEOS cannot make \(what)") }
    return TopologyGeometry(result, in: context)
  }

  func check(_ value: Double, _ name: String) throws(TopologyError) {
    guard value.isFinite else {
      throw TopologyError(.invalidArgument, "the \(name) is \(value), not a finite number")
    }
  }
}
