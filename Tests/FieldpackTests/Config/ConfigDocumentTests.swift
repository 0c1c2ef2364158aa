import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct ConfigDocumentTests {
  private func document(_ text: String) throws -> ConfigDocument {
    try ConfigDocument(Array(text.utf8), file: "a.scfg")
  }

  @Test func `every value has its position`() throws {
    let text =
      "\u{FEFF}{ \"a\": [1, -2.5e3,\n\t\"x\\u00e9\"],\n  \"é\" : {\"b\": null, \"c\": true} }\n"
    let config = try document(text)
    func position(_ path: [ConfigDocument.Step]) throws -> String {
      let value = try #require(config.value(at: path))
      let position = config.position(of: value.range.lowerBound)
      return "\(position): \(String(decoding: config.bytes[value.range], as: UTF8.self))"
    }
    #expect(try position(["a", 0]) == "a.scfg:1:9: 1")
    #expect(try position(["a", 1]) == "a.scfg:1:12: -2.5e3")
    #expect(try position(["a", 2]) == "a.scfg:2:2: \"x\\u00e9\"")
    #expect(try position(["é"]) == "a.scfg:3:10: {\"b\": null, \"c\": true}")
    #expect(try position(["é", "c"]) == "a.scfg:3:27: true")
    #expect(config.value(at: ["a", 2])?.text == "xé")
    #expect(config.value(at: ["a", 0])?.integer == 1)
    #expect(config.value(at: ["a", 3]) == nil)
    #expect(config.value(at: ["é", 0]) == nil)
    #expect(config.root.members.map(\.name) == ["a", "é"])
    #expect(config.bytes == Array(text.utf8))
  }

  @Test(arguments: [
    ("", "a.scfg:1:1: a config is a JSON object, '{' expected"),
    (" []", "a.scfg:1:2: a config is a JSON object, '{' expected"),
    ("{}\n x", "a.scfg:2:2: nothing may follow the object"),
    ("{\"a\": 1,}", "a.scfg:1:9: a string expected, not '}'"),
    ("{\n \"a\": [1,\n  ]}", "a.scfg:3:3: a value expected, not ']'"),
    ("{\"a\" 1}", "a.scfg:1:6: ':' expected, not '1'"),
    ("{\"a\": tru}", "a.scfg:1:7: 'true' expected"),
    ("\u{FEFF}{\"a\": 'x'}", "a.scfg:1:7: a value expected, not '''"),
    ("{\"a\": 01}", "a.scfg:1:8: the end of a number expected, not '1'"),
    ("{\"a\": \"x", "a.scfg:1:9: the text ends within a string"),
    ("{\"a\": 1 // note\n}", "a.scfg:1:9: ',' or '}' expected, not '/'"),
    ("{\"a\": \"\t\"}", "a.scfg:1:8: byte 0x09 must be escaped in a string"),
  ])
  func `a mistake is placed by line and column`(text: String, message: String) {
    let error = #expect(throws: FieldpackError.self) { try document(text) }
    #expect(error?.description == message)
    #expect(error?.code == .invalidData)
  }

  @Test func `nesting and size have limits`() throws {
    func nested(_ depth: Int) -> String {
      "{\"a\":" + String(repeating: "[", count: depth - 1)
        + String(repeating: "]", count: depth - 1) + "}"
    }
    #expect(try document(nested(64)).root.members.count == 1)
    let error = #expect(throws: FieldpackError.self) { try document(nested(65)) }
    #expect(error?.position == FilePosition(file: "a.scfg", line: 1, column: 69))
    let deep = String(repeating: "[{\"a\":", count: 200_000)
    #expect(throws: FieldpackError.self) { try document("{\"a\":" + deep) }
    let folder = try TemporaryFolder()
    let large = try folder.write(
      "{}" + String(repeating: " ", count: 16 << 20), to: "large.scfg")
    let tooLarge = #expect(throws: FieldpackError.self) {
      try ConfigDocument(contentsOf: large.path)
    }
    #expect(tooLarge?.message == "the config has 16777217 bytes, more than the limit of 16777216")
  }

  @Test func `a key given twice is reported and the last counts`() throws {
    let config = try document("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2}, \"a\": 3}")
    #expect(
      config.diagnostics.map(\.description) == [
        "a.scfg:2:16: warning: key 'c' is given twice: the last counts",
        "a.scfg:2:25: warning: key 'a' is given twice: the last counts",
      ])
    #expect(config.root["a"]?.integer == 3)
    #expect(config.value(at: ["b", "c"])?.integer == 2)
  }

  static let edits: [(String, [ConfigDocument.Step], ConfigValue.Content?, String)] = [
    ("{ \"a\" : 1 }", ["a"], "x\"\\\n\u{1}", "{ \"a\" : \"x\\\"\\\\\\n\\u0001\" }"),
    ("{\n  \"a\": 1\n}", ["b"], 2, "{\n  \"a\": 1,\n  \"b\": 2\n}"),
    ("{\"a\":1,\"b\":2}", ["c"], true, "{\"a\":1,\"b\":2,\"c\":true}"),
    ("{}", ["a"], .null, "{\"a\": null}"),
    ("{ }", ["a"], .list([1, "x"]), "{\"a\": [1, \"x\"] }"),
    ("{\"s\": [\n  1,\n  2\n]}", ["s", 2], 3, "{\"s\": [\n  1,\n  2,\n  3\n]}"),
    ("{\"s\": []}", ["s", 0], .object(of: ["a": 1]), "{\"s\": [{\"a\": 1}]}"),
    ("{\"s\": [1, 2, 3]}", ["s", 0], nil, "{\"s\": [2, 3]}"),
    ("{\"s\": [1, 2, 3]}", ["s", 2], nil, "{\"s\": [1, 2]}"),
    ("{\"s\": [ 1 ]}", ["s", 0], nil, "{\"s\": [  ]}"),
    ("{\"a\": 1, \"b\": 2, \"a\": 3}", ["a"], nil, "{\"b\": 2}"),
    ("{\"a\": 1, \"a\": 3}", ["a"], 4, "{\"a\": 1, \"a\": 4}"),
    ("\u{FEFF}{\"a\":1}\r\n", ["a"], 2, "\u{FEFF}{\"a\":2}\r\n"),
  ]

  @Test(arguments: edits)
  func `an edit leaves all else as it is`(
    before: String, path: [ConfigDocument.Step], content: ConfigValue.Content?, after: String
  ) throws {
    var config = try document(before)
    if let content { try config.set(content, at: path) } else { try config.remove(at: path) }
    #expect(String(decoding: config.bytes, as: UTF8.self) == after)
  }

  @Test(
    arguments: [["a", "b"], ["s", 2], ["x", 0], [0], ["s", "a"]] as [[ConfigDocument.Step]])
  func `an edit of no place is refused`(path: [ConfigDocument.Step]) throws {
    var config = try document("{\"a\": 1, \"s\": [1]}")
    let before = config.bytes
    #expect(throws: FieldpackError.self) { try config.set(1, at: path) }
    #expect(throws: FieldpackError.self) { try config.remove(at: path) }
    #expect(config.bytes == before)
  }

  @Test func `a config is written whole, and not over another unless told`() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("a.scfg")
    var config = try document("{\"stores\": []}")
    try config.write(to: url.path)
    #expect(throws: FieldpackError.self) { try config.write(to: url.path) }
    try config.set("x", at: ["remote"])
    try config.write(to: url.path, overwrite: true)
    #expect(try Data(contentsOf: url) == Data("{\"stores\": [], \"remote\": \"x\"}".utf8))
  }
}
