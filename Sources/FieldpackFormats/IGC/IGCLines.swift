import FieldpackCore
import FieldpackNMEA

/// Makes a log of the records of a flight recorder (FAI, "Technical Specification for GNSS Flight
/// Recorders", appendix A).
struct IGCLines: TrackLogLines {
  private var header = IGCHeader()
  private var extensions: [IGCExtension] = []
  /// The column of each extension that is a column of its own.
  private var columns: [String: Int] = [:]
  private var day: Int?
  private var lastTime: Int?
  private var hasRecord = false

  mutating func take(
    _ line: UnsafeBufferPointer<UInt8>, number: Int, into log: inout TrackLog
  ) throws(FieldpackError) {
    let line = trimmed(line)
    guard let first = line.first else { return }
    if !hasRecord { try begin(line) }
    switch first {
    case UInt8(ascii: "A"): header.recorder = String(decoding: line.dropFirst(), as: UTF8.self)
    case UInt8(ascii: "H"): try takeHeader(line)
    case UInt8(ascii: "I"): extensions = try IGCExtension.read(line)
    case UInt8(ascii: "B"): try takeFix(line, into: &log)
    default: break
    }
  }

  /// The first record names the recorder, which tells the format.
  private mutating func begin(_ line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) {
    guard IGCHeader.isRecorder(line) else {
      throw FieldpackError(
        .unsupported,
        "not an IGC file: the first record is an A record with the recorder's code")
    }
    hasRecord = true
  }

  private mutating func takeHeader(
    _ line: UnsafeBufferPointer<UInt8>
  ) throws(FieldpackError) {
    guard let date = try header.take(line) else { return }
    day = date
    lastTime = nil
  }

  private mutating func takeFix(
    _ line: UnsafeBufferPointer<UInt8>, into log: inout TrackLog
  ) throws(FieldpackError) {
    let fix = try IGCFix(line, extensions)
    let shift = lastTime.map { NMEAClock.days(from: $0, to: fix.timeOfDay) } ?? 0
    day = day.map { $0 + shift }
    lastTime = fix.timeOfDay
    if !log.isInTrack {
      log.beginTrack()
      log.beginSegment()
    }
    let time = day.map {
      Instant(milliseconds: Int64($0 * NMEAClock.dayLength + fix.timeOfDay))
    }
    let vertex = TrackLog.Vertex(x: fix.longitude, y: fix.latitude, z: fix.elevation, time: time)
    let extensions = extensions
    var columns = columns
    log.add(vertex) { row in
      row.set(.fix, string: fix.is3D ? "3d" : "2d")
      if let altitude = fix.pressureAltitude {
        row.set(extra: row.extra("pressure_altitude"), .integer(Int64(altitude)))
      }
      for part in extensions { part.set(line, in: &row, &columns) }
    }
    self.columns = columns
  }

  mutating func finish(into log: inout TrackLog) throws(FieldpackError) {
    guard hasRecord else { return }
    if log.isInTrack, day == nil {
      log.notes.append("the file has no HFDTE record: its fixes have no time")
    }
    let header = header
    log.endTrack { header.set(in: &$0) }
  }
}
