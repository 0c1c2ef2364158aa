import FieldpackCore

/// Reads dates with times as ``FieldpackCore/DateTimeParser`` does, quicker where one day follows itself.
struct MomentReader {
  struct Moment: Equatable {
    /// In UTC, which texts without a zone are taken for.
    var instant: Instant
    /// Whether a DATETIME column can hold it.
    var isDateTime: Bool
    /// Whether the text is `YYYY-MM-DDTHH:MM:SSZ`, GeoPackage's form but for the fraction.
    var isWholeSeconds = false
  }

  private static let length = 20
  // The ten bytes of the last date, and its number once there is one.
  private var dateStart: UInt64 = 0
  private var dateEnd: UInt16 = 0
  private var day: Int?

  mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Moment? {
    if let seconds = wholeSeconds(bytes) {
      return Moment(
        instant: Instant(milliseconds: Int64(seconds) * 1000), isDateTime: true,
        isWholeSeconds: true)
    }
    guard let parsed = DateTimeParser.dateTime(bytes) else { return nil }
    return Moment(instant: parsed.instant, isDateTime: InferredValue(parsed) != nil)
  }

  /// Unix seconds of `YYYY-MM-DDTHH:MM:SSZ`; `nil` for other forms and for leap seconds.
  mutating func wholeSeconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    guard bytes.count == Self.length, bytes[10] == UInt8(ascii: "T"),
      bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      bytes[19] == UInt8(ascii: "Z"),
      let hour = Self.pair(bytes, 11), hour <= 23, let minute = Self.pair(bytes, 14), minute <= 59,
      let second = Self.pair(bytes, 17), second <= 59, let day = number(bytes)
    else { return nil }
    return day * 86_400 + hour * 3600 + minute * 60 + second
  }

  /// The number of the day that the first ten bytes name.
  private mutating func number(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    let raw = UnsafeRawBufferPointer(bytes)
    let start = raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
    let end = raw.loadUnaligned(fromByteOffset: 8, as: UInt16.self)
    if let day, start == dateStart, end == dateEnd { return day }
    day = DateTimeParser.date(bytes)?.dayNumber
    (dateStart, dateEnd) = (start, end)
    return day
  }

  private static func pair(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
    let tens = bytes[index] &- UInt8(ascii: "0")
    let ones = bytes[index + 1] &- UInt8(ascii: "0")
    return tens <= 9 && ones <= 9 ? Int(tens) * 10 + Int(ones) : nil
  }
}
