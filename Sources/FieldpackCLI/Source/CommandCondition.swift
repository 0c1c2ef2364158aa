import FieldpackCore

/// The conditions of `--where`: CQL2, or `@` and the file that holds it.
enum CommandCondition {
  static func filter(_ condition: String, source: String) throws(FieldpackError) -> Filter {
    if condition == "@-", source == "-" {
      throw FieldpackError(
        .invalidArgument, "standard input cannot be both the source and the condition")
    }
    let (text, name) = try text(condition)
    do throws(FieldpackError) {
      return try Filter(cql2: text)
    } catch {
      var position = error.position ?? FilePosition()
      position.file = name
      throw FieldpackError(
        error.code, error.message, advice: error.advice, location: error.location,
        position: position,
        underlying: error.underlying)
    }
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The condition, and where it stands: no condition begins with an `@`.
  private static func text(
    _ argument: String
  ) throws(FieldpackError) -> (text: String, name: String) {
    guard argument.hasPrefix("@") else { return (argument, "--where") }
    let path = String(argument.dropFirst())
    let input =
      path == "-"
      ? try ByteInput(spooling: 0, name: "stdin") { (_) throws(FieldpackError) in
        try checkCancellation()
      } : try ByteInput(path: path)
    // A mark and one byte more than a condition may have, so that one that is too long is told as
    // such.
    var bytes = try input.head(byteOrderMark.count + CQL2.maximumByteCount + 1)[...]
    if bytes.starts(with: byteOrderMark) { bytes = bytes.dropFirst(byteOrderMark.count) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FieldpackError(
        .invalidArgument, "the condition is not UTF-8", position: FilePosition(file: input.name))
    }
    return (text, input.name)
  }
}
