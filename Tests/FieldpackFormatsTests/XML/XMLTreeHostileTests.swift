import FieldpackCore
import FieldpackFormats
import Foundation
import Testing

@Suite struct XMLTreeHostileTests {
  static let refused: [(String, String)] = [
    (GPXHostileTests.laughs, "the document declares an entity, which is refused"),
    (
      "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
      "the document declares an entity, which is refused"
    ),
    (
      "<!DOCTYPE a [<!ENTITY % x SYSTEM \"http://127.0.0.1/x\"> %x;]><a/>",
      "the document declares an entity, which is refused"
    ),
    (
      "<!DOCTYPE a [<!ATTLIST a b CDATA \"1\">]><a/>",
      "the document declares an attribute list, which is refused"
    ),
    (
      "<!DOCTYPE a SYSTEM \"http://127.0.0.1/x.dtd\"><a>&nbsp;</a>",
      "the document refers to an entity that it does not declare"
    ),
    (String(repeating: "<a>", count: 100_000), "elements nest deeper than 256"),
    ("<a b='\(String(repeating: "x", count: 11 << 20))'/>", "the XML is broken"),
    (
      "<a>" + String(repeating: "<b/>", count: 250_000) + "</a>",
      "the XML has more than 250000 elements and attributes"
    ),
    (
      "<a>" + String(repeating: "<b c='' xmlns:d='e'/>", count: 84_000) + "</a>",
      "the XML has more than 250000 elements and attributes"
    ),
    (
      "<a>" + String(repeating: "1234567 ", count: (2 << 20) + 1) + "</a>",
      "the XML holds more than 16777216 bytes of text"
    ),
    (
      "<a>" + String(repeating: "<b c='\(String(repeating: "x", count: 1 << 16))'/>", count: 257),
      "the XML holds more than 16777216 bytes of text"
    ),
    ("", "the XML is broken"), ("\u{0}", "the XML is broken"), ("{}", "the XML is broken"),
    ("<!DOCTYPE a>", "the XML is broken"), ("<a/><a/>", "the XML is broken"),
    ("<a><b></a></b>", "the XML is broken"), ("<a b='1' b='2'/>", "the XML is broken"),
    ("<?xml version='1.0' encoding='none-such'?><a/>", "the XML is broken"),
  ]

  @Test(arguments: refused.indices) func `is refused with its reason`(index: Int) throws {
    let (text, reason) = Self.refused[index]
    let error = #expect(throws: FieldpackError.self) {
      try XMLTree(Array(text.utf8), file: "a.xml")
    }
    #expect(error?.code == .invalidData)
    #expect(error?.message.hasPrefix(reason) == true, "\(error?.message ?? "no error")")
    #expect(error?.position?.file == "a.xml" && error?.position?.line == 1)
  }

  @Test func `a document cut at any byte is an error`() throws {
    let whole = Array(
      "<?xml version='1.0'?><a xmlns:p='u'>\n<p:b c='&lt;ä'><![CDATA[x]]>&#228;</p:b></a>".utf8)
    #expect(try XMLTree(whole).child("b")?.text == "xä")
    for length in 0..<whole.count {
      let error = #expect(throws: FieldpackError.self) { try XMLTree(Array(whole[..<length])) }
      #expect(error?.code == .invalidData, "cut at \(length)")
    }
  }

  @Test(arguments: [("UTF-16", String.Encoding.utf16), ("ISO-8859-1", .isoLatin1)])
  func `a declared encoding is read`(name: String, encoding: String.Encoding) throws {
    let text = "<?xml version='1.0' encoding='\(name)'?>\n<ä>é</ä>"
    let tree = try XMLTree(Array(try #require(text.data(using: encoding))))
    #expect(tree.name == "ä" && tree.text == "é")
  }

  @Test(arguments: ["", "<?xml version='1.0' encoding='UTF-8'?>"])
  func `bytes that are not in the encoding are an error`(declaration: String) {
    let error = #expect(throws: FieldpackError.self) {
      try XMLTree(Array("\(declaration)<a>\n".utf8) + [0xE9, 0x20] + Array("</a>".utf8))
    }
    #expect(error?.position?.line == 2)
  }

  @Test func `white space around many elements takes no time by their square`() throws {
    let text = "<a>" + String(repeating: " ", count: 1 << 20) + "x"
    let tree = try XMLTree(Array((text + String(repeating: "<b/> ", count: 50_000) + "</a>").utf8))
    #expect(tree.children.count == 50_000)
    #expect(tree.text.utf8.count == (1 << 20) + 1 + 50_000)
  }
}
