import FieldpackGeometry

/// What both encodings refuse, in the same words.
extension CQL2 {
  static func checkLength(of text: String) throws(FieldpackError) {
    guard text.utf8.count > maximumByteCount else { return }
    throw FieldpackError(
      .invalidArgument,
      "the condition has \(text.utf8.count) bytes, more than the limit of \(maximumByteCount)")
  }

  static func unknownFunction(_ name: String) -> String {
    "function '\(name)' is not known\(NearNames.question(name, in: functions)) "
      + "(there are: \(functions.joined(separator: ", ")))"
  }

  struct BoxMistake: Error {
    var message: String
  }

  /// The area of a box of four numbers, or of six with heights, which count for nothing.
  static func box(_ bounds: [Double]) throws(BoxMistake) -> Geometry {
    guard bounds.count == 4 || bounds.count == 6 else {
      throw BoxMistake(
        message:
          "BBOX takes four numbers, west, south, east and north, or six, with the least height "
          + "third and the greatest last, not \(bounds.count)")
    }
    let half = bounds.count / 2
    let (west, south, east, north) = (bounds[0], bounds[1], bounds[half], bounds[half + 1])
    if let area = rectangle(west: west, south: south, east: east, north: north) { return area }
    throw BoxMistake(
      message: south > north
        ? "the south of the BBOX, \(south), lies above its north, \(north)"
        : "the west of the BBOX, \(west), lies beyond its east, \(east), and the two do not "
          + "cross the antimeridian")
  }
}
