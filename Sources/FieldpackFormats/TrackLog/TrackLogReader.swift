public import FieldpackCore
import FieldpackGeometry

/// Reads the logs of receivers (NMEA 0183, IGC) and of sports watches (TCX) as tracks.
///
/// The layers are those of a GPX file, `tracks` and `track_points`, and `waypoints` where the file
/// has some, with the columns that ``GPXReader`` gives and what the format has beyond them:
///
/// - **NMEA**: one track of the fixes; `sat`, `fix`, `hdop`, `vdop`, `pdop`, `geoidheight`,
///   `ageofdgpsdata`, `dgpsid`, `speed` (m/s), `course`, `quality` (GGA's), `accuracy` (m, of GST). A
///   date behind the first fixes holds for them, too; where there is none `time_of_day` stands
///   alone. WPL sentences are waypoints.
/// - **IGC**: one track; `ele` is the GNSS altitude above the ellipsoid, `pressure_altitude` and
///   `fix` (3d for A, 2d for V) beside it, and every extension of the I record under its code in
///   small letters (`fxa`, `enl`), but SIU as `sat` and TRT as `course`; LAD, LOD and TDS make
///   positions and times finer. The track has `pilot`, `glider_type`, `glider_id`,
///   `competition_id` and `recorder`. Tasks, events and security records are not read.
/// - **TCX**: a track for each activity and course, a segment for each of their `Track` elements;
///   `distance` (m), `heart_rate`, `cadence`, `run_cadence`, `power` (W), `sensor_state`, `speed`
///   (m/s). Course points are waypoints. The totals of laps are not read; points without a
///   position are counted in a note.
///
/// A line or point that cannot be read is an error with its line; ``ReadOptions/skipsErrors`` passes
/// over it.
public struct TrackLogReader: FileReader {
  public enum Kind: Hashable, Sendable, CaseIterable {
    case nmea, igc, tcx
  }

  private let input: ByteInput
  private let kind: Kind
  private let options: ReadOptions
  /// How many tracks the layer has before the file is added; `track_fid` counts from there.
  private var tracksBefore = 0
  private var tracksRead = 0
  /// How much of a file is looked at to guess its layers.
  static let headLength = 1 << 19

  public init(_ input: ByteInput, kind: Kind, options: ReadOptions) {
    self.input = input
    self.kind = kind
    self.options = options
  }

  public mutating func numberPaths(after before: (tracks: Int, routes: Int)) {
    tracksBefore = before.tracks
  }

  public var pathsRead: (tracks: Int, routes: Int) { (tracksRead, 0) }

  public mutating func assume() throws(FieldpackError) -> [FileLayer] {
    try input.check(options, numbers: "the points of a log are numbered")
    var log = log(asking: [])
    let isWhole = input.size <= Self.headLength
    input.rewind()
    var left = Self.headLength
    try parse(&log, isWhole: isWhole) { (room) throws(FieldpackError) in
      guard left > 0 else { return 0 }
      let part = UnsafeMutableRawBufferPointer(rebasing: room[..<min(left, room.count)])
      let count = try input.read(into: part)
      left -= count
      return count
    } drain: { (_) throws(FieldpackError) in
    }
    return log.found
  }

  public mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    try input.check(options, numbers: "the points of a log are numbered")
    for layer in layers { try sink.begin(layer.schema) }
    var announced = layers.last?.schema.layer
    var log = log(asking: layers)
    var bytesRead = 0
    input.rewind()
    try parse(&log, isWhole: true) { (room) throws(FieldpackError) in
      let count = try input.read(into: room)
      bytesRead += count
      try options.progress?(bytesRead)
      return count
    } drain: { (log) throws(FieldpackError) in
      try log.drain(&announced, into: &sink)
    }
    tracksRead = log.tracksRead
    return log.result
  }

  private func log(asking layers: [FileLayer]) -> TrackLog {
    var log = TrackLog(file: input.name, options: options) { kind in
      let name = LayerID(
        options.prefixesLayers ? "\(options.layer)_\(kind.name)" : kind.name)
      return GPXLayerBuilder(
        kind: kind, layer: name, asked: layers.first { $0.schema.layer == name }?.schema)
    }
    log.tracksBefore = tracksBefore
    return log
  }

  private typealias Fill = (UnsafeMutableRawBufferPointer) throws(FieldpackError) -> Int
  private typealias Drain = (inout TrackLog) throws(FieldpackError) -> Void

  private func parse(
    _ log: inout TrackLog, isWhole: Bool, fill: Fill, drain: Drain
  ) throws(FieldpackError) {
    switch kind {
    case .nmea:
      var lines = NMEALines(firstDay: try NMEALines.firstDay(in: input))
      input.rewind()
      try parse(&lines, &log, isWhole: isWhole, fill: fill, drain: drain)
    case .igc:
      var lines = IGCLines()
      try parse(&lines, &log, isWhole: isWhole, fill: fill, drain: drain)
    case .tcx:
      try TCXDocument.parse(&log, file: input.name, isWhole: isWhole, fill: fill, drain: drain)
    }
  }

  private func parse(
    _ parser: inout some TrackLogLines, _ log: inout TrackLog, isWhole: Bool, fill: Fill,
    drain: Drain
  ) throws(FieldpackError) {
    var lines = LineBuffer(pieceSize: input.room(upTo: 1 << 16))
    var hasMore = true
    while hasMore {
      hasMore = try lines.fill(fill) > 0
      while let line = hasMore ? lines.next() : isWhole ? lines.next() ?? lines.last() : nil {
        do throws(FieldpackError) {
          guard case .text(let range) = line else {
            throw FieldpackError(.invalidData, "the line is longer than \(lines.limit) bytes")
          }
          try lines.withBytes(range) { (bytes) throws(FieldpackError) in
            try parser.take(bytes, number: lines.number, into: &log)
          }
        } catch {
          try log.refuse(error, line: lines.number)
        }
      }
      try drain(&log)
    }
    try parser.finish(into: &log)
    try drain(&log)
  }
}

/// What makes a log of the lines of a file.
protocol TrackLogLines {
  /// - Throws: `.invalidData` for a line that is passed over where errors are skipped.
  mutating func take(
    _ line: UnsafeBufferPointer<UInt8>, number: Int, into log: inout TrackLog
  ) throws(FieldpackError)
  mutating func finish(into log: inout TrackLog) throws(FieldpackError)
}
