public import FieldpackCore
public import FieldpackField
import FieldpackFormats
import FieldpackLocation

/// Samples from lines of JSON: of standard input, a file, a pipe or a device.
///
/// A line is an object with any of the twelve channels as members, such as
/// `{"time":1714557600.02,"ax":0.01,"ay":-0.5,"az":-0.83}`. A section has all three channels or
/// none; `null` counts as absent, and other members are ignored. `time`, or `t_unix`, is seconds
/// since 1970; without it a sample has the time at which it is read. Reading blocks on a thread of
/// its own.
public final class MotionLines: TimedMotionSource {
  public let isLive: Bool
  /// The lines that were skipped; the first 1,000 of them are listed.
  public let report = QueryReport()
  private let reading: LineReading<MotionSample>
  private let waiting = Locked<ArraySlice<MotionSample>>([])

  /// Reads lines from an open descriptor, which stays open.
  ///
  /// - Parameters:
  ///   - name: what errors call it.
  ///   - isLive: whether samples that cannot be posted in time are lost, as with a sensor.
  ///   - skipsErrors: whether lines that cannot be read are skipped and reported.
  public convenience init(
    descriptor: Int32, name: String = "stdin", isLive: Bool = false, skipsErrors: Bool = false,
    clock: FieldClock = .system
  ) {
    self.init(.descriptor(descriptor, name: name), isLive, skipsErrors, clock)
  }

  /// Reads lines from a file, pipe or device.
  public convenience init(
    path: String, isLive: Bool = false, skipsErrors: Bool = false, clock: FieldClock = .system
  ) {
    self.init(.path(path), isLive, skipsErrors, clock)
  }

  private init(_ input: LineInput, _ isLive: Bool, _ skipsErrors: Bool, _ clock: FieldClock) {
    self.isLive = isLive
    let report = report
    reading = LineReading { stop in
      var reader = MotionLineReader(input, skipsErrors ? report : nil, clock, stop)
      return { () throws(FieldpackError) in try reader.next() }
    }
  }

  public func nextSample() async throws(FieldpackError) -> MotionSample? {
    if let sample = waiting.withLock({ $0.popFirst() }) { return sample }
    guard let samples = try await reading.next() else { return nil }
    return waiting.withLock { waiting in
      waiting = samples[...]
      return waiting.popFirst()
    }
  }
}

/// Reads the samples in the lines of an input, as many as one read gives at a time.
private struct MotionLineReader {
  private let input: LineInput
  /// Takes the lines that are passed over; `nil` passes over none.
  private let report: QueryReport?
  private let clock: FieldClock
  private let stop: StopSignal
  private var opened: OpenInput?
  private var lines = LineBuffer(limit: MotionRequest.maximumTextLength * 16)
  private var samples: [MotionSample] = []
  /// What the reading ends with, once all samples before it are given.
  private var ending: Result<Void, FieldpackError>?

  init(_ input: LineInput, _ report: QueryReport?, _ clock: FieldClock, _ stop: StopSignal) {
    self.input = input
    self.report = report
    self.clock = clock
    self.stop = stop
  }

  /// The samples of the next lines, never none; `nil` at the end.
  mutating func next() throws(FieldpackError) -> [MotionSample]? {
    while true {
      if let ending {
        try ending.get()
        return nil
      }
      try stop.check()
      samples = []
      do throws(FieldpackError) { try read() } catch { ending = .failure(error) }
      if !samples.isEmpty { return samples }
    }
  }

  private mutating func read() throws(FieldpackError) {
    let source = if let opened { opened } else { try input.open() }
    opened = source
    let stop = stop
    let count = try lines.fill { (room) throws(FieldpackError) in
      try source.read(into: room, until: stop)
    }
    while let line = lines.next() { try take(line) }
    guard count == 0 else { return }
    if let line = lines.last() { try take(line) }
    ending = .success(())
  }

  private mutating func take(_ line: LineBuffer.Line) throws(FieldpackError) {
    do throws(FieldpackError) {
      guard case .text(let range) = line else {
        throw FieldpackError(.invalidData, "the line is longer than \(lines.limit) bytes")
      }
      let sample = try lines.withBytes(range) { (bytes) throws(FieldpackError) in
        try MotionSample(line: bytes, now: clock.unixSeconds)
      }
      if let sample { samples.append(sample) }
    } catch {
      let position = FilePosition(file: input.name, line: lines.number)
      guard let report else { throw error.adding(position: position) }
      report.add(
        skipped: SkippedFeature(location: .init(), position: position, reason: error.message))
    }
  }
}

extension MotionSample {
  /// The sample of a line; `nil` for a blank one.
  fileprivate init?(
    line: UnsafeBufferPointer<UInt8>, now: Double
  ) throws(FieldpackError) {
    guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return nil }
    let node: JSONValue
    do throws(JSONMistake) {
      node = try JSONValueReader.read(line, maximumDepth: 8)
    } catch {
      throw FieldpackError(
        .invalidData, "the line is not JSON: byte \(error.offset): \(error.message)")
    }
    guard case .object = node else {
      throw FieldpackError(.invalidData, "the line is \(node.kind), not an object")
    }
    var values: [Double?] = []
    for channel in MotionChannel.allCases {
      values.append(try Self.number(channel.rawValue, of: node))
    }
    for (index, section) in MotionSection.allCases.enumerated() {
      let missing = section.channels.indices.filter { values[index * 3 + $0] == nil }
      guard missing.isEmpty || missing.count == section.channels.count else {
        throw FieldpackError(
          .invalidData,
          "the line has some of \(section.rawValue), but no "
            + section.channels[missing[0]].rawValue)
      }
    }
    let reading = MotionReading(values)
    guard !reading.sections.isEmpty else {
      throw FieldpackError(
        .invalidData, "the line has no channel (pitch, roll, yaw, ax … rz)")
    }
    var time = try Self.number("time", of: node)
    if time == nil { time = try Self.number("t_unix", of: node) }
    guard MotionRequest.timestamps.contains(time ?? 0) else {
      throw FieldpackError(.invalidData, "time is no moment of the years 1970 to 9999")
    }
    self.init(time: time ?? now, reading: reading)
  }

  private static func number(
    _ name: String, of node: JSONValue
  ) throws(FieldpackError) -> Double? {
    guard let value = node[name], value != .null else { return nil }
    guard let number = value.number else {
      throw FieldpackError(.invalidData, "\(name) is \(value.kind), not a number")
    }
    guard number.isFinite else {
      throw FieldpackError(.invalidData, "\(name) is beyond all numbers")
    }
    return number
  }
}
