import FieldpackCore
import FieldpackFormats
import Foundation
import Testing

@Suite struct GPXHostileTests {
  static let laughs: String = {
    var text = "<?xml version=\"1.0\"?><!DOCTYPE gpx [<!ENTITY e0 \"aaaaaaaaaa\">"
    for level in 1...12 {
      let references = String(repeating: "&e\(level - 1);", count: 10)
      text += "<!ENTITY e\(level) \"\(references)\">"
    }
    return text + "]><gpx><wpt lat='1' lon='1'><name>&e12;</name></wpt></gpx>"
  }()

  static let refused: [(String, String)] = [
    (laughs, "the document declares an entity, which is refused"),
    (
      "<!DOCTYPE gpx [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><gpx>&x;</gpx>",
      "the document declares an entity, which is refused"
    ),
    (
      "<!DOCTYPE gpx [<!ENTITY % x SYSTEM \"http://127.0.0.1/x\"> %x;]><gpx/>",
      "the document declares an entity, which is refused"
    ),
    (
      "<!DOCTYPE gpx [<!ATTLIST wpt lat CDATA \"1\">]><gpx><wpt lon='1'/></gpx>",
      "the document declares an attribute list, which is refused"
    ),
    (
      "<!DOCTYPE gpx SYSTEM \"http://127.0.0.1/x.dtd\"><gpx><wpt lat='1' lon='1'>"
        + "<name>&nbsp;</name></wpt></gpx>",
      "the document refers to an entity that it does not declare"
    ),
    ("<gpx><wpt lat='1' lon='1'><name>&nbsp;</name></wpt></gpx>", "the XML is broken"),
    (String(repeating: "<gpx>", count: 100_000), "elements nest deeper than 256"),
    ("", "the file is empty"),
    ("\u{0}\u{1}\u{2}", "the XML is broken"),
    ("<html><body></html>", "not a GPX file: its root element is 'html'"),
    ("{\"type\": \"FeatureCollection\"}", "the XML is broken"),
    ("<gpx></gpx><gpx></gpx>", "the XML is broken"),
    ("<gpx a='\(String(repeating: "x", count: 11 << 20))'/>", "the XML is broken"),
    ("<gpx\(attributes(1_001))/>", tooMany),
    ("<gpx\(attributes(100_000))", tooMany),
    ("<gpx\(attributes(1_001, "xmlns:"))/>", tooMany),
    (
      (0..<100).map { "<gpx\(attributes(11, "xmlns:n\($0)"))>" }.joined(), tooMany
    ),
  ]

  private static let tooMany = "an element has more than 1,000 attributes and namespaces"

  private static func attributes(_ count: Int, _ prefix: String = "") -> String {
    (1...count).map { " \(prefix)a\($0)='1'" }.joined()
  }

  @Test(arguments: ["", "\u{FEFF}"])
  func `a thousand attributes with any values are read`(mark: String) throws {
    let value = String(repeating: "= \" > ", count: 30_000)
    let text = mark + "<gpx><wpt lat='1' lon='2' b='\(value)'\(Self.attributes(997))/></gpx>"
    #expect(try readGPX(text).result.counts == ["waypoints": 1])
  }

  @Test(arguments: refused.indices) func `is refused with its reason`(index: Int) throws {
    let (text, reason) = Self.refused[index]
    let error = #expect(throws: FieldpackError.self) { try readGPX(text) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.hasPrefix(reason) == true, "\(error?.message ?? "no error")")
  }

  @Test func `a DOCTYPE that only names a DTD is harmless`() throws {
    let reading = try readGPX(
      "<!DOCTYPE gpx SYSTEM \"http://127.0.0.1/gpx.dtd\"><gpx><wpt lat='1' lon='1'/></gpx>")
    #expect(reading.result.counts == ["waypoints": 1])
  }

  @Test(arguments: ["nan", "inf", "-inf", "0x10", "1e999", "", "1 2", "91", "48,1", "48.1N"])
  func `a latitude must be a number of degrees`(latitude: String) throws {
    let error = #expect(throws: FieldpackError.self) {
      try readGPX("<gpx>\n<wpt lat='0' lon='0'/>\n<wpt lat='\(latitude)' lon='0'/></gpx>")
    }
    #expect(error?.position?.line == 3)
    #expect(error?.position?.feature == 2)
    #expect(error?.location.layer == "waypoints")
  }

  static let encodings: [(String, String.Encoding)] = [
    ("UTF-16", .utf16), ("UTF-16", .utf16BigEndian), ("UTF-16LE", .utf16LittleEndian),
    ("ISO-8859-1", .isoLatin1), ("UTF-8", .utf8),
  ]

  @Test(arguments: encodings.indices) func `declared encodings are read`(index: Int) throws {
    let (name, encoding) = Self.encodings[index]
    let filler = String(repeating: "<!-- filler -->", count: 20_000)
    let text =
      "<?xml version='1.0' encoding='\(name)'?>\n<gpx><wpt lat='1' lon='2'><name>Größe</name></wpt>"
      + filler + "<wpt lat='1' lon='2'><name>é</name></wpt></gpx>"
    let data = try #require(text.data(using: encoding))
    let reading = try readGPX(bytes: Array(data))
    #expect(reading.values("waypoints", "name") == ["Größe", "é"])
  }

  @Test func `bytes that are not in the encoding are an error`() throws {
    let bytes = Array("<gpx>\n<wpt lat='1' lon='2'><name>".utf8) + [0xFF, 0xFE, 0x80]
    let error = #expect(throws: FieldpackError.self) { try readGPX(bytes: bytes) }
    #expect(error?.position?.line == 2)
  }

  @Test func `a file cut at any byte is an error`() throws {
    let whole = Array(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1" xmlns:a="urn:a"><trk>
      <name><![CDATA[ä]]></name><trkseg><trkpt lat="1" lon="2"><ele>3</ele>
      <time>2024-05-01T10:00:00Z</time><extensions><a:b c="d">&amp;</a:b></extensions>
      </trkpt></trkseg></trk></gpx>
      """.utf8)
    #expect(try readGPX(bytes: whole).result.counts == ["tracks": 1, "track_points": 1])
    for length in 0..<whole.count {
      let error = #expect(throws: FieldpackError.self) {
        try readGPX(bytes: Array(whole[..<length]))
      }
      #expect(error?.code == .invalidData, "cut at \(length)")
    }
  }

  @Test func `more kinds of extension than a table holds stay in their XML`() throws {
    let leaves = (0..<3000).map { "<a\($0)>1</a\($0)>" }.joined()
    let reading = try readGPX(
      "<gpx><wpt lat='1' lon='1'><extensions>\(leaves)</extensions></wpt></gpx>")
    #expect(reading.columns("waypoints").count == 1001)
    #expect(
      reading.result.notes == [
        "layer 'waypoints': more than 1000 kinds of extension: the rest is in 'extensions' alone"
      ])
  }
}
