import Fieldpack
import FieldpackCore

/// Where this device is, for the apps that ask.
struct PositionArguments: OptionGroup {
  let name: SourceName?

  init(_ reader: inout OptionReader) {
    name = reader.value(
      "fixes", .source(),
      help: "Where this device is, for apps that ask: a receiver such as /dev/ttyACM0, or a pipe "
        + "with lines of NMEA, gpsd or JSON; or a GPX or other file, replayed at its pace.")
  }
}

extension Invocation {
  /// Opens the positions of this device, runs `body` and closes them, whatever happens.
  ///
  /// - Parameter body: gets `nil` where no positions are named.
  func withPositions(
    _ arguments: PositionArguments,
    _ body: ((any LocationSource)?) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    guard let name = arguments.name else { return try await body(nil) }
    // What a receiver writes comes at its own pace, and often begins within a line.
    let isFile = FixArguments.isStore(name.path, isPaced: true)
    let source = FixSource(
      name: name, arguments: FixArguments(skipsErrors: true),
      replay: isFile ? .lifelike : .unpaced, source: SourceArguments())
    return try await withFixes(source) { (fixes) throws(FieldpackError) in
      try await fixes.source.checkUse()
      return try await body(fixes.source)
    }
  }
}
