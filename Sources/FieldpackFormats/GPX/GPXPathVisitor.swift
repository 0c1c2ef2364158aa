import FieldpackGeometry

/// Writes the positions of points and lines as GPX points.
struct GPXPathVisitor: GeometryVisitor {
  enum Form: Equatable {
    /// `trkseg` for each line.
    case track
    /// `rtept`, all in one row.
    case route
    /// Nothing but the positions, kept in ``points``.
    case points
  }

  /// What has been written.
  var bytes: [UInt8] = []
  private(set) var points: [(x: Double, y: Double, z: Double, m: Double)] = []
  /// The first position that is not on Earth.
  private(set) var problem: String?
  private let form: Form
  private var isSegmentOpen = false

  init(_ form: Form) { self.form = form }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    isSegmentOpen = false
  }

  mutating func beginRing(count: Int?) {}
  mutating func endRing() {}

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    if problem == nil { problem = Self.problem(x, y) }
    guard problem == nil else { return }
    guard form != .points else {
      points.append((x, y, z, m))
      return
    }
    // A line without positions is no segment.
    if form == .track, !isSegmentOpen { append("<trkseg>\n") }
    isSegmentOpen = true
    let element = form == .track ? "trkpt" : "rtept"
    Self.appendStart(element, x, y, to: &bytes)
    GPXElementWriter.appendElevation(z, to: &bytes)
    GPXElementWriter.appendTime(m, to: &bytes)
    append("</\(element)>\n")
  }

  mutating func end(_ type: GeometryType) {
    if form == .track, isSegmentOpen { append("</trkseg>\n") }
    isSegmentOpen = false
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Why GPX cannot hold the position, `nil` where it can.
  static func problem(_ x: Double, _ y: Double) -> String? {
    if !(abs(y) <= 90) { return "latitude \(y) is not from -90 to 90" }
    if !(abs(x) <= 180) { return "longitude \(x) is not from -180 to 180" }
    return nil
  }

  static func appendStart(_ element: String, _ x: Double, _ y: Double, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: "<\(element) lat=\"".utf8)
    _ = GPXValueText.append(decimal: y, to: &bytes)
    bytes.append(contentsOf: "\" lon=\"".utf8)
    // longitudeType ends before 180.
    _ = GPXValueText.append(decimal: x == 180 ? -180 : x, to: &bytes)
    bytes.append(contentsOf: "\">".utf8)
  }
}
