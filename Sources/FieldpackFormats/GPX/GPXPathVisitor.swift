import FieldpackGeometry

/// Writes the positions of points and lines as GPX points.
struct GPXPathVisitor: WKBRunVisitor {
  enum Form: Equatable {
    /// `trkseg` for each line, whose lines without positions are passed over, or empty as well.
    case track(keepsEmpty: Bool)
    /// `rtept`, all in one row.
    case route
    /// Nothing but the positions, kept in ``points``.
    case points
  }

  /// What has been written.
  var bytes: [UInt8] = []
  private(set) var points: [(x: Double, y: Double, z: Double, m: Double)] = []
  /// Which of the segments written are empty.
  private(set) var emptySegments: [Int64] = []
  private var segmentCount: Int64 = 0
  /// The first position that is not on Earth.
  private(set) var problem: String?
  private var form = Form.points

  /// Forgets what has been written and keeps the storage.
  mutating func begin(_ form: Form) {
    self.form = form
    bytes.removeAll(keepingCapacity: true)
    points.removeAll(keepingCapacity: true)
    emptySegments.removeAll()
    segmentCount = 0
    problem = nil
  }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {}
  mutating func end(_ type: GeometryType) {}

  mutating func positions(
    _ run: RawSpan, _ count: Int, _ header: WKB.Header, at offset: Int, isRing: Bool
  ) {
    guard problem == nil else { return }
    switch form {
    case .points: gather(run, count, header)
    case .route: append(run, count, header, "<rtept lat=\"", "</rtept>\n")
    case .track(let keepsEmpty):
      guard count > 0 || keepsEmpty else { return }
      if count == 0 { emptySegments.append(segmentCount) }
      segmentCount += 1
      bytes.appendRun(upTo: 16) { $0.append("<trkseg>\n") }
      append(run, count, header, "<trkpt lat=\"", "</trkpt>\n")
      bytes.appendRun(upTo: 16) { $0.append("</trkseg>\n") }
    }
  }

  private mutating func gather(_ run: RawSpan, _ count: Int, _ header: WKB.Header) {
    for index in 0..<count {
      let position = Self.position(run, index, header)
      if problem == nil { problem = Self.problem(position.x, position.y) }
      points.append(position)
    }
  }

  /// Points for which room is reserved at once.
  private static let runLength = 32
  /// Four numbers and the tags around them.
  private static let pointRoom = 3 * NumberText.room + InstantText.room + 72

  private mutating func append(
    _ run: RawSpan, _ count: Int, _ header: WKB.Header, _ open: StaticString, _ close: StaticString
  ) {
    for start in stride(from: 0, to: count, by: Self.runLength) {
      let end = min(start + Self.runLength, count)
      var firstBad: Int?
      bytes.appendRun(upTo: (end - start) * Self.pointRoom) { text in
        for index in start..<end {
          let (x, y, z, m) = Self.position(run, index, header)
          guard abs(y) <= 90, abs(x) <= 180 else {
            firstBad = index
            return
          }
          text.append(open)
          Self.appendPosition(x, y, to: &text)
          GPXElementWriter.appendElevation(z, to: &text)
          GPXElementWriter.appendTime(m, to: &text)
          text.append(close)
        }
      }
      if let firstBad {
        let position = Self.position(run, firstBad, header)
        problem = Self.problem(position.x, position.y)
        return
      }
    }
  }

  @inline(__always)
  private static func position(
    _ run: RawSpan, _ index: Int, _ header: WKB.Header
  ) -> (x: Double, y: Double, z: Double, m: Double) {
    let (order, dimensions) = (header.byteOrder, header.dimensions)
    let step = 8 * dimensions.count
    let offset = index * step
    return (
      run.double(at: offset, order), run.double(at: offset + 8, order),
      dimensions.hasZ ? run.double(at: offset + 16, order) : .nan,
      dimensions.hasM ? run.double(at: offset + step - 8, order) : .nan
    )
  }

  /// Why GPX cannot hold the position, `nil` where it can.
  static func problem(_ x: Double, _ y: Double) -> String? {
    if !(abs(y) <= 90) { return "latitude \(y) is not from -90 to 90" }
    if !(abs(x) <= 180) { return "longitude \(x) is not from -180 to 180" }
    return nil
  }

  /// Appends what stands between `lat="` and the tag's end.
  @inline(__always)
  private static func appendPosition(_ x: Double, _ y: Double, to text: inout TextRun) {
    GPXValueText.append(decimal: y, to: &text)
    text.append("\" lon=\"")
    // longitudeType ends before 180.
    GPXValueText.append(decimal: x == 180 ? -180 : x, to: &text)
    text.append("\">")
  }

  static func appendStart(
    _ element: StaticString, _ x: Double, _ y: Double, to bytes: inout [UInt8]
  ) {
    bytes.appendRun(upTo: 2 * NumberText.room + 32) { text in
      text.append("<")
      text.append(element)
      text.append(" lat=\"")
      appendPosition(x, y, to: &text)
    }
  }
}
