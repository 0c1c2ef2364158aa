import FieldpackCore
import FieldpackFormats
import Foundation
import Testing

@Suite struct XMLTreeTests {
  /// A tree on one line: names, attributes and texts.
  private static func line(_ tree: XMLTree) -> String {
    let attributes = tree.attributes.map { " \($0.name)='\($0.value)'" }.joined()
    let inner = tree.text + tree.children.map(line).joined()
    return "<\(tree.name)\(attributes)>\(inner)</>"
  }

  static let documents: [(String, String)] = [
    ("<a/>", "<a></>"),
    ("<a>\n  <b>1</b>\n  <b> 2 </b>\n</a>", "<a><b>1</><b> 2 </></>"),
    ("<a>x<b/>y<![CDATA[<&>]]>&#65;&amp;</a>", "<a>xy<&>A&<b></></>"),
    ("<a>  </a>", "<a>  </>"),
    ("<a b='1&#10;&quot;' c=\"&lt;\"><!-- x --><?y z?></a>", "<a b='1\n\"' c='<'></>"),
    ("<a xmlns='u' b='1'><c xmlns=''><d/></c><e/></a>", "<{u}a b='1'><c><d></></><{u}e></></>"),
    (
      "<p:a xmlns:p='u' p:b='1'><p:c xmlns:p='v'/><p:d/></p:a>",
      "<{u}a {u}b='1'><{v}c></><{u}d></></>"
    ),
    ("<p:a q:b='1'/>", "<p:a q:b='1'></>"),
    (
      "<a xml:lang='de'/>", "<a {http://www.w3.org/XML/1998/namespace}lang='de'></>"
    ),
    ("<!DOCTYPE a SYSTEM 'http://127.0.0.1/a.dtd'><a/>", "<a></>"),
  ]

  @Test(arguments: documents.indices) func `a document becomes a tree`(index: Int) throws {
    let (text, expected) = Self.documents[index]
    #expect(Self.line(try XMLTree(Array(text.utf8))) == expected)
  }

  @Test(arguments: documents.indices) func `pieces of any length give the same tree`(
    index: Int
  ) throws {
    let (text, expected) = Self.documents[index]
    let parser = try XMLTreeParser()
    for byte in text.utf8 {
      try [byte].withUnsafeBufferPointer { (bytes) throws(FieldpackError) in
        try parser.push(UnsafeRawBufferPointer(bytes))
      }
    }
    #expect(Self.line(try parser.finish()) == expected)
  }

  @Test func `children are found by their local name, whatever their namespace`() throws {
    let tree = try XMLTree(
      Array("<a xmlns:p='u'><b n='1'/><p:b n='2'/>\n<c/></a>".utf8))
    #expect(tree.children("b").map { $0["n"] } == ["1", "2"])
    #expect(tree.child("b")?["n"] == "1")
    #expect(tree.child("c")?.line == 2)
    #expect(tree.child("d") == nil && tree["n"] == nil)
  }

  @Test func `names in values are resolved where they stand`() throws {
    let tree = try XMLTree(
      Array(
        """
        <a xmlns='d' xmlns:x='u' xmlns:i='http://www.w3.org/2001/XMLSchema-instance'>
        <b i:type='x:int'/><b xmlns:x='v' i:type=' x:int '/><b i:type='int'/>
        <b xmlns='' i:type='int'/><b i:type='y:int'/><b i:type='x:y:int'/><b i:type=''/><b/></a>
        """.utf8))
    let types = tree.children("b").map { $0.type?.description }
    #expect(types == ["{u}int", "{v}int", "{d}int", "int", nil, nil, nil, nil])
    #expect(tree.qualifiedName("xml:lang") == XMLQName("lang", in: XMLQName.xmlNamespace))
  }

  @Test func `base 64 is decoded as it comes`() throws {
    var options = XMLTree.Options()
    options.base64Elements = ["data"]
    let text = "<r><p:data xmlns:p='u'>Zm9v\n  <![CDATA[Ym]]>Fy</p:data><data/><x>Zm9v</x></r>"
    let tree = try XMLTree(Array(text.utf8), options: options)
    #expect(tree.children.map(\.bytes) == [Array("foobar".utf8), [], nil])
    #expect(tree.children.map(\.text) == ["", "", "Zm9v"])
    let error = #expect(throws: FieldpackError.self) {
      try XMLTree(Array("<r>\n<data>Zm9v!</data></r>".utf8), file: "r.xml", options: options)
    }
    #expect(error?.message == "the text of 'data' is not base 64")
    #expect(error?.position == FilePosition(file: "r.xml", line: 2))
  }

  @Test func `parts that are taken out count no longer`() throws {
    var options = XMLTree.Options()
    options.maximumNodes = 6
    options.maximumLength = 20
    var taken: [String] = []
    let parser = try XMLTreeParser(options: options) { (element) throws(FieldpackError) in
      guard element.name.local == "member" else { return false }
      taken.append(element.child("id")?.text ?? "")
      return true
    }
    let members = (1...100).map { "\n <member><id k='v'>\($0)</id></member>" }.joined()
    let text = "<all count='100'>\(members)<end/></all>"
    try Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(FieldpackError) in
      try parser.push(UnsafeRawBufferPointer(bytes))
    }
    #expect(Self.line(try parser.finish()) == "<all count='100'><end></></>")
    #expect(taken == (1...100).map(String.init))
  }

  @Test func `what takes parts out can end the reading`() throws {
    let parser = try XMLTreeParser(file: "a.xml") { (element) throws(FieldpackError) in
      throw FieldpackError(.invalidData, "no \(element.name.local)")
    }
    let error = #expect(throws: FieldpackError.self) {
      try Array("<a>\n<b/></a>".utf8).withUnsafeBytes { try parser.push($0) }
    }
    #expect(error?.message == "no b")
    #expect(error?.position == FilePosition(file: "a.xml", line: 2))
  }
}
