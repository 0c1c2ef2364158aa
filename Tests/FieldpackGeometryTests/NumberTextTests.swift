import FieldpackGeometry
import Testing

@Suite struct NumberTextTests {
  static func shortest(_ value: Double) -> String? {
    var text: [UInt8] = []
    return NumberText.append(value, to: &text) ? String(decoding: text, as: UTF8.self) : nil
  }

  static func fixed(_ value: Double, _ decimals: Int) -> String? {
    var text: [UInt8] = []
    return NumberText.append(value, decimals: decimals, to: &text)
      ? String(decoding: text, as: UTF8.self) : nil
  }

  static func read(_ text: String) -> (value: Double, end: Int)? {
    let bytes = Array(text.utf8)
    return NumberText.read(bytes.span.bytes, at: 0)
  }

  @Test(
    arguments: [
      (0, "0"), (-0.0, "-0"), (1, "1"), (-1.5, "-1.5"), (0.1, "0.1"), (100, "100"),
      (-122.41941550000001, "-122.41941550000001"), (13.377704, "13.377704"),
      (0.30000000000000004, "0.30000000000000004"), (1.0 / 3, "0.3333333333333333"),
      (2.0 / 3, "0.6666666666666666"), (1e-6, "0.000001"), (1.25e-7, "0.000000125"),
      (1e-7, "1e-7"), (9.5e-8, "9.5e-8"), (-1.5e-10, "-1.5e-10"),
      (.leastNonzeroMagnitude, "5e-324"),
      (2.2250738585072014e-308, "2.2250738585072014e-308"),
      (1.7976931348623157e308, "1.7976931348623157e308"), (1e21, "1e21"), (1e22, "1e22"),
      (1.5e300, "1.5e300"), (1e20, "100000000000000000000"),
      (1.2345678901234568e20, "123456789012345680000"),
      (9_007_199_254_740_991, "9007199254740991"),
      (9_007_199_254_740_992, "9007199254740992"), (9_007_199_254_740_994, "9007199254740994"),
      (2251799813685248.5, "2251799813685248.5"), (1125899906842624.25, "1125899906842624.2"),
      (999999999999999.9, "999999999999999.9"), (1e15, "1000000000000000"),
      (0.00001, "0.00001"), (5e-5, "0.00005"), (1e-5.nextUp, "0.000010000000000000003"),
      (67108864.00000001, "67108864.00000001"), (0.5, "0.5"), (0.0625, "0.0625"),
      (1e8, "100000000"), (1e8.nextUp, "100000000.00000001"),
      (99_999_999.9999999, "99999999.9999999"),
      (-99_999_999.0000001, "-99999999.0000001"), (100_000_000.5, "100000000.5"),
      (1e-7.nextUp, "0.00000010000000000000001"), (2e-7, "0.0000002"), (1.0000001, "1.0000001"),
      (7.00000005, "7.00000005"), (-0.1234567, "-0.1234567"), (8.000001, "8.000001"),
    ] as [(Double, String)])
  func `numbers have their shortest text`(value: Double, text: String) {
    #expect(Self.shortest(value) == text)
    #expect(Double(text) == value)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity]) func `what is not finite is refused`(
    value: Double
  ) {
    #expect(Self.shortest(value) == nil && Self.fixed(value, 3) == nil)
  }

  /// Significant digits without zeros at either end, and the power of ten of the last one.
  static func digits(_ text: String) -> (String, Int) {
    let parts = text.split(separator: "e")
    var exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let number = parts[0].drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
    var digits = Substring(number.joined())
    exponent -= number.count > 1 ? number[1].count : 0
    while digits.last == "0", digits.count > 1 {
      digits.removeLast()
      exponent += 1
    }
    return (String(digits.drop { $0 == "0" }), exponent)
  }

  @Test func `random numbers have the digits of the standard library`() {
    var random = SystemRandomNumberGenerator()
    for round in 0..<60_000 {
      let value: Double =
        switch round % 6 {
        case 0: Double(bitPattern: random.next())
        case 1: .random(in: -180...180)
        case 2: .random(in: -1e-4...1e-4)
        case 3: .random(in: -1e16...1e16)
        case 4: (Double.random(in: -1e9...1e9) * 1000).rounded() / 1000
        default: Double(sign: .plus, exponent: .random(in: -30...60), significand: 1)
        }
      guard value.isFinite, value != 0 else { continue }
      let text = Self.shortest(value) ?? ""
      #expect(Double(text) == value, "\(value)")
      #expect(Self.digits(text) == Self.digits(value.description), "\(value)")
    }
  }

  /// What the standard library says, in the form of these texts.
  static func plain(_ value: Double) -> String {
    let (digits, exponent) = digits(value.description)
    guard !digits.isEmpty else { return "0" }
    let zeros = String(repeating: "0", count: max(0, exponent))
    guard exponent < 0 else { return digits + zeros }
    let padded = String(repeating: "0", count: max(0, 1 - exponent - digits.count)) + digits
    return padded.dropLast(-exponent) + "." + padded.suffix(-exponent)
  }

  @Test(arguments: 0...12) func `numbers of few decimals are what the standard library says`(
    decimals: Int
  ) {
    let power = (0..<decimals).reduce(1.0) { power, _ in power * 10 }
    for exponent in -6...14 {
      let reach = (0..<abs(exponent)).reduce(1.0) { reach, _ in reach * (exponent < 0 ? 0.1 : 10) }
      for _ in 0..<150 {
        let near = (Double.random(in: 0...reach) * power).rounded() / power
        for value in [near, near.nextUp, near.nextDown] where value > 1e-7 && value < 1e21 {
          #expect(Self.shortest(value) == Self.plain(value))
          #expect(Self.shortest(-value) == "-" + Self.plain(value))
        }
      }
    }
  }

  @Test(
    arguments: [
      (1.005, 2, "1"), (1.115, 2, "1.11"), (0.285, 2, "0.28"), (0.5, 0, "0"), (1.5, 0, "2"),
      (2.5, 0, "2"), (0.125, 2, "0.12"), (0.375, 2, "0.38"), (-0.00000001, 7, "0"), (-0.0, 3, "0"),
      (-13.3777049, 6, "-13.377705"), (52.5, 7, "52.5"), (100, 3, "100"), (1e-9, 12, "0.000000001"),
      (1e-9, 3, "0"), (1e20, 5, "100000000000000000000"), (1e22, 2, "1e22"), (0.3, 15, "0.3"),
      (1.1, 20, "1.1"), (2455.4952386315636, 12, "2455.495238631564"),
      (319529240.00086075, 7, "319529240.0008608"), (30621985.546772435, 8, "30621985.54677244"),
      (1234567890.1, 9, "1234567890.1"),
      (0.1, 99, "0.1"), (7.9, -1, "8"), (999.9999, 3, "1000"), (1e-300, 20, "0"),
    ] as [(Double, Int, String)])
  func `fixed decimals are rounded exactly and trimmed`(
    value: Double, decimals: Int, text: String
  ) {
    #expect(Self.fixed(value, decimals) == text)
  }

  @Test func `integers are written whole`() {
    for (value, text) in [(Int64.min, "-9223372036854775808"), (0, "0"), (42, "42")] {
      var bytes: [UInt8] = []
      NumberText.append(value, to: &bytes)
      #expect(String(decoding: bytes, as: UTF8.self) == text)
    }
    var bytes: [UInt8] = []
    NumberText.append(UInt128.max, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "\(UInt128.max)")
  }

  @Test(
    arguments: [
      ("1", 1, 1), ("-1.5x", -1.5, 4), ("+.5", 0.5, 3), ("5.", 5, 2), ("1e3", 1000, 3),
      ("1e", 1, 1), ("1e+", 1, 1), ("2E-2,", 0.02, 4), ("1e400", .infinity, 5),
      ("-1e99999999999", -.infinity, 14), ("1e-400", 0, 6), ("0.1", 0.1, 3), ("-0", -0.0, 2),
      ("123456789012345678901234567890", 1.2345678901234568e29, 30),
      ("0.30000000000000004", 0.30000000000000004, 19),
      ("9007199254740993", 9_007_199_254_740_992, 16), ("8.5e22", 8.5e22, 6),
      ("00000000000000000000000001.5", 1.5, 28), ("5.e1", 50, 4),
      ("179769313486231580793728971405301199", 1.7976931348623157e35, 36),
    ] as [(String, Double, Int)])
  func `numbers are read to the nearest double`(text: String, value: Double, end: Int) throws {
    let read = try #require(Self.read(text))
    #expect(read.value == value && read.end == end && read.value.sign == value.sign)
  }

  @Test(arguments: ["", "-", ".", "+.", "e5", "x", "--1"]) func `what is no number is not read`(
    text: String
  ) {
    #expect(Self.read(text) == nil)
  }

  @Test func `random numbers are read as the standard library reads them`() {
    for _ in 0..<20_000 {
      let value = Double(bitPattern: .random(in: 0...UInt64.max))
      guard value.isFinite else { continue }
      for text in [value.description, "\(value.significand)e\(value.exponent % 300)"] {
        #expect(Self.read(text)?.value == Double(text))
      }
    }
  }
}
