import FieldpackCore
import FieldpackNMEA

/// Makes a log of NMEA sentences.
struct NMEALines: TrackLogLines {
  private var decoder: NMEADecoder
  private let hasDate: Bool
  private var hasBegun = false

  /// - Parameter firstDay: the day number of the first time, `nil` where the file names none.
  init(firstDay: Int?) {
    decoder = NMEADecoder(firstDay: firstDay)
    hasDate = firstDay != nil
  }

  /// The day number of the first time in a file, from the first date in it.
  static func firstDay(in input: ByteInput) throws(FieldpackError) -> Int? {
    var decoder = NMEADecoder()
    var lines = LineBuffer(pieceSize: input.room(upTo: 1 << 16))
    input.rewind()
    while true {
      let count = try lines.fill { (room) throws(FieldpackError) in try input.read(into: room) }
      while let line = lines.next() ?? (count == 0 ? lines.last() : nil) {
        guard case .text(let range) = line else { continue }
        // What is wrong is told when the lines are read for good.
        try? lines.withBytes(range) { (bytes) throws(FieldpackError) in try decoder.take(bytes) }
        decoder.events.removeAll(keepingCapacity: true)
      }
      if count == 0 { decoder.finish() }
      if count == 0 || decoder.firstDay != nil { return decoder.firstDay }
    }
  }

  mutating func take(
    _ line: UnsafeBufferPointer<UInt8>, number: Int, into log: inout TrackLog
  ) throws(FieldpackError) {
    if !hasBegun, line.starts(with: [0xFF, 0xFE]) || line.starts(with: [0xFE, 0xFF]) {
      throw FieldpackError(.unsupported, "the text is UTF-16. Try: save it as UTF-8")
    }
    hasBegun = true
    guard !trimmed(line).isEmpty else { return }
    defer { giveEvents(to: &log) }
    try decoder.take(line)
  }

  mutating func finish(into log: inout TrackLog) {
    decoder.finish()
    giveEvents(to: &log)
    let hasDate = hasDate
    if log.isInTrack, !hasDate {
      log.notes.append("the file names no date: its fixes have a time of day alone")
    }
    log.endTrack { _ in }
  }

  private mutating func giveEvents(to log: inout TrackLog) {
    for event in decoder.events {
      switch event {
      case .fix(let fix): add(fix, to: &log)
      case .waypoint(let name, let longitude, let latitude):
        log.addWaypoint(.init(x: longitude, y: latitude)) { $0.set(.name, string: name) }
      case .heading: break
      }
    }
    decoder.events.removeAll(keepingCapacity: true)
  }

  private func add(_ fix: NMEAFix, to log: inout TrackLog) {
    if !log.isInTrack {
      log.beginTrack()
      log.beginSegment()
    }
    let vertex = TrackLog.Vertex(
      x: fix.longitude, y: fix.latitude, z: fix.elevation, time: fix.time)
    log.add(vertex) { Self.set(fix, in: &$0) }
  }

  private static func set(_ fix: NMEAFix, in row: inout GPXLayerBuilder) {
    let reals: [(GPXField, Double?)] = [
      (.geoidheight, fix.geoidHeight), (.hdop, fix.hdop), (.vdop, fix.vdop), (.pdop, fix.pdop),
      (.ageofdgpsdata, fix.ageOfCorrection), (.speed, fix.speed), (.course, fix.course),
    ]
    for (field, value) in reals {
      if let value { row.set(field, real: value) }
    }
    if let kind = fix.fix { row.set(.fix, string: kind) }
    if let count = fix.satellites { row.set(.sat, count) }
    if let station = fix.station { row.set(.dgpsid, station) }
    if let quality = fix.quality { row.set(extra: row.extra("quality"), .integer(Int64(quality))) }
    if let accuracy = fix.accuracy { row.set(extra: row.extra("accuracy"), .real(accuracy)) }
    if fix.time == nil, let time = fix.timeOfDay {
      var text = String(Instant(milliseconds: Int64(time)).description.dropFirst(11).dropLast())
      text.withUTF8 { row.set(extra: row.extra("time_of_day"), text: $0) }
    }
  }
}
