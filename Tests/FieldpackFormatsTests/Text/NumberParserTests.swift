import FieldpackCore
import Testing

@testable import FieldpackFormats

@Suite struct NumberParserTests {
  static func bytes<R>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    Array(text.utf8).withUnsafeBufferPointer(body)
  }

  static let doubles: [(String, Double?)] = [
    ("0", 0), ("-0", -0.0), ("1", 1), ("+1.5", 1.5), (".5", 0.5), ("5.", 5), ("1e2", 100),
    ("48.1234567", 48.1234567), ("9007199254740993", 9_007_199_254_740_992),
    ("179.99999999999997", 179.99999999999997), ("4.9e-324", .leastNonzeroMagnitude),
    ("123456789012345678901234567890", 1.2345678901234568e29), ("1e-400", 0), ("1e22", 1e22),
    ("1e23", 1e23), ("7.2057594037927933e16", 7.2057594037927933e16), ("1e999", nil), ("", nil),
    (".", nil), ("-", nil), ("1e", nil), ("1e+", nil), ("nan", nil), ("inf", nil), ("0x1p3", nil),
    ("1,5", nil), (" 1", nil), ("1 ", nil), ("--1", nil), ("1.2.3", nil),
  ]

  @Test(arguments: doubles.indices) func `reads a double`(index: Int) {
    let (text, expected) = Self.doubles[index]
    let read = Self.bytes(text) { NumberParser.double($0) }
    #expect(read?.bitPattern == expected?.bitPattern, "\(text)")
  }

  @Test func `doubles come back from their shortest text`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let value = Double(bitPattern: generator.next())
      guard value.isFinite else { continue }
      #expect(Self.bytes("\(value)") { NumberParser.double($0) } == value)
    }
  }

  static let scalars: [(String, ScalarTraits)] = [
    ("1", .integer), ("-1", .integer), ("0", .integer), ("9223372036854775807", .integer),
    ("-9223372036854775808", .integer), ("9223372036854775808", .text), ("007", .text),
    ("-0", .real), ("-007", .text), ("+1", .text), ("1.0", .real), ("007.5", .text), ("0.5", .real),
    (".5", .real), ("1e5", .real), ("1e999", .text), ("true", .boolean), ("True", .text),
    ("2024-05-01", .date), ("2024-02-30", .text), ("2024-05-01T10:00:00Z", .dateTime),
    ("2024-05-01 10:00:00+02:00", .dateTime), ("2024-05-01T10:00:00", .text),
    ("2024-05-01T10:00:00.1234Z", .text), ("nan", .text), ("", .text), ("-", .text), (".", .text),
    ("0000-01-01T00:00:00+01:00", .text),
  ]

  @Test(arguments: scalars.indices) func `infers a type from the look of a value`(index: Int) {
    let (text, expected) = Self.scalars[index]
    #expect(Self.bytes(text) { InferredValue(inferring: $0).trait } == expected, "\(text)")
  }

  @Test(arguments: [
    "1970-01-01T00:00:00.000Z", "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z",
    "1969-12-31T23:59:59.999Z", "2024-02-29T12:34:56.789Z",
  ]) func `moments are written as they are described`(text: String) throws {
    var bytes: [UInt8] = []
    InstantText.append(try #require(Instant(text)), to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == text)
  }
}
