import FieldpackCore
import FieldpackNMEA

/// A B record: `B` time latitude longitude validity pressure altitude and GNSS altitude.
struct IGCFix {
  private static let length = 35

  let longitude: Double
  let latitude: Double
  /// Milliseconds since midnight, UTC.
  let timeOfDay: Int
  let is3D: Bool
  /// Metres above 1013.25 hPa.
  let pressureAltitude: Int?
  /// Metres above the ellipsoid; `nil` where the record has no height.
  let elevation: Double?

  /// - Throws: `.invalidData` for a record that is cut or not on Earth.
  init(
    _ line: UnsafeBufferPointer<UInt8>, _ extensions: [IGCExtension]
  ) throws(FieldpackError) {
    guard line.count >= Self.length else {
      throw FieldpackError(
        .invalidData, "the B record is cut: \(line.count) of \(Self.length) bytes are there")
    }
    timeOfDay = try Self.time(line) + IGCExtension.milliseconds(line, extensions)
    latitude = try Self.degrees(
      line, 7, degreeDigits: 2, letters: ("N", "S"),
      finer: IGCExtension.fraction("LAD", line, extensions))
    longitude = try Self.degrees(
      line, 15, degreeDigits: 3, letters: ("E", "W"),
      finer: IGCExtension.fraction("LOD", line, extensions))
    switch line[24] {
    case UInt8(ascii: "A"): is3D = true
    case UInt8(ascii: "V"): is3D = false
    default: throw Self.wrong(line, 24..<25, "A or V")
    }
    pressureAltitude = try Self.altitude(line, 25)
    let altitude = try Self.altitude(line, 30)
    // Without a 3D fix the specification asks for an altitude of zero.
    let isNone = !is3D && altitude == 0
    elevation = isNone ? nil : altitude.map { Double($0) }
  }

  private static func time(_ line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) -> Int {
    guard let digits = NMEASentence.digits(line[1..<7]), digits / 10_000 <= 23,
      digits / 100 % 100 <= 59, digits % 100 <= 60
    else { throw wrong(line, 1..<7, "a time hhmmss") }
    return (digits / 10_000 * 3600 + digits / 100 % 100 * 60 + digits % 100) * 1000
  }

  /// - Parameter finer: what an extension adds, in thousandths of a minute.
  private static func degrees(
    _ line: UnsafeBufferPointer<UInt8>, _ start: Int, degreeDigits: Int,
    letters: (Character, Character), finer: Double
  ) throws(FieldpackError) -> Double {
    let end = start + degreeDigits + 5
    let limit = degreeDigits == 2 ? 90 : 180
    guard let digits = NMEASentence.digits(line[start..<end]), digits % 100_000 < 60_000 else {
      throw wrong(line, start..<end, "degrees and minutes below 60")
    }
    let minutes = (Double(digits % 100_000) + finer) / 1000
    let value = Double(digits / 100_000) + minutes / 60
    guard value <= Double(limit) else { throw wrong(line, start..<end, "degrees up to \(limit)") }
    if line[end] == letters.0.asciiValue { return value }
    if line[end] == letters.1.asciiValue { return -value }
    throw wrong(line, end..<end + 1, "\(letters.0) or \(letters.1)")
  }

  /// Five digits, the first of which may be a minus; blanks or hyphens alone are no altitude.
  private static func altitude(
    _ line: UnsafeBufferPointer<UInt8>, _ start: Int
  ) throws(FieldpackError) -> Int? {
    let field = line[start..<start + 5]
    if field.allSatisfy({ $0 == 0x20 || $0 == UInt8(ascii: "-") }) { return nil }
    let text = trimmed(UnsafeBufferPointer(rebasing: field))
    guard let value = NumberParser.integer(text) else {
      throw wrong(line, start..<start + 5, "an altitude in metres")
    }
    return Int(value)
  }

  private static func wrong(
    _ line: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ wanted: String
  ) -> FieldpackError {
    let text = String(decoding: line[range], as: UTF8.self)
    return FieldpackError(
      .invalidData,
      "bytes \(range.lowerBound + 1) to \(range.upperBound) of the B record are '\(text)' and not "
        + wanted)
  }
}
