import FieldpackGeometry

/// Checks that CQL2 Text and CQL2 JSON share, so that both give the same messages.
extension CQL2 {
  /// A mistake in a condition; the reader adds where in the text it is.
  struct Mistake: Error {
    let message: String

    init(_ message: String) { self.message = message }
  }

  static func checkLength(of text: String) throws(FieldpackError) {
    guard text.utf8.count > maximumByteCount else { return }
    throw FieldpackError(
      .invalidArgument,
      "the condition has \(text.utf8.count) bytes, more than the limit of \(maximumByteCount)")
  }

  static let tooDeep = Mistake("the condition is nested more than \(maximumDepth) deep")
  static let tooManyOperations = Mistake(
    "the condition has more than \(maximumOperations) arithmetic operations")

  static func unknownFunction(_ name: String) -> String {
    "function '\(name)' is not known\(NearNames.question(name, in: functions)) "
      + "(there are: \(functions.joined(separator: ", ")))"
  }

  static func checkColumn(_ name: String) throws(Mistake) {
    guard name.isEmpty || name.utf8.contains(0) else { return }
    throw Mistake("a column's name cannot be empty or hold U+0000")
  }

  // MARK: Time

  private static let time = "a time with a zone, such as 2020-01-31T12:00:00Z"

  static func date(_ text: String) throws(Mistake) -> Value {
    if let date = CalendarDate(text) { return .date(date) }
    throw Mistake("'\(text)' is not a date such as 2020-01-31")
  }

  static func timestamp(_ text: String) throws(Mistake) -> Value {
    if let instant = Instant(text) { return .dateTime(instant) }
    throw Mistake("'\(text)' is not \(time)")
  }

  /// Reads one end of an interval; `nil` for `..`, an open end.
  static func bound(_ text: String) throws(Mistake) -> Value? {
    if text == ".." { return nil }
    let moment = CalendarDate(text).map(Value.date) ?? Instant(text).map(Value.dateTime)
    if let moment { return moment }
    throw Mistake("'\(text)' is neither '..' nor a date such as 2020-01-31 nor \(time)")
  }

  static func interval(_ start: Operand?, _ end: Operand?) throws(Mistake) -> Operand {
    if isBackward(start, end) { throw Mistake("the interval ends before it starts") }
    return .interval(start, end)
  }

  // MARK: Geometries

  /// The area of a box of four numbers, or of six with heights, which count for nothing.
  static func box(_ bounds: [Double]) throws(Mistake) -> Geometry {
    guard bounds.count == 4 || bounds.count == 6 else {
      throw Mistake(
        "BBOX takes four numbers, west, south, east and north, or six, with the least height "
          + "third and the greatest last, not \(bounds.count)")
    }
    let half = bounds.count / 2
    let (west, south, east, north) = (bounds[0], bounds[1], bounds[half], bounds[half + 1])
    if let area = rectangle(west: west, south: south, east: east, north: north) { return area }
    throw Mistake(
      south > north
        ? "the south of the BBOX, \(south), lies above its north, \(north)"
        : "the west of the BBOX, \(west), lies beyond its east, \(east), and the two do not "
          + "cross the antimeridian")
  }
}

/// Errors that the writers of CQL2 Text and CQL2 JSON share.
extension CQL2 {
  static func unsupported(_ what: String) -> FieldpackError {
    FieldpackError(.unsupported, "CQL2 has no words for \(what)")
  }

  /// The error for a NULL, a blob or a number that is not finite.
  static func unsupported(_ value: Value) -> FieldpackError {
    switch value {
    case .null: unsupported("NULL as a value")
    case .blob: unsupported("a blob")
    default: unsupported("a number that is not finite")
    }
  }

  static func unsupported(geometryIn srs: SRS?) -> FieldpackError {
    unsupported("a geometry in \(srs.map { "\($0)" } ?? "the layer's own SRS")")
  }

  /// Refuses to write a text that reading would refuse as beyond its limits.
  static func checkReadable(
    _ body: () throws(FieldpackError) -> Filter
  ) throws(FieldpackError) {
    do throws(FieldpackError) {
      _ = try body()
    } catch {
      throw FieldpackError(
        .unsupported, "the condition is beyond the limits of CQL2 here: \(error.message)",
        underlying: error)
    }
  }
}
