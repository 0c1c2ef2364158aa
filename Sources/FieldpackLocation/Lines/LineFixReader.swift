import FieldpackCore

/// Reads the updates in the lines of an input, as many as one read gives at a time.
struct LineFixReader {
  private static let maximumLines = 1024

  private let input: LineInput
  private let options: LineSource.Options
  private let report: QueryReport
  private let stop: StopSignal
  private var opened: OpenInput?
  private var lines: LineBuffer
  private var parser: FixLineParser
  private var updates: [LocationUpdate] = []
  /// What the reading ends with, once all updates before it are given.
  private var ending: Result<Void, FieldpackError>?
  private var hasEnded = false

  init(
    _ input: LineInput, _ options: LineSource.Options, report: QueryReport, stop: StopSignal
  ) {
    self.input = input
    self.options = options
    self.report = report
    self.stop = stop
    lines = LineBuffer(limit: options.lineLimit)
    parser = FixLineParser(format: options.format, device: options.device)
  }

  /// The updates of the next lines, never none; `nil` at the end.
  mutating func next() throws(FieldpackError) -> [LocationUpdate]? {
    while true {
      if let ending {
        try ending.get()
        return nil
      }
      try stop.check()
      updates.removeAll(keepingCapacity: true)
      do throws(FieldpackError) {
        try takeLines()
      } catch {
        ending = .failure(error)
      }
      if !updates.isEmpty { return updates }
    }
  }

  /// Takes the lines that are there, after a read where there are none.
  private mutating func takeLines() throws(FieldpackError) {
    var count = 0
    while count < Self.maximumLines, let line = hasEnded ? lines.last() : lines.next() {
      try take(line)
      count += 1
    }
    guard count == 0 else { return }
    if hasEnded {
      parser.finish(into: &updates)
      ending = .success(())
    } else {
      hasEnded = try read() == 0
    }
  }

  private mutating func read() throws(FieldpackError) -> Int {
    let source: OpenInput
    if let opened {
      source = opened
    } else {
      source = try input.open()
      opened = source
    }
    let stop = stop
    return try lines.fill { (room) throws(FieldpackError) in
      try source.read(into: room, until: stop)
    }
  }

  private mutating func take(_ line: LineBuffer.Line) throws(FieldpackError) {
    do throws(FieldpackError) {
      guard case .text(let range) = line else {
        throw FieldpackError(
          .invalidData, "the line is longer than \(options.lineLimit) bytes and no fix")
      }
      let mayBeCut = lines.number == 1 && opened?.isRegular == false
      try lines.withBytes(range) { (bytes) throws(FieldpackError) in
        if mayBeCut, FixLineParser.isEndOfSentence(bytes) { return }
        try parser.take(bytes, into: &updates)
      }
    } catch {
      let position = FilePosition(file: input.name, line: lines.number)
      guard options.skipsErrors else { throw located(error, position) }
      report.add(
        skipped: SkippedFeature(
          location: .init(), position: position, reason: error.message, advice: error.advice))
    }
  }

  private func located(_ error: FieldpackError, _ position: FilePosition) -> FieldpackError {
    FieldpackError(
      error.code, error.message, advice: error.advice?.then(.skipLines) ?? .skipLines,
      position: position, underlying: error.underlying)
  }
}
