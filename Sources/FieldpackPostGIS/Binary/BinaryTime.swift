import FieldpackCore
import FieldpackGeometry

/// A moment as PostgreSQL sends it: microseconds since 2000-01-01 in UTC.
struct BinaryTime: Hashable {
  /// The number of the day 2000-01-01, counted from 1970-01-01.
  static let epochDay = 10_957

  /// The largest and the smallest number stand for the end and the beginning of time.
  var microseconds: Int64

  init(microseconds: Int64) { self.microseconds = microseconds }

  /// Reads a date with time, or a date alone as its first moment. A text without a zone is in UTC.
  /// Digits beyond the microsecond are cut off.
  init?(_ text: UnsafeBufferPointer<UInt8>) {
    guard let instant = DateTimeParser.moment(text) else {
      switch String(decoding: text, as: UTF8.self) {
      case "infinity": microseconds = .max
      case "-infinity": microseconds = .min
      default: return nil
      }
      return
    }
    let sinceEpoch = instant.milliseconds - Int64(Self.epochDay) * 86_400_000
    microseconds = sinceEpoch * 1000 + Self.digitsBeyondMilliseconds(text)
  }

  private static func digitsBeyondMilliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64 {
    // `YYYY-MM-DDThh:mm:ss.fff` has 23 bytes.
    guard text.count > 23, text[19] == UInt8(ascii: ".") || text[19] == UInt8(ascii: ",") else {
      return 0
    }
    var (value, index) = (Int64(0), 20)
    while index < 26 {
      let digit = index < text.count ? text[index] &- UInt8(ascii: "0") : 0xFF
      guard digit <= 9 else { break }
      value = value * 10 + Int64(digit)
      index += 1
    }
    for _ in index..<26 { value *= 10 }
    return value % 1000
  }

  // MARK: Texts

  /// No text of a day or a moment is longer, in bytes.
  static let longestText = 40

  /// Appends RFC 3339 text: three digits of the second where these suffice, else six.
  ///
  /// - Parameter isUTC: whether a `Z` stands behind it.
  func append(isUTC: Bool, to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: Self.longestText) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        count = write(isUTC: isUTC, to: UnsafeMutableRawBufferPointer(buffer))
      }
    }
  }

  /// Appends `YYYY-MM-DD` for a day counted from 2000-01-01, whose largest and smallest number stand for
  /// the end and the beginning of time.
  static func append(day: Int32, to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: longestText) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        count = write(day: day, to: UnsafeMutableRawBufferPointer(buffer))
      }
    }
  }

  /// Writes what ``append(isUTC:to:)`` appends, and gives the number of its bytes.
  ///
  /// - Precondition: `place` has ``longestText`` bytes.
  func write(isUTC: Bool, to place: UnsafeMutableRawBufferPointer) -> Int {
    precondition(place.count >= Self.longestText)
    guard microseconds != .max, microseconds != .min else {
      return Self.writeInfinity(isNegative: microseconds == .min, place)
    }
    let (day, time) = Self.day(of: microseconds)
    var end = Self.write(dayNumber: Int(day) + Self.epochDay, place)
    let seconds = UInt32(truncatingIfNeeded: time / 1_000_000)
    let (minutes, digits) = (seconds / 60, UInt32(truncatingIfNeeded: time % 1_000_000))
    Self.put("T", minutes / 60, place, &end)
    Self.put(":", minutes % 60, place, &end)
    Self.put(":", seconds % 60, place, &end)
    Self.put(".", digits / 10_000, place, &end)
    if digits % 1000 == 0 {
      place[end] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digits / 1000 % 10)
      end += 1
    } else {
      Self.put(digits / 100 % 100, place, &end)
      Self.put(digits % 100, place, &end)
    }
    if isUTC {
      place[end] = UInt8(ascii: "Z")
      end += 1
    }
    return end
  }

  /// Writes what ``append(day:to:)`` appends, and gives the number of its bytes.
  ///
  /// - Precondition: `place` has ``longestText`` bytes.
  static func write(day: Int32, to place: UnsafeMutableRawBufferPointer) -> Int {
    precondition(place.count >= longestText)
    guard day != .max, day != .min else {
      return writeInfinity(isNegative: day == .min, place)
    }
    return write(dayNumber: Int(day) + epochDay, place)
  }

  private static func writeInfinity(
    isNegative: Bool, _ place: UnsafeMutableRawBufferPointer
  ) -> Int {
    let text = isNegative ? "-infinity" : "infinity"
    place.copyBytes(from: text.utf8)
    return text.utf8.count
  }

  @inline(__always)
  private static func write(dayNumber: Int, _ place: UnsafeMutableRawBufferPointer) -> Int {
    let (year, month, day) = CalendarDate(dayNumber: dayNumber).components
    var end = 0
    if (0...9999).contains(year) {
      let year = UInt32(truncatingIfNeeded: year)
      put(year / 100, place, &end)
      put(year % 100, place, &end)
    } else {
      end = write(longYear: year, place)
    }
    put("-", UInt32(truncatingIfNeeded: month), place, &end)
    put("-", UInt32(truncatingIfNeeded: day), place, &end)
    return end
  }

  /// A year beyond the four digits has a sign in ISO 8601.
  @inline(never)
  private static func write(longYear year: Int, _ place: UnsafeMutableRawBufferPointer) -> Int {
    let digits = String(year.magnitude)
    let missing = String(repeating: "0", count: max(0, 5 - digits.utf8.count))
    let text = (year < 0 ? "-" : "+") + missing + digits
    place.copyBytes(from: text.utf8)
    return text.utf8.count
  }

  /// The day, and the microseconds from its beginning on.
  private static func day(of microseconds: Int64) -> (Int64, UInt64) {
    let length: Int64 = 86_400_000_000
    let (day, rest) = microseconds.quotientAndRemainder(dividingBy: length)
    return rest < 0
      ? (day - 1, UInt64(truncatingIfNeeded: rest + length))
      : (day, UInt64(truncatingIfNeeded: rest))
  }

  /// The numbers below 100 in two digits each, which takes less time than to divide.
  private static let pairs: StaticString = """
    00010203040506070809101112131415161718192021222324252627282930313233343536373839\
    40414243444546474849505152535455565758596061626364656667686970717273747576777879\
    8081828384858687888990919293949596979899
    """

  /// Writes a number below 100 in two digits.
  @inline(__always)
  private static func put(
    _ number: UInt32, _ place: UnsafeMutableRawBufferPointer, _ end: inout Int
  ) {
    let pairs = unsafe UnsafeRawPointer(pairs.utf8Start)
    let pair = unsafe pairs.loadUnaligned(fromByteOffset: Int(number) * 2, as: UInt16.self)
    unsafe place.storeBytes(of: pair, toByteOffset: end, as: UInt16.self)
    end += 2
  }

  /// Writes a mark and a number below 100.
  @inline(__always)
  private static func put(
    _ mark: Unicode.Scalar, _ number: UInt32, _ place: UnsafeMutableRawBufferPointer,
    _ end: inout Int
  ) {
    place[end] = UInt8(ascii: mark)
    end += 1
    put(number, place, &end)
  }
}
