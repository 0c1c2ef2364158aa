import Testing

@testable import FieldpackCore

@Suite struct JSONValueTests {
  @Test(
    arguments: [
      ("-0", .real(-0.0)), ("-0.0", .real(-0.0)), ("0", .integer(0)), ("1e2", .real(100)),
      ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .real(0x1p63)),
      ("1e999", .real(.infinity)), (" [ ] ", .array([])), ("{ }", .object([])),
      (#""\ud83d\ude00\ud800\u0041""#, .text("😀\u{FFFD}A")), ("\t true\n", .boolean(true)),
      (
        #"{"b":[1,null],"a":{"c":false},"b":"x"}"#,
        .object([
          .init(name: "b", value: .array([.integer(1), .null])),
          .init(name: "a", value: .object([.init(name: "c", value: .boolean(false))])),
          .init(name: "b", value: .text("x")),
        ])
      ),
    ] as [(String, JSONValue)])
  func `a document becomes a tree`(text: String, node: JSONValue) throws {
    #expect(try JSONValueReader.read(text) == node)
    if case .real(let real) = node {
      #expect(try JSONValueReader.read(text).number?.sign == real.sign)
    }
  }

  @Test(
    arguments: [
      ("[1x]", 2, "expected ',' or ']'"), ("{\"a\":1.5x}", 8, "expected ',' or '}'"),
      ("1x", 1, "expected the end"), ("[01]", 3, "expected a number"),
      ("-00.5", 3, "expected a number"), ("[1,\u{1}2]", 3, "expected a value"),
      ("1\0", 1, "expected the end"), ("\u{FEFF}1", 0, "expected a value"),
      ("[truex]", 5, "expected ',' or ']'"), ("[[[", 2, "nested more than 2 deep"),
      ("\"\\", 1, #"expected one of \" \\ \/ \b \f \n \r \t \u"#),
      ("\"\\u12", 3, "expected four hexadecimal digits"),
      ("\"\\ud800\\u12g4\"", 9, "expected four hexadecimal digits"),
      ("  \"é", 2, "the text that starts here has no closing quote"),
    ])
  func `a mistake has its byte`(text: String, offset: Int, message: String) {
    let mistake = #expect(throws: JSONMistake.self) {
      try JSONValueReader.read(text, maximumDepth: 2)
    }
    #expect(mistake?.message == message)
    #expect(mistake?.offset == offset)
  }

  @Test func `bytes that are not UTF-8 are mended`() throws {
    let bytes: [UInt8] = [0x22, 0x61, 0xFF, 0xC3, 0x62, 0x22]
    let node = try bytes.withUnsafeBufferPointer { try JSONValueReader.read($0) }
    #expect(node == .text("a\u{FFFD}\u{FFFD}b"))
  }
}
