import FieldpackCore

/// Writes the children of an `extensions` element into another document.
///
/// Namespaces are declared where they are needed. A child without a namespace, or in one of GPX's,
/// moves to one of ours: the schema allows only foreign elements. `replace` is asked about the text
/// of every leaf, so that values edited in columns take the place of those read.
final class GPXFragmentRewriter: XMLHandling {
  enum Leaf {
    case keep
    case drop
    /// Puts this character data in.
    case replace([UInt8])
  }

  private struct Scope {
    var prefix: String?
    var uri: String?
    var depth: Int
  }

  private(set) var bytes: [UInt8] = []
  private let replace: (_ name: String, _ text: [UInt8]) -> Leaf
  private var scopes: [Scope] = []
  private var names: [String] = []
  private var elementStart = 0
  private var textStart = 0
  private var isLeaf = false
  private var text: [UInt8] = []

  private static let root = [
    Scope(prefix: nil, uri: GPXWriter.namespace, depth: 0),
    Scope(prefix: "fieldpack", uri: "\(GPXExtensionCapture.namespace)", depth: 0),
    Scope(prefix: "xml", uri: "http://www.w3.org/XML/1998/namespace", depth: 0),
  ]

  private init(replace: @escaping (_ name: String, _ text: [UInt8]) -> Leaf) {
    self.replace = replace
    scopes = Self.root
  }

  /// The children of `extensions` in `xml`; `nil` where it is not well-formed.
  static func rewrite(
    _ xml: UnsafeBufferPointer<UInt8>,
    replace: (_ name: String, _ text: [UInt8]) -> Leaf
  ) -> [UInt8]? {
    withoutActuallyEscaping(replace) { replace in
      let rewriter = GPXFragmentRewriter(replace: replace)
      do throws(FieldpackError) {
        let parser = try XMLPushParser(file: nil, handler: rewriter)
        try parser.push(UnsafeRawBufferPointer(xml))
        try parser.finish()
      } catch { return nil }
      return rewriter.bytes
    }
  }

  func startElement(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    in parser: XMLPushParser
  ) throws(FieldpackError) {
    // The element itself is written by the caller.
    guard !names.isEmpty else {
      names.append("")
      return
    }
    let (prefix, uri) = home(of: name)
    let local = String(cString: name.local)
    let full = prefix.map { "\($0):\(local)" } ?? local
    names.append(full)
    elementStart = bytes.count
    bytes.append(contentsOf: "<\(full)".utf8)
    declare(prefix, uri)
    for index in 0..<namespaces.count {
      let prefix = namespaces.prefix(index).map { String(cString: $0) }
      let isDeclared = scopes.contains { $0.depth == names.count && $0.prefix == prefix }
      if prefix != nil, !isDeclared {
        declare(prefix, namespaces.uri(index).map { String(cString: $0) })
      }
    }
    for index in 0..<attributes.count { append(attributes, index) }
    bytes.append(UInt8(ascii: ">"))
    textStart = bytes.count
    text.removeAll(keepingCapacity: true)
    isLeaf = true
  }

  func endElement(_ name: XMLName, in parser: XMLPushParser) throws(FieldpackError) {
    let depth = names.count
    let full = names.removeLast()
    scopes.removeAll { $0.depth == depth }
    guard depth > 1 else { return }
    defer { isLeaf = false }
    if isLeaf, takesOut(name) { return }
    if isLeaf, textStart == bytes.count {
      bytes[bytes.count - 1] = UInt8(ascii: "/")
      bytes.append(UInt8(ascii: ">"))
    } else {
      bytes.append(contentsOf: "</\(full)>".utf8)
    }
  }

  func characters(
    _ text: UnsafeBufferPointer<UInt8>, in parser: XMLPushParser
  ) throws(FieldpackError) {
    guard names.count > 1 else { return }
    self.text.append(contentsOf: text)
    XMLText.append(text, to: &bytes)
  }

  /// Asks about a leaf with text; `true` where it has been taken out.
  private func takesOut(_ name: XMLName) -> Bool {
    let inner = text.withUnsafeBufferPointer { Array(trimmed($0)) }
    guard !inner.isEmpty else { return false }
    switch replace(GPXExtensionCapture.columnName(of: name), inner) {
    case .keep: return false
    case .drop:
      bytes.removeSubrange(elementStart...)
      return true
    case .replace(let new):
      bytes.replaceSubrange(textStart..., with: new)
      return false
    }
  }

  /// The prefix and namespace that an element has in the new document.
  private func home(of name: XMLName) -> (prefix: String?, uri: String?) {
    let prefix = name.prefix.map { String(cString: $0) }
    let uri = name.uri.map { String(cString: $0) }
    if names.count == 1, uri == nil || GPXWriter.isGPX(uri) {
      return ("plain", "\(GPXExtensionCapture.plainNamespace)")
    }
    // A prefix that nothing declares must be declared here.
    if let prefix, uri == nil { return (prefix, "urn:undeclared:\(prefix)") }
    return (prefix, uri)
  }

  private func declare(_ prefix: String?, _ uri: String?) {
    guard scopes.last(where: { $0.prefix == prefix })?.uri != uri else { return }
    scopes.append(Scope(prefix: prefix, uri: uri, depth: names.count))
    bytes.append(contentsOf: (prefix.map { " xmlns:\($0)=\"" } ?? " xmlns=\"").utf8)
    XMLText.append(uri ?? "", inAttribute: true, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  private func append(_ attributes: XMLAttributes, _ index: Int) {
    guard let name = attributes.name(index) else { return }
    let prefix = name.prefix.map { String(cString: $0) }
    let local = String(cString: name.local)
    if let prefix {
      declare(prefix, name.uri.map { String(cString: $0) } ?? "urn:undeclared:\(prefix)")
    }
    bytes.append(contentsOf: " \(prefix.map { "\($0):\(local)" } ?? local)=\"".utf8)
    XMLText.append(attributes.value(index), inAttribute: true, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }
}
