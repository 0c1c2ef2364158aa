import FieldpackCore
import FieldpackGeometry

/// What is known of a Training Center document while its events come.
struct TCXDocument: ~Copyable {
  /// The elements that matter, by name, whatever their namespace.
  private enum Tag: String {
    case database = "TrainingCenterDatabase"
    case activity = "Activity"
    case course = "Course"
    case track = "Track"
    case trackpoint = "Trackpoint"
    case coursePoint = "CoursePoint"
    case id = "Id"
    case name = "Name"
    case notes = "Notes"
    case creator = "Creator"
    case time = "Time"
    case position = "Position"
    case latitude = "LatitudeDegrees"
    case longitude = "LongitudeDegrees"
    case altitude = "AltitudeMeters"
    case distance = "DistanceMeters"
    case heartRate = "HeartRateBpm"
    case value = "Value"
    case cadence = "Cadence"
    case sensorState = "SensorState"
    case pointType = "PointType"
    case extensions = "Extensions"
    case tpx = "TPX"
    case speed = "Speed"
    case runCadence = "RunCadence"
    case watts = "Watts"
    case other
  }

  /// Where a text goes.
  private enum Target: Hashable {
    case latitude, longitude
    case field(GPXField)
    case extra(String)
  }

  private let log: UnsafeMutablePointer<TrackLog>
  private var open: [Tag] = []
  private var text = GrowingBytes()
  private var isLeaf = false
  private var track: [(Target, [UInt8])] = []
  private var point: [(Target, [UInt8])] = []
  private var pointLine = 0
  private var moments = MomentReader()
  private var withoutPosition = 0

  private init(_ log: UnsafeMutablePointer<TrackLog>) {
    self.log = log
    open.reserveCapacity(XMLPushParser.maximumDepth)
  }

  static func parse(
    _ log: inout TrackLog, file: String, isWhole: Bool,
    fill: (UnsafeMutableRawBufferPointer) throws(FieldpackError) -> Int,
    drain: (inout TrackLog) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    try withUnsafeMutablePointer(to: &log) { (log) throws(FieldpackError) in
      var document = TCXDocument(log)
      try withUnsafeMutablePointer(to: &document) { (document) throws(FieldpackError) in
        let parser = try XMLPushParser(file: file, handler: Handler(document))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
        defer { buffer.deallocate() }
        while true {
          let count = try filled(buffer, by: fill)
          do throws(FieldpackError) {
            try parser.push(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            if count == 0, isWhole { try parser.finish() }
          } catch  where parser.isBroken {
            document.pointee.closeTrack()
            try log.pointee.breakOff(at: error)
            break
          }
          guard count > 0 else { break }
          try drain(&log.pointee)
        }
        document.pointee.finish()
        try drain(&log.pointee)
      }
    }
  }

  /// Fills the whole buffer, but at the end of the file, and gives the number of bytes.
  ///
  /// What libxml2 tells of broken XML before the break depends on where the pieces that it gets end.
  private static func filled(
    _ buffer: UnsafeMutableRawBufferPointer,
    by fill: (UnsafeMutableRawBufferPointer) throws(FieldpackError) -> Int
  ) throws(FieldpackError) -> Int {
    var count = 0
    while count < buffer.count {
      let more = try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
      guard more > 0 else { break }
      count += more
    }
    return count
  }

  /// Closes what is open where the head of a file ends.
  private mutating func finish() {
    closeTrack()
    guard withoutPosition > 0 else { return }
    log.pointee.notes.append("\(withoutPosition) track points without a position are left out")
  }

  // MARK: Events

  private mutating func startElement(
    _ name: XMLName, _ attributes: XMLAttributes, in parser: XMLPushParser
  ) throws(FieldpackError) {
    let tag = Tag(rawValue: String(cString: name.local)) ?? .other
    if open.isEmpty, tag != .database {
      throw FieldpackError(
        .invalidData, "not a TCX file: its root element is '\(String(cString: name.local))'",
        position: parser.position)
    }
    switch tag {
    case .activity, .course: beginTrack(attributes)
    case .track where log.pointee.isInTrack: log.pointee.beginSegment()
    case .trackpoint, .coursePoint:
      point.removeAll(keepingCapacity: true)
      pointLine = parser.line
    default: break
    }
    open.append(tag)
    isLeaf = true
    text.removeAll()
  }

  private mutating func beginTrack(_ attributes: XMLAttributes) {
    closeTrack()
    log.pointee.beginTrack()
    for index in 0..<attributes.count
    where attributes.name(index)?.local.equals("Sport") == true {
      track.append((.field(.type), Array(attributes.value(index))))
    }
  }

  private mutating func endElement() throws(FieldpackError) {
    let tag = open.popLast() ?? .other
    if isLeaf, let target = target(of: tag) {
      let value = Array(trimmed(text.bytes))
      if !value.isEmpty {
        if open.contains(.trackpoint) || open.contains(.coursePoint) {
          point.append((target, value))
        } else {
          track.append((target, value))
        }
      }
    }
    isLeaf = false
    switch tag {
    case .trackpoint where open.last == .track: try closePoint(isWaypoint: false)
    case .coursePoint: try closePoint(isWaypoint: true)
    case .activity, .course: closeTrack()
    default: break
    }
  }

  private mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
    if isLeaf { text.append(bytes) }
  }

  /// Where the text of a leaf goes; `open` are the elements around it.
  private func target(of tag: Tag) -> Target? {
    switch (tag, open.last) {
    case (.latitude, .position) where isInPoint: .latitude
    case (.longitude, .position) where isInPoint: .longitude
    case (.value, .heartRate) where isInPoint: .extra("heart_rate")
    case (.speed, .tpx) where isInPoint: .field(.speed)
    case (.runCadence, .tpx) where isInPoint: .extra("run_cadence")
    case (.watts, .tpx) where isInPoint: .extra("power")
    case (_, .trackpoint): ofTrackpoint(tag)
    case (_, .coursePoint): ofCoursePoint(tag)
    case (.id, .activity), (.name, .course): .field(.name)
    case (.notes, .activity), (.notes, .course): .field(.desc)
    case (.name, .creator): .field(.src)
    default: nil
    }
  }

  private var isInPoint: Bool { open.contains(.trackpoint) || open.contains(.coursePoint) }

  private func ofTrackpoint(_ tag: Tag) -> Target? {
    switch tag {
    case .time: .field(.time)
    case .altitude: .field(.ele)
    case .distance: .extra("distance")
    case .cadence: .extra("cadence")
    case .sensorState: .extra("sensor_state")
    default: nil
    }
  }

  private func ofCoursePoint(_ tag: Tag) -> Target? {
    switch tag {
    case .time: .field(.time)
    case .altitude: .field(.ele)
    case .name: .field(.name)
    case .notes: .field(.desc)
    case .pointType: .field(.type)
    default: nil
    }
  }

  // MARK: Features

  private mutating func closeTrack() {
    let values = track
    track.removeAll()
    log.pointee.endTrack { row in
      for (target, value) in values { Self.set(target, value, in: &row) }
    }
  }

  private mutating func closePoint(isWaypoint: Bool) throws(FieldpackError) {
    let values = point
    let latitude = values.first { $0.0 == .latitude }?.1
    let longitude = values.first { $0.0 == .longitude }?.1
    guard latitude != nil || longitude != nil else {
      withoutPosition += 1
      return
    }
    guard let y = Self.degrees(latitude, limit: 90), let x = Self.degrees(longitude, limit: 180)
    else {
      return try log.pointee.refuse(Self.outside(latitude, longitude), line: pointLine)
    }
    var vertex = TrackLog.Vertex(x: x, y: y)
    for (target, value) in values {
      value.withUnsafeBufferPointer { value in
        if target == .field(.ele) { vertex.z = NumberParser.double(value) }
        if target == .field(.time) { vertex.time = moments.read(value)?.instant }
      }
    }
    // A height or time that could be read is set from the vertex.
    let (z, time) = (vertex.z, vertex.time)
    let fill: (inout GPXLayerBuilder) -> Void = { row in
      for (target, value) in values {
        if target == .field(.ele), z != nil { continue }
        if target == .field(.time), time != nil { continue }
        Self.set(target, value, in: &row)
      }
    }
    if isWaypoint {
      log.pointee.addWaypoint(vertex, fill: fill)
    } else {
      log.pointee.add(vertex, fill: fill)
    }
  }

  private static func set(_ target: Target, _ value: [UInt8], in row: inout GPXLayerBuilder) {
    value.withUnsafeBufferPointer { value in
      switch target {
      case .field(let field): row.set(field, text: value)
      case .extra(let name): row.set(extra: row.extra(name), text: value)
      case .latitude, .longitude: break
      }
    }
  }

  private static func degrees(_ text: [UInt8]?, limit: Double) -> Double? {
    guard let value = text?.withUnsafeBufferPointer({ NumberParser.double($0) }),
      abs(value) <= limit
    else { return nil }
    return value
  }

  private static func outside(_ latitude: [UInt8]?, _ longitude: [UInt8]?) -> FieldpackError {
    let isLatitude = degrees(latitude, limit: 90) == nil
    let name = isLatitude ? "LatitudeDegrees" : "LongitudeDegrees"
    let limit = isLatitude ? 90 : 180
    guard let text = isLatitude ? latitude : longitude else {
      return FieldpackError(.invalidData, "the point has no \(name)")
    }
    let shown = String(decoding: text.prefix(40), as: UTF8.self)
    return FieldpackError(
      .invalidData, "\(name) '\(shown)' is not a number from -\(limit) to \(limit)")
  }

  /// Hands the events on.
  private final class Handler: XMLHandling {
    private let document: UnsafeMutablePointer<TCXDocument>

    init(_ document: UnsafeMutablePointer<TCXDocument>) { self.document = document }

    func startElement(
      _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
      in parser: XMLPushParser
    ) throws(FieldpackError) {
      try document.pointee.startElement(name, attributes, in: parser)
    }

    func endElement(_ name: XMLName, in parser: XMLPushParser) throws(FieldpackError) {
      try document.pointee.endElement()
    }

    func characters(
      _ bytes: UnsafeBufferPointer<UInt8>, in parser: XMLPushParser
    ) throws(FieldpackError) {
      document.pointee.characters(bytes)
    }
  }
}
