import FieldpackCore
import FieldpackFormats
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct XMLWriterTests {
  private static func text(
    _ namespaces: KeyValuePairs<String, String> = [:], _ write: (inout XMLWriter) -> Void
  ) -> String {
    var xml = XMLWriter(namespaces: namespaces)
    write(&xml)
    return String(decoding: xml.takeBytes(), as: UTF8.self)
  }

  @Test func `elements, attributes and texts are written and escaped`() {
    let text = Self.text { xml in
      xml.start("a")
      xml.attribute("b", "<\"&'>\n")
      xml.element("c", "x<y&\"z\u{1}")
      xml.element("d", "")
      xml.text("]]>")
      xml.end()
      xml.element("e", "f")
    }
    #expect(
      text
        == "<a b=\"&lt;&quot;&amp;'&gt;&#10;\"><c>x&lt;y&amp;\"z\u{FFFD}</c><d/>]]&gt;</a><e>f</e>")
  }

  @Test func `namespaces are declared once, by the outermost element`() {
    let text = Self.text(["": "urn:w", "g": "urn:g&x"]) { xml in
      xml.start(XMLQName("a", in: "urn:w"))
      xml.start(XMLQName("b", in: "urn:g&x"))
      xml.attribute(XMLQName("c", in: "urn:g&x"), "1")
      xml.element(XMLQName("d", in: "urn:w"), "2")
      xml.end()
      xml.end()
    }
    #expect(
      text == "<a xmlns=\"urn:w\" xmlns:g=\"urn:g&amp;x\"><g:b g:c=\"1\"><d>2</d></g:b></a>")
  }

  @Test func `other namespaces are declared where they are needed`() {
    let text = Self.text(["": "u"]) { xml in
      xml.start(XMLQName("a", in: "v"))
      xml.attribute(XMLQName("b", in: "w"), "1")
      xml.attribute(XMLQName("c", in: "u"), "2")
      xml.attribute(XMLQName("lang", in: XMLQName.xmlNamespace), "de")
      xml.element(XMLQName("d", in: "x"), "")
      xml.element("e", "")
      xml.start(XMLQName("f", in: "x"))
      xml.element(XMLQName("g", in: "u"), "")
      xml.element("h", "")
      xml.end()
      xml.element(XMLQName("i", in: "u"), "")
      xml.end()
    }
    #expect(
      text
        == "<ns1:a xmlns=\"u\" xmlns:ns1=\"v\" xmlns:ns2=\"w\" ns2:b=\"1\" xmlns:ns3=\"u\" ns3:c=\"2\""
        + " xml:lang=\"de\"><d xmlns=\"x\"/><e xmlns=\"\"/><f xmlns=\"x\"><ns3:g/><h xmlns=\"\"/></f>"
        + "<ns3:i/></ns1:a>")
  }

  @Test func `a value names a type by its prefix`() {
    let schema = "http://www.w3.org/2001/XMLSchema"
    let text = Self.text(["": "u", "xs": schema]) { xml in
      xml.start("a")
      xml.attribute(.type, naming: XMLQName("int", in: schema))
      xml.attribute("b", naming: "plain")
      xml.end()
    }
    #expect(
      text == "<a xmlns:xs=\"\(schema)\" xmlns:ns1=\"http://www.w3.org/2001/XMLSchema-instance\""
        + " ns1:type=\"xs:int\" b=\"plain\"/>")
  }

  @Test(arguments: [
    ("a b=\"1\"", "a_b__1_"), ("x:y", "x_y"), ("1", "_1"), ("", "_"), ("地点", "地点"),
    ("a-1.b", "a-1.b"),
  ])
  func `no name leaves its tag`(name: String, written: String) {
    #expect(Self.text { $0.element(XMLQName(name), "") } == "<\(written)/>")
  }

  /// Any element: its parts are chosen by a number.
  private static func write(_ seed: inout UInt64, depth: Int, to xml: inout XMLWriter) -> String {
    func choose(_ count: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % count
    }
    let namespaces: [String?] = [nil, "urn:u", "urn:v", "urn:w?a&b"]
    let texts = ["", "x", "<&>\"'", "\r\n\t", " ä€😀 ", "]]>", "\u{2028}"]
    let name = XMLQName("n\(choose(9))", in: namespaces[choose(4)])
    xml.start(name)
    var line = "<\(name)"
    for number in 0..<choose(4) {
      let attribute = XMLQName("a\(number)", in: namespaces[choose(4)])
      let value = texts[choose(7)]
      xml.attribute(attribute, value)
      line += " \(attribute)='\(value)'"
    }
    line += ">"
    if depth > 0, choose(3) > 0 {
      for _ in 0...choose(3) { line += write(&seed, depth: depth - 1, to: &xml) }
    } else {
      let text = texts[choose(7)]
      xml.text(text)
      line += text
    }
    xml.end()
    return line + "</>"
  }

  private static func line(_ tree: XMLTree) -> String {
    let attributes = tree.attributes.map { " \($0.name)='\($0.value)'" }.joined()
    return "<\(tree.name)\(attributes)>\(tree.text)\(tree.children.map(line).joined())</>"
  }

  static func document(_ number: UInt64) -> (bytes: [UInt8], line: String) {
    var seed = number
    let namespaces: [KeyValuePairs<String, String>] = [
      [:], ["": "urn:u", "p": "urn:v"], ["q": "urn:u"],
    ]
    var xml = XMLWriter(namespaces: namespaces[Int(number % 3)], declaration: number % 2 == 0)
    let line = write(&seed, depth: 5, to: &xml)
    return (xml.takeBytes(), line)
  }

  @Test func `what is written is read again`() throws {
    for number in 0..<500 {
      let (bytes, line) = Self.document(UInt64(number))
      #expect(Self.line(try XMLTree(bytes)) == line)
    }
  }
}

@Suite(.programs) struct XMLWriterPeerTests {
  @Test(.enabled(if: Programs.xmllint != nil, Comment(rawValue: Programs.noXMLLint)))
  func `xmllint finds documents well-formed`() async throws {
    let folder = try TemporaryFolder()
    let files = try (0..<30).map { number in
      let (bytes, _) = XMLWriterTests.document(UInt64(number))
      return try folder.write(String(decoding: bytes, as: UTF8.self), to: "\(number).xml").path
    }
    let result = try await Program.run("xmllint", ["--noout", "--nonet"] + files)
    #expect(result.error == "" && result.status == 0)
  }
}
