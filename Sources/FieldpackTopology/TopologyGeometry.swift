import CGEOS
public import FieldpackGeometry

/// A geometry in GEOS, to be related, measured and worked with.
///
/// Comes from ``TopologyContext/read(_:)`` and keeps its context alive; confined to one task with
/// it. Lengths and areas are in the units of the geometry's reference system. Operations on two
/// geometries of one context, or of two, work in the first one's.
public final class TopologyGeometry {
  let context: TopologyContext
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer, in context: TopologyContext) {
    self.pointer = pointer
    self.context = context
  }

  deinit { GEOSGeom_destroy_r(context.handle, pointer) }

  /// Whether there is no position at all.
  public var isEmpty: Bool { GEOSisEmpty_r(context.handle, pointer) == 1 }

  /// Another geometry, in this one's context.
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

  /// The box around the geometry in x and y; `nil` when it is empty.
  public var envelope: Envelope? {
    guard !isEmpty else { return nil }
    var box = Envelope.empty
    let done = GEOSGeom_getExtent_r(
      context.handle, pointer, &box.minX, &box.minY, &box.maxX, &box.maxY)
    return done == 1 ? box : nil
  }
}

extension TopologyGeometry {
  /// A number that GEOS writes through a pointer.
  func number(
    _ what: String, _ call: (OpaquePointer, OpaquePointer, UnsafeMutablePointer<Double>) -> Int32
  ) throws(TopologyError) -> Double {
    var value = 0.0
    guard call(context.handle, pointer, &value) == 1 else {
      throw context.failure("GEOS cannot tell the \(what)")
    }
    return value
  }

  /// An answer that GEOS gives as 1, 0, or 2 on exception.
  func answer(
    _ what: @autoclosure () -> String, _ result: CChar
  ) throws(TopologyError) -> Bool {
    switch result {
    case 0: return false
    case 1: return true
    default: throw context.failure("GEOS cannot tell whether \(what())")
    }
  }

  /// A geometry that GEOS makes, NULL on exception.
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
