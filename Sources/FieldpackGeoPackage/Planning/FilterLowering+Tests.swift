import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

/// Tests with a DE-9IM pattern or a distance.
extension FilterLowering {
  func spatialTest(
    _ test: SpatialTest, _ geometry: Geometry, srs: SRS?, column name: String?, negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    let column = try geometrySQL(column: name)
    try test.check()
    if geometry.isEmpty { return .isFalse }
    let call: SQLFragment
    switch test {
    case .matrix(let pattern):
      let wkb = WKB.bytes(of: try project.geometry(geometry, from: srs, to: table))
      call = "fieldpack_relate(\(column), \(bind: [.blob(wkb), .text(pattern)])"
    case .within(let distance, .planar):
      let wkb = WKB.bytes(of: try project.geometry(geometry, from: srs, to: table))
      call = "fieldpack_dwithin(\(column), \(bind: [.blob(wkb), .real(distance)]), NULL"
    case .within(let distance, .geodesic):
      let (wkb, _, text) = try project.degrees(geometry, from: srs, beside: table)
      call = "fieldpack_dwithin(\(column), \(bind: [.blob(wkb), .real(distance), .text(text)])"
    }
    return "\(negated ? "NOT " : "")\(call), \(table.publicID), \(skipsErrors ? "1" : "0"))"
  }

  /// Boxes, in the layer's SRS, one of which the envelope of every match touches; `nil` for no
  /// limit.
  func candidateBoxes(
    _ test: SpatialTest, _ geometry: Geometry, srs: SRS?
  ) throws(FieldpackError) -> [Envelope]? {
    switch test {
    case .matrix(let pattern):
      guard RelationPattern.asksForSharedPoint(pattern) else { return nil }
      return try project.geometry(geometry, from: srs, to: table).envelope.map { [$0] }
    case .within(let distance, .planar):
      let literal = try project.geometry(geometry, from: srs, to: table)
      guard var box = literal.envelope, distance.isFinite else { return nil }
      box.minX = (box.minX - distance).nextDown
      box.minY = (box.minY - distance).nextDown
      box.maxX = (box.maxX + distance).nextUp
      box.maxY = (box.maxY + distance).nextUp
      return [box]
    case .within(let distance, .geodesic):
      let (wkb, system, _) = try project.degrees(geometry, from: srs, beside: table)
      let shape = try? GeodesicShape(wkb: wkb.span.bytes, on: system.ellipsoid)
      guard distance.isFinite, let shape else { return nil }
      let boxes = shape.boxes(within: distance)
      return system.transformation == nil ? boxes : projected(boxes)
    }
  }

  /// The boxes in the layer's SRS, enlarged by 1 % of the longer side because transforming a box
  /// samples its sides only; `nil` where a box cannot be transformed.
  private func projected(_ boxes: [Envelope]) -> [Envelope]? {
    var found: [Envelope] = []
    for box in boxes where box.maxX >= -180 && box.minX <= 180 {
      let part = Envelope(
        minX: max(-180, box.minX), minY: box.minY, maxX: min(180, box.maxX), maxY: box.maxY)
      guard let moved = try? project.boxes(part, from: .wgs84, to: table) else { return nil }
      found += moved.map { box in
        let room = 0.01 * max(box.width, box.height)
        return Envelope(
          minX: box.minX - room, minY: box.minY - room, maxX: box.maxX + room,
          maxY: box.maxY + room)
      }
    }
    return found.isEmpty ? nil : found
  }
}
