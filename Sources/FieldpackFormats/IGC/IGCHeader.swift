import FieldpackCore
import FieldpackNMEA

/// What the records before the first fix tell of a flight.
struct IGCHeader: Sendable {
  /// Manufacturer and number.
  var recorder: String?
  private var pilot: String?
  private var gliderType: String?
  private var gliderID: String?
  private var competitionID: String?

  /// Whether a line is an A record: the maker's and the recorder's code of letters and digits.
  static func isRecorder(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    line.count >= 4 && line[0] == UInt8(ascii: "A")
      && line[1..<4].allSatisfy { byte in
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      }
  }

  /// Takes an H record and returns the day number of a date.
  mutating func take(_ line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) -> Int? {
    guard line.count >= 5 else { return nil }
    let value = Self.value(line)
    switch String(decoding: line[2..<5], as: UTF8.self) {
    case "DTE": return try Self.date(line)
    case "PLT": pilot = value
    case "GTY": gliderType = value
    case "GID": gliderID = value
    case "CID": competitionID = value
    default: break
    }
    return nil
  }

  /// What stands behind the colon.
  private static func value(_ line: UnsafeBufferPointer<UInt8>) -> String? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let text = trimmed(UnsafeBufferPointer(rebasing: line[(colon + 1)...]))
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }

  /// `HFDTE160219`, `HFDTEDATE:160219` or `HFDTEDATE:160219,01`, the last being the day's flight.
  private static func date(_ line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) -> Int {
    let text = line[5...].drop { !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0) }
    if text.count >= 6, let digits = NMEASentence.digits(text.prefix(6)) {
      let year = digits % 100
      let date = CalendarDate(
        year: year + (year >= 80 ? 1900 : 2000), month: digits / 100 % 100, day: digits / 10_000)
      if let date { return date.dayNumber }
    }
    let shown = String(decoding: line.prefix(40), as: UTF8.self)
    throw FieldpackError(.invalidData, "'\(shown)' names no date ddmmyy")
  }

  func set(in row: inout GPXLayerBuilder) {
    if let name = gliderID ?? recorder { row.set(.name, string: name) }
    let extras = [
      ("pilot", pilot), ("glider_type", gliderType), ("glider_id", gliderID),
      ("competition_id", competitionID), ("recorder", recorder),
    ]
    for (name, value) in extras {
      guard var value else { continue }
      value.withUTF8 { row.set(extra: row.extra(name), text: $0) }
    }
  }
}
