import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCore

@Suite struct JSONScannerTests {
  private func error(of text: String, limits: JSONScanner.Limits = .init()) -> FieldpackError? {
    error(of: Array(text.utf8), limits: limits)
  }

  private func error(of bytes: [UInt8], limits: JSONScanner.Limits = .init()) -> FieldpackError? {
    var scanner = JSONScanner(bytes, limits: limits)
    do throws(FieldpackError) {
      try scanner.validateDocument()
      return nil
    } catch { return scanner.locate(error) }
  }

  private func number(_ text: String) throws -> (integer: Int64?, real: Double) {
    var scanner = JSONScanner(text.utf8)
    try scanner.scanNumber()
    return (scanner.integer, scanner.real)
  }

  private func string(_ text: String) throws -> String {
    var scanner = JSONScanner(text.utf8)
    return String(decoding: try scanner.scanString(), as: UTF8.self)
  }

  @Test func `integers are exact in 64 bits and unknown beyond`() throws {
    let cases: [(String, Int64?)] = [
      ("0", 0), ("-0", 0), ("9007199254740993", 9_007_199_254_740_993),
      ("9223372036854775807", .max), ("9223372036854775808", nil),
      ("-9223372036854775808", .min), ("-9223372036854775809", nil),
      ("99999999999999999999", nil), ("1.0", nil), ("1e3", nil),
    ]
    for (text, expected) in cases { #expect(try number(text).integer == expected, "\(text)") }
  }

  @Test func `doubles are the nearest ones`() throws {
    let texts = [
      "0.1", "-0.0", "1.7976931348623157e308", "5e-324", "2.2250738585072014e-308",
      "24.846565348219734", "-107.20901451037372", "179.99999999999997", "0.30000000000000004",
      "9007199254740993.0", "9007199254740992.5", "1e22", "1e23", "123456789012345678e-17",
      "8.41e21", "0.00000000000000000000000000000123", "3.14159265358979323846264338327950288",
      "1234567890123456789012345678901234567890", "1e400", "-1e400", "1e-400",
      "18446744073709551615", "9999999999999999999e-19", "7.0e-19",
    ]
    for text in texts {
      let expected = try #require(Double(text))
      #expect(try number(text).real.bitPattern == expected.bitPattern, "\(text)")
    }
  }

  @Test func `random decimals are the nearest doubles`() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let digits = String(
        UInt64.random(in: 0...UInt64.max, using: &generator)
          >> UInt64.random(in: 0...40, using: &generator))
      let point = Int.random(in: 0..<digits.count, using: &generator)
      let text =
        (point == 0 ? "0" : "") + digits.prefix(point) + "." + digits.dropFirst(point)
      guard text.first != "0" || text.hasPrefix("0.") else { continue }
      let expected = try #require(Double(text))
      #expect(try number(text).real == expected, "\(text)")
    }
  }

  @Test func `escapes are undone`() throws {
    let cases: [(String, String)] = [
      (#""plain""#, "plain"), (#""""#, ""), (#""a\"b\\c\/d""#, #"a"b\c/d"#),
      (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"),
      (#""\ud83d\ude00!""#, "😀!"), (#""\u0000""#, "\0"), (#""żółć 名前 😀""#, "żółć 名前 😀"),
      // Lone surrogates: RFC 8259 section 8.2 leaves them open; U+FFFD keeps the text well-formed.
      (#""\ud800""#, "\u{FFFD}"), (#""\udc00x""#, "\u{FFFD}x"),
      (#""\ud800\u0041""#, "\u{FFFD}A"), (#""\udd1e\ud834""#, "\u{FFFD}\u{FFFD}"),
      (#""\ud800\ud834\udd1e""#, "\u{FFFD}𝄞"),
    ]
    for (text, expected) in cases { #expect(try string(text) == expected, "\(text)") }
  }

  @Test func `errors tell the byte, the line and the column`() throws {
    let cases: [(String, String)] = [
      ("", "line 1:1, byte 0: a value expected, not the end of the text"),
      ("[1,]", "line 1:4, byte 3: a value expected, not ']'"),
      ("{\n \"a\": 01}", "line 2:8, byte 9: the end of a number expected, not '1'"),
      ("[\"a\tb\"]", "line 1:4, byte 3: byte 0x09 must be escaped in a string"),
      ("[1\n2]", "line 2:1, byte 3: ',' or ']' expected, not '2'"),
      ("[\"\\x\"]", "line 1:3, byte 2: no such escape in JSON"),
      ("{\"a\"}", "line 1:5, byte 4: ':' expected, not '}'"),
      ("[1] 2", "line 1:5, byte 4: the end of the text expected, not '2'"),
      ("[\u{0}]", "line 1:1, byte 0: the text looks like UTF-16 or UTF-32. Try: save it as UTF-8"),
      ("[1,\u{0}]", "line 1:4, byte 3: byte 0x00 is not allowed here"),
    ]
    for (text, expected) in cases { #expect(error(of: text)?.description == expected) }
  }

  @Test func `nesting ends at the cap, far below the stack`() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(
      error(of: deep)?.description
        == "line 1:513, byte 512: arrays and objects are nested too deeply")
    let allowed = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
    #expect(error(of: allowed) == nil)
  }

  @Test func `tokens of any length cross the window, up to the cap`() throws {
    let folder = try TemporaryFolder()
    let long = String(repeating: "é\\n😀x", count: 40)
    let text =
      "{ \"\(long)\" : [\"\(long)\", 1.25, -12345678901234567890.5e-3, true, null] , \"b\":{} }"
    let file = try folder.write(text, to: "a.json")
    var limits = JSONScanner.Limits()
    for window in 64...100 {
      limits.window = window
      var scanner = JSONScanner(try ByteInput(path: file.path), limits: limits)
      try scanner.begin()
      #expect(try scanner.peek() == UInt8(ascii: "{"))
      let compact = String(decoding: try scanner.compactValue(), as: UTF8.self)
      #expect(compact == text.filter { $0 != " " })
    }
    limits.token = 200
    var scanner = JSONScanner(try ByteInput(path: file.path), limits: limits)
    #expect(throws: FieldpackError.self) { try scanner.validateDocument() }
  }

  @Test func `a text cut anywhere is an error`() {
    let text = Array("{\"a\":[1.5e3,\"b\\u00e9é\",true,false,null,{}],\"c\":{\"d\":-1}}".utf8)
    for length in 0..<text.count { #expect(error(of: Array(text[..<length])) != nil) }
    #expect(error(of: text) == nil)
  }

  // A scanner has forgotten the bytes before an error at the end of a file, and reads them again.
  @Test func `an error at the end of a file has the place that it has in memory`() throws {
    let folder = try TemporaryFolder()
    let seeds = [
      "[1, ", "{ } ", "[\n1,\n", "null ", "\"\n\t", "  \n ", "é 😀", "[\r\n\r\n", "-1e+ 5",
    ]
    for (number, seed) in seeds.enumerated() {
      for length in 1...seed.utf8.count {
        let text = Array(seed.utf8.prefix(length))
        let file = folder.file("\(number)-\(length).json")
        try Data(text).write(to: file)
        let found = errorOfFile(at: file.path)
        #expect(found == error(of: text)?.description, "\(text)")
      }
    }
  }

  /// Without the file's name.
  private func errorOfFile(at path: String) -> String? {
    do throws(FieldpackError) {
      var scanner = JSONScanner(try ByteInput(path: path))
      do throws(FieldpackError) {
        try scanner.validateDocument()
        return nil
      } catch { throw scanner.locate(error) }
    } catch {
      var place = error.position
      place?.file = nil
      return FieldpackError(error.code, error.message, position: place).description
    }
  }

  @Test func `members and elements are lent in order`() throws {
    var scanner = JSONScanner(#"{"a" : [1, 2], "b\n":"x" , "a":null}"#.utf8)
    var names: [String] = []
    #expect(try scanner.peek() == UInt8(ascii: "{"))
    try scanner.enter()
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      names.append(String(decoding: name, as: UTF8.self))
      _ = try scanner.peek()
      names.append(String(decoding: try scanner.compactValue(), as: UTF8.self))
    }
    #expect(names == ["a", "[1,2]", "b\n", #""x""#, "a", "null"])
    #expect(scanner.depth == 0)
  }
}
