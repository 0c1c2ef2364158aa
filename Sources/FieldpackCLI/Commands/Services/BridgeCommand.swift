import Fieldpack
import FieldpackCore
import FieldpackServices

extension FieldpackTool {
  static var bridgeCommand: Command {
    Command(
      "bridge", abstract: "Answer the messages of SpatialConnect's pages, line by line.",
      discussion: """
        Each line of standard input is a message, such as {"type": 102}. Each line of the output \
        is a reply: an event and its data. The event is the responseId of the message, or its \
        type. The event of the last reply to a message ends with _completed or _error. Types are \
        the numbers of version 0.10 or names such as v1/DATASERVICE_QUERY.

        Lists of stores and forms, the position, the status of the sign-in and the connection to \
        the backend are written again whenever they change, until the input ends. The position is \
        that of --fixes, and is kept in the store LOCATION_STORE. 'fieldpack serve --config' gives \
        pages in a browser the same bridge.
        """,
      examples: [
        "fieldpack bridge survey.scfg <messages.jsonl",
        "fieldpack bridge survey.scfg --fixes /dev/ttyACM0",
        "echo '{\"type\":110,\"payload\":{\"storeId\":[\"wells\"]}}' | fieldpack bridge survey.scfg",
      ],
      family: positionsFamily, body: BridgeCommand.self)
  }
}

/// `fieldpack bridge`.
private struct BridgeCommand: CommandBody {
  struct Options: OptionGroup {
    let source: ServiceArguments
    let positions: PositionArguments
    let allowsUnencrypted: Bool

    init(_ reader: inout OptionReader) {
      source = reader.group()
      positions = reader.group()
      allowsUnencrypted = reader.insecure()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    _ = try WorkspaceConfig([options.source.config], allowing: options.source.allowsPaths)
    guard options.positions.name?.path != "-" else {
      throw FieldpackError(
        .invalidArgument, "standard input holds the messages. Try: --fixes FILE, or a named pipe")
    }
    return try await invocation.withPositions(options.positions) {
      (positions) throws(FieldpackError) in try await run(with: positions)
    }
  }

  private func run(with positions: (any LocationSource)?) async throws(FieldpackError) -> Int32 {
    let services = try await StartedServices(
      options.source, allowsUnencrypted: options.allowsUnencrypted, connects: true,
      positions: positions, invocation.logger)
    await services.start()
    for failure in await services.configs.failures { invocation.console.note(failure.text) }
    do throws(FieldpackError) {
      try await answer(services)
      if let failure = await services.location?.failure { invocation.console.note("\(failure)") }
      _ = await services.stop()
      return ExitStatus.success
    } catch {
      _ = await services.stop()
      throw error
    }
  }

  private func answer(_ services: StartedServices) async throws(FieldpackError) {
    let output = ReplyOutput(invocation.cancellation)
    let session = BridgeSession(of: services.bridge) { output.write($0.text) }
    await session.start()
    let lines = LineReading<String>.messages
    do throws(FieldpackError) {
      while let messages = try await lines.next() {
        for message in messages { await session.receive(message) }
      }
    } catch {
      await session.cancel()
      try output.finish()
      throw error
    }
    await session.finish()
    try output.finish()
  }
}

/// Standard output, a reply a line.
private final class ReplyOutput: Sendable {
  private let output = Locked(ByteOutput(descriptor: 1))
  private let failure = Locked<FieldpackError?>(nil)
  private let cancellation: CommandCancellation

  /// - Parameter cancellation: ends the command where nobody reads any more.
  init(_ cancellation: CommandCancellation) { self.cancellation = cancellation }

  func write(_ line: String) {
    output.withLock { output in
      do throws(FieldpackError) {
        output.buffer.append(contentsOf: (line + "\n").utf8)
        try output.flush()
      } catch {
        failure.withLock { $0 = $0 ?? error }
        cancellation.cancel()
      }
    }
  }

  func finish() throws(FieldpackError) {
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}

extension LineReading where Element == String {
  /// The lines of standard input that are not empty.
  fileprivate static var messages: LineReading {
    LineReading { stop in
      var reader = MessageReader(stop)
      return { () throws(FieldpackError) in try reader.next() }
    }
  }
}

/// Reads the messages in the lines of standard input.
private struct MessageReader {
  private let stop: StopSignal
  private var lines = LineBuffer(limit: 16 << 20)
  private var opened: OpenInput?
  private var hasEnded = false

  init(_ stop: StopSignal) { self.stop = stop }

  /// The next line that is not empty; `nil` at the end.
  mutating func next() throws(FieldpackError) -> [String]? {
    while true {
      if let line = hasEnded ? lines.last() : lines.next() {
        let text = try text(of: line)
        if text.contains(where: { !$0.isWhitespace }) { return [text] }
      } else if hasEnded {
        return nil
      } else {
        try fill()
      }
    }
  }

  private func text(of line: LineBuffer.Line) throws(FieldpackError) -> String {
    guard case .text(let range) = line else {
      throw FieldpackError(
        .invalidData, "the message is longer than 16 MiB",
        position: FilePosition(file: "standard input", line: lines.number))
    }
    return lines.withBytes(range) { String(decoding: $0, as: UTF8.self) }
  }

  private mutating func fill() throws(FieldpackError) {
    let source =
      if let opened { opened } else { try LineInput.descriptor(0, name: "standard input").open() }
    opened = source
    let stop = stop
    let count = try lines.fill { (room) throws(FieldpackError) in
      try source.read(into: room, until: stop)
    }
    hasEnded = count == 0
  }
}
