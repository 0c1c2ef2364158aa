extension JSONScanner {
  /// What is wrong with a token, for callers that word their errors themselves.
  enum Fault {
    /// A control character in a string.
    case control
    /// The text ends within a string.
    case openString
    /// The text ends behind the backslash of an escape.
    case openEscape
    case unknownEscape
    case hexadecimalDigits
    /// A number has no digit.
    case digit
    case fractionDigit
    case exponentDigit
    /// What follows a number is neither a sign of JSON nor blank.
    case numberEnd
  }

  /// The error for a token, whose fault and its place are kept in `fault`.
  mutating func failure(_ fault: Fault, _ message: String, at index: Int) -> FieldpackError {
    self.fault = (fault, index)
    return failure(message, at: index)
  }

  /// The error for what stands at `index` of the window, by default at the cursor.
  @usableFromInline @inline(never)
  func failure(_ message: String, at index: Int? = nil) -> FieldpackError {
    FieldpackError(
      .invalidData, message,
      position: FilePosition(
        file: input?.name, byteOffset: offset(of: index ?? cursor), feature: feature))
  }

  /// The error of a caller about what stands at a byte of the file.
  package func failure(
    _ message: String, advice: FieldpackError.Advice? = nil, offset: Int
  ) -> FieldpackError {
    var error = failure(message, at: cursor + offset - self.offset)
    error.advice = advice
    return error
  }

  @usableFromInline @inline(never)
  package func unexpected(_ wanted: String) -> FieldpackError {
    failure("\(wanted) expected, not \(describeNext())")
  }

  private func describeNext() -> String {
    cursor >= limit ? "the end of the text" : describe(bytes[cursor])
  }

  func describe(_ byte: UInt8) -> String {
    switch byte {
    case 0x21...0x7E: "'\(Character(UnicodeScalar(byte)))'"
    default: "byte 0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
    }
  }

  /// Adds line and column to an error about a byte of the text, which is read again for that.
  ///
  /// The scanner is then good for nothing else.
  package mutating func locate(_ error: FieldpackError) -> FieldpackError {
    guard error.code == .invalidData, var place = error.position, place.line == nil,
      let offset = place.byteOffset, offset <= 1 << 28
    else { return error }
    guard let counted = try? lineAndColumn(of: offset) else { return error }
    (place.line, place.column) = counted
    return FieldpackError(
      error.code, error.message, advice: error.advice, location: error.location, position: place,
      underlying: error.underlying)
  }

  private mutating func lineAndColumn(
    of offset: Int
  ) throws(FieldpackError) -> (line: Int, column: Int) {
    progress = nil
    try seek(to: 0)
    var line = 1
    var lineStart = 0
    while self.offset < offset {
      guard try skip(past: UInt8(ascii: "\n")), self.offset <= offset else { break }
      line += 1
      lineStart = self.offset
    }
    return (line, offset - lineStart + 1)
  }
}
