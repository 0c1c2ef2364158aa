package import FieldpackCore

/// An element of XML with all that is in it, for documents that fit into memory.
///
/// Namespaces are resolved: names are compared by the address of their namespace, and prefixes are
/// gone. A name with a prefix that nothing declares is in no namespace and keeps the prefix. Comments
/// and processing instructions are lost, and so is where between its elements a text stands.
/// ``XMLPushParser`` says what is refused, and ``Options`` bounds what a tree holds.
package struct XMLTree: Sendable {
  package struct Attribute: Hashable, Sendable {
    package var name: XMLQName
    package var value: String
  }

  package let name: XMLQName
  package let attributes: [Attribute]
  /// The text between the tags of the element, not that of the elements in it. Empty where it is
  /// white space around elements, and where it was decoded into ``bytes``.
  package let text: String
  /// What the text encodes, of an element that ``Options/base64Elements`` names.
  package let bytes: [UInt8]?
  package let children: [XMLTree]
  /// The line where the start tag ends, 1-based.
  package let line: Int
  let scope: XMLScope

  /// What a tree may hold, and how text is read.
  package struct Options: Sendable {
    /// Bytes of text and of values of attributes.
    package var maximumLength = 16 << 20
    /// Elements, attributes and declarations of namespaces.
    package var maximumNodes = 250_000
    /// The local names of elements whose text is base 64. It is decoded as it comes.
    package var base64Elements: Set<String> = []

    package init() {}
  }

  /// Reads a whole document.
  package init(
    _ bytes: [UInt8], file: String? = nil, options: Options = Options()
  ) throws(FieldpackError) {
    let parser = try XMLTreeParser(file: file, options: options)
    try bytes.withUnsafeBufferPointer { (bytes) throws(FieldpackError) in
      try parser.push(UnsafeRawBufferPointer(bytes))
    }
    self = try parser.finish()
  }

  init(
    name: XMLQName, attributes: [Attribute], text: String, bytes: [UInt8]?, children: [XMLTree],
    line: Int, scope: XMLScope
  ) {
    self.name = name
    self.attributes = attributes
    self.text = text
    self.bytes = bytes
    self.children = children
    self.line = line
    self.scope = scope
  }

  /// The value of an attribute, with its references resolved.
  package subscript(attribute: XMLQName) -> String? {
    attributes.first { $0.name == attribute }?.value
  }

  /// The first child of this local name, in any namespace and in none.
  package func child(_ local: String) -> XMLTree? { children.first { $0.name.local == local } }

  /// The children of this local name, in any namespace and in none.
  package func children(_ local: String) -> [XMLTree] { children.filter { $0.name.local == local } }

  /// The name that a text or a value of this element means, such as `xs:int`; `nil` where it is no
  /// name, or its prefix is not declared.
  ///
  /// White space around the name is skipped. A name without a prefix is in the default namespace.
  package func qualifiedName(_ text: String) -> XMLQName? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      .map { $0.filter { !" \t\r\n".contains($0) } }
    guard let local = parts.last, !local.isEmpty, parts.count <= 2 else { return nil }
    guard parts.count == 2 else { return XMLQName(local, in: scope.namespace(of: "")) }
    return scope.namespace(of: parts[0]).map { XMLQName(local, in: $0) }
  }

  /// The type that `xsi:type` gives the element.
  package var type: XMLQName? { self[.type].flatMap(qualifiedName) }
}

/// The namespaces that an element declares, and those around it.
final class XMLScope: Sendable {
  private let declared: [(prefix: String, namespace: String?)]
  private let outer: XMLScope?

  init(_ declared: [(prefix: String, namespace: String?)] = [], in outer: XMLScope? = nil) {
    self.declared = declared
    self.outer = outer
  }

  /// What a prefix stands for; the empty one is that of the default namespace.
  func namespace(of prefix: String) -> String? {
    if prefix == "xml" { return XMLQName.xmlNamespace }
    var scope: XMLScope? = self
    while let current = scope {
      if let found = current.declared.first(where: { $0.prefix == prefix }) {
        return found.namespace
      }
      scope = current.outer
    }
    return nil
  }
}
