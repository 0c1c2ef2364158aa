import FieldpackCore
import Testing

@Suite struct XMLTextTests {
  static let texts: [(String, String, String)] = [
    ("", "", ""), ("a<b>&\"'", "a&lt;b&gt;&amp;\"'", "a&lt;b&gt;&amp;&quot;'"),
    ("\t\n\r", "\t\n&#13;", "&#9;&#10;&#13;"),
    ("\u{0}x\u{1F}", "\u{FFFD}x\u{FFFD}", "\u{FFFD}x\u{FFFD}"),
    ("\u{FFFE}\u{FFFF}\u{FFFD}", "\u{FFFD}\u{FFFD}\u{FFFD}", "\u{FFFD}\u{FFFD}\u{FFFD}"),
    ("ä€😀", "ä€😀", "ä€😀"),
  ]

  @Test(arguments: texts.indices) func `text is escaped`(index: Int) {
    let (text, content, attribute) = Self.texts[index]
    var bytes: [UInt8] = []
    XMLText.append(text, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == content)
    bytes.removeAll()
    XMLText.append(text, inAttribute: true, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == attribute)
    #expect(XMLText.escaped(text) == attribute)
  }

  @Test(arguments: texts.indices) func `text among plain bytes is escaped as it is alone`(
    index: Int
  ) {
    for before in 0...9 {
      let text = String(repeating: "x", count: before) + Self.texts[index].0 + "plain text behind"
      for inAttribute in [false, true] {
        var (expected, bytes): ([UInt8], [UInt8]) = ([], [])
        XMLText.append(text, inAttribute: inAttribute, to: &expected)
        Array(text.utf8).withUnsafeBufferPointer {
          XMLText.append(mending: $0, inAttribute: inAttribute, to: &bytes)
        }
        #expect(bytes == expected)
      }
    }
  }

  @Test func `text that is not UTF-8 is mended`() {
    var bytes: [UInt8] = []
    let broken = Array("plain & <".utf8) + [0xFF, 0x61, 0xC3]
    broken.withUnsafeBufferPointer { XMLText.append(mending: $0, to: &bytes) }
    #expect(String(decoding: bytes, as: UTF8.self) == "plain &amp; &lt;\u{FFFD}a\u{FFFD}")
  }

  @Test(arguments: [
    ("name", "name"), ("", "_"), ("1st", "_1st"), ("a b:c", "a_b_c"), ("Größe-1.x", "Größe-1.x"),
    ("😀", "_"), ("-a", "_-a"), ("%a", "_a"),
  ]) func `names become those of elements`(text: String, name: String) {
    #expect(XMLText.name(text) == name)
  }
}
