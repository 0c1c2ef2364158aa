import FieldpackCore
import FieldpackGeometry

/// Writes geometries as elements of KML: shells counterclockwise and holes clockwise, what is EMPTY
/// left out. A line with times as M is a `gx:Track`, and several are a `gx:MultiTrack`; other M is dropped.
struct KMLGeometryWriter {
  var bytes: [UInt8] = []
  /// What stands in each point, line and polygon before its coordinates, in the order that KML's
  /// schema asks for.
  let settings: [UInt8]
  /// Points have no `tessellate`.
  let pointSettings: [UInt8]
  /// Tracks have neither `extrude` nor `tessellate`.
  let trackSettings: [UInt8]
  /// Whether an M was dropped.
  private(set) var dropsM = false
  /// From 1990 to 2100: distances along a line are no times.
  private static let times = 631_152_000.0...4_102_444_800

  mutating func write(_ geometry: Geometry) throws(GeometryError) {
    switch geometry {
    case .point(let position, _): try point(position)
    case .lineString(let line): try self.line(line)
    case .polygon(let rings, _): try polygon(rings)
    case .multiPoint(let points, _):
      try collection { (writer) throws(GeometryError) in
        for point in points { try writer.point(point) }
      }
    case .multiLineString(let lines, _):
      // GDAL takes a MultiGeometry of tracks for a collection of any geometries.
      let areTracks = lines.allSatisfy { $0.isEmpty || Self.hasTimes($0) }
      try collection(areTracks ? "gx:MultiTrack" : "MultiGeometry") {
        (writer) throws(GeometryError) in
        for line in lines { try writer.line(line) }
      }
    case .multiPolygon(let polygons, _):
      try collection { (writer) throws(GeometryError) in
        for rings in polygons { try writer.polygon(rings) }
      }
    case .geometryCollection(let members, _):
      try collection { (writer) throws(GeometryError) in
        for member in members { try writer.write(member) }
      }
    default:
      throw GeometryError(.unknownType, at: 0, "KML has no \(geometry.type.name)")
    }
  }

  private mutating func collection(
    _ element: String = "MultiGeometry",
    _ members: (inout KMLGeometryWriter) throws(GeometryError) -> Void
  ) throws(GeometryError) {
    let start = bytes.count
    bytes += "<\(element)>".utf8
    let first = bytes.count
    try members(&self)
    guard bytes.count > first else {
      bytes.removeSubrange(start...)
      return
    }
    bytes += "</\(element)>".utf8
  }

  private mutating func point(_ position: Position?) throws(GeometryError) {
    guard let position else { return }
    if position.m != nil { dropsM = true }
    bytes += "<Point>".utf8
    bytes += pointSettings
    bytes += "<coordinates>".utf8
    try append(position)
    bytes += "</coordinates></Point>".utf8
  }

  private mutating func line(_ line: CoordinateSequence) throws(GeometryError) {
    guard !line.isEmpty else { return }
    if Self.hasTimes(line) { return try track(line) }
    if line.dimensions.hasM { dropsM = true }
    bytes += "<LineString>".utf8
    bytes += settings
    try append(line, isReversed: false)
    bytes += "</LineString>".utf8
  }

  /// Whether the M of a line ascend and are Unix seconds.
  private static func hasTimes(_ line: CoordinateSequence) -> Bool {
    guard line.dimensions.hasM else { return false }
    var last = times.lowerBound
    for position in line {
      guard let time = position.m, time >= last, times.contains(time) else { return false }
      last = time
    }
    return true
  }

  private mutating func track(_ line: CoordinateSequence) throws(GeometryError) {
    bytes += "<gx:Track>".utf8
    bytes += trackSettings
    for position in line {
      bytes += "<when>".utf8
      let milliseconds = Int64(((position.m ?? 0) * 1000).rounded())
      InstantText.append(Instant(milliseconds: milliseconds), isShort: true, to: &bytes)
      bytes += "</when>".utf8
    }
    for position in line {
      bytes += "<gx:coord>".utf8
      try append(position, separator: UInt8(ascii: " "))
      bytes += "</gx:coord>".utf8
    }
    bytes += "</gx:Track>".utf8
  }

  private mutating func polygon(_ rings: [CoordinateSequence]) throws(GeometryError) {
    guard let shell = rings.first, !shell.isEmpty else { return }
    if shell.dimensions.hasM { dropsM = true }
    bytes += "<Polygon>".utf8
    bytes += settings
    for (index, ring) in rings.enumerated() where !ring.isEmpty {
      let boundary = index == 0 ? "outerBoundaryIs" : "innerBoundaryIs"
      bytes += "<\(boundary)><LinearRing>".utf8
      try append(ring, isReversed: Self.isClockwise(ring) == (index == 0))
      bytes += "</LinearRing></\(boundary)>".utf8
    }
    bytes += "</Polygon>".utf8
  }

  private static func isClockwise(_ ring: CoordinateSequence) -> Bool {
    guard var last = ring.first else { return false }
    let origin = last
    var area = 0.0
    for position in ring {
      area += (last.x - origin.x) * (position.y - origin.y)
      area -= (position.x - origin.x) * (last.y - origin.y)
      last = position
    }
    return area < 0
  }

  private mutating func append(
    _ line: CoordinateSequence, isReversed: Bool
  ) throws(GeometryError) {
    bytes += "<coordinates>".utf8
    for index in line.indices {
      if index > 0 { bytes.append(UInt8(ascii: " ")) }
      try append(line[isReversed ? line.count - 1 - index : index])
    }
    bytes += "</coordinates>".utf8
  }

  private mutating func append(
    _ position: Position, separator: UInt8 = UInt8(ascii: ",")
  ) throws(GeometryError) {
    guard NumberText.append(position.x, to: &bytes) else { throw Self.notFinite }
    bytes.append(separator)
    guard NumberText.append(position.y, to: &bytes) else { throw Self.notFinite }
    guard let z = position.z, !z.isNaN else { return }
    bytes.append(separator)
    guard NumberText.append(z, to: &bytes) else { throw Self.notFinite }
  }

  private static let notFinite = GeometryError(
    .unknownType, at: 0, "it has a position that is not finite")
}
