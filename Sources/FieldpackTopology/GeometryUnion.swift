import CGEOS
import FieldpackGeometry

/// Merges any number of geometries into one while they arrive (`ST_Union` as an aggregate,
/// dissolve).
///
/// Geometries are gathered in groups. GEOS merges a group at once, along a tree of neighbours, and
/// the results of groups are merged two by two like the digits of a binary number. So memory only
/// holds one group and the merged results, and a geometry is merged only a logarithmic number of
/// times. Confined to one task together with its context.
public final class GeometryUnion {
  private let context: TopologyContext
  private var group: [OpaquePointer] = []
  /// The merged results, each of a number of groups that is a power of two; the largest first.
  private var melted: [(groups: Int, geometry: OpaquePointer)] = []

  private static let groupSize = 512

  public init(in context: TopologyContext) { self.context = context }

  deinit {
    for geometry in group { GEOSGeom_destroy_r(context.handle, geometry) }
    for part in melted { GEOSGeom_destroy_r(context.handle, part.geometry) }
  }

  /// Adds one geometry in well-known binary; an empty one changes nothing.
  /// - Throws: ``TopologyError/Kind/invalidGeometry``, ``TopologyError/Kind/notFinite``,
  ///   ``TopologyError/Kind/failed``.
  public func add(_ wkb: RawSpan) throws(TopologyError) {
    group.append(try context.makeGeometry(wkb))
    if group.count == Self.groupSize { try meltGroup() }
  }

  /// All geometries so far as one; `nil` where there was none.
  public func result() throws(TopologyError) -> TopologyGeometry? {
    if !group.isEmpty { try meltGroup() }
    while melted.count > 1 { try meltLastTwo() }
    guard let whole = melted.last else { return nil }
    guard let copy = GEOSGeom_clone_r(context.handle, whole.geometry) else {
      throw context.failure("GEOS cannot make the union")
    }
    return TopologyGeometry(copy, in: context)
  }

  private func meltGroup() throws(TopologyError) {
    melted.append((1, try union(of: &group)))
    while melted.count > 1, melted[melted.count - 2].groups == melted[melted.count - 1].groups {
      try meltLastTwo()
    }
  }

  private func meltLastTwo() throws(TopologyError) {
    let (second, first) = (melted.removeLast(), melted.removeLast())
    var both = [first.geometry, second.geometry]
    melted.append((first.groups + second.groups, try union(of: &both)))
  }

  /// Merges the geometries of the list and empties it, also where merging fails.
  private func union(of members: inout [OpaquePointer]) throws(TopologyError) -> OpaquePointer {
    var parts: [OpaquePointer?] = members
    let count = UInt32(truncatingIfNeeded: parts.count)
    members.removeAll(keepingCapacity: true)
    let made = parts.withUnsafeMutableBufferPointer {
      GEOSGeom_createCollection_r(
        context.handle, Int32(GEOS_GEOMETRYCOLLECTION.rawValue), $0.baseAddress, count)
    }
    guard let collection = made else {
      throw context.failure("GEOS cannot gather the geometries of the union")
    }
    defer { GEOSGeom_destroy_r(context.handle, collection) }
    guard let union = GEOSUnaryUnion_r(context.handle, collection) else {
      throw context.failure("GEOS cannot make the union")
    }
    return union
  }
}
