package import FieldpackCore

/// Reads XML in chunks as they come, and gives it as a tree.
///
/// Of a document that does not fit into memory, `taking` takes the parts out as they end:
///
///     let parser = try XMLTreeParser { (element) throws(FieldpackError) in
///       guard element.name.local == "featureMember" else { return false }
///       try read(element)
///       return true
///     }
package final class XMLTreeParser {
  /// Sees each element when it ends, those inside before those around; `true` leaves it out of the
  /// tree, so that what it held counts no longer. The root is never left out.
  package typealias Taking = (XMLTree) throws(FieldpackError) -> Bool

  /// Gets what the text of a base 64 element directly in the root encodes, piece after piece. The tree
  /// then keeps nothing of it. What comes before an error is no whole value.
  package typealias Decoding = (UnsafeRawBufferPointer) throws(FieldpackError) -> Void

  private let parser: XMLPushParser
  private let builder: XMLTreeBuilder

  package init(
    file: String? = nil, options: XMLTree.Options = XMLTree.Options(), taking: Taking? = nil,
    decoding: Decoding? = nil
  ) throws(FieldpackError) {
    builder = XMLTreeBuilder(options, taking, decoding)
    parser = try XMLPushParser(file: file, handler: builder)
  }

  /// How many elements are open: where one has just ended, the number of those around it.
  package var depth: Int { builder.depth }

  /// Gives the next bytes of the document.
  package func push(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    try parser.push(bytes)
  }

  /// Says that the document has ended, and gives its root without what was taken.
  package func finish() throws(FieldpackError) -> XMLTree {
    try parser.finish()
    // A document without a root is broken XML.
    return builder.root!
  }
}

/// Gathers the events of one document into a tree.
private final class XMLTreeBuilder: XMLHandling {
  private struct Open {
    var name: XMLQName
    var attributes: [XMLTree.Attribute] = []
    var text: [UInt8] = []
    /// The text so far is white space.
    var isBlank = true
    var decoder: Base64.Decoder?
    var children: [XMLTree] = []
    var hasElements = false
    var line: Int
    var scope: XMLScope
    /// What the tree held before the element.
    var before: (length: Int, nodes: Int)
  }

  /// The parser has each text once, and so the pointers are the name.
  private struct NameKey: Hashable {
    var local: UnsafePointer<UInt8>
    var prefix: UnsafePointer<UInt8>?
    var uri: UnsafePointer<UInt8>?
  }

  private let options: XMLTree.Options
  private let taking: XMLTreeParser.Taking?
  private let decoding: XMLTreeParser.Decoding?
  private var open: [Open] = []
  private var names: [NameKey: XMLQName] = [:]
  private var held = (length: 0, nodes: 0)
  private(set) var root: XMLTree?
  var depth: Int { open.count }

  init(
    _ options: XMLTree.Options, _ taking: XMLTreeParser.Taking?,
    _ decoding: XMLTreeParser.Decoding?
  ) {
    self.options = options
    self.taking = taking
    self.decoding = decoding
  }

  func startElement(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    in parser: XMLPushParser
  ) throws(FieldpackError) {
    dropBlanks()
    let before = held
    held.nodes += 1 + attributes.count + namespaces.count
    guard held.nodes <= options.maximumNodes else {
      throw FieldpackError(
        .invalidData, "the XML has more than \(options.maximumNodes) elements and attributes")
    }
    var element = Open(
      name: resolved(name), line: parser.line, scope: try scope(namespaces), before: before)
    if options.base64Elements.contains(element.name.local) { element.decoder = Base64.Decoder() }
    element.attributes.reserveCapacity(attributes.count)
    for index in 0..<attributes.count {
      guard let name = attributes.name(index) else { continue }
      let value = attributes.value(index)
      try count(length: value.count)
      element.attributes.append(
        XMLTree.Attribute(name: resolved(name), value: String(decoding: value, as: UTF8.self)))
    }
    open.append(element)
  }

  /// White space before and between elements is no text.
  private func dropBlanks() {
    guard let last = open.indices.last else { return }
    open[last].hasElements = true
    guard open[last].isBlank else { return }
    held.length -= open[last].text.count
    open[last].text.removeAll()
  }

  private func scope(_ namespaces: XMLNamespaces) throws(FieldpackError) -> XMLScope {
    let outer = open.last?.scope ?? XMLScope()
    guard namespaces.count > 0 else { return outer }
    var declared: [(prefix: String, namespace: String?)] = []
    for index in 0..<namespaces.count {
      let prefix = namespaces.prefix(index).map { String(cString: $0) } ?? ""
      let uri = namespaces.uri(index).map { String(cString: $0) }
      try count(length: uri?.utf8.count ?? 0)
      declared.append((prefix, uri))
    }
    return XMLScope(declared, in: outer)
  }

  private func resolved(_ name: XMLName) -> XMLQName {
    let key = NameKey(local: name.local, prefix: name.prefix, uri: name.uri)
    if let known = names[key] { return known }
    var local = String(cString: name.local)
    let uri = name.uri.map { String(cString: $0) }
    if uri == nil, let prefix = name.prefix { local = "\(String(cString: prefix)):\(local)" }
    let new = XMLQName(local, in: uri)
    names[key] = new
    return new
  }

  func characters(
    _ bytes: UnsafeBufferPointer<UInt8>, in parser: XMLPushParser
  ) throws(FieldpackError) {
    guard let last = open.indices.last else { return }
    if open[last].decoder != nil {
      let before = open[last].decoder?.output.count ?? 0
      open[last].decoder?.append(bytes)
      if last == 1, let decoding, let output = open[last].decoder?.takeOutput() {
        parser.forgetText()
        return try output.span.bytes.withUnsafeBytes { (output) throws(FieldpackError) in
          try decoding(output)
        }
      }
      return try count(length: (open[last].decoder?.output.count ?? 0) - before)
    }
    try count(length: bytes.count)
    if open[last].isBlank { open[last].isBlank = bytes.allSatisfy(isXMLSpace) }
    open[last].text.append(contentsOf: bytes)
  }

  private func count(length: Int) throws(FieldpackError) {
    held.length += length
    guard held.length <= options.maximumLength else {
      throw FieldpackError(
        .invalidData, "the XML holds more than \(options.maximumLength) bytes of text")
    }
  }

  func endElement(_ name: XMLName, in parser: XMLPushParser) throws(FieldpackError) {
    if open.last?.hasElements == true { dropBlanks() }
    guard let element = open.popLast() else { return }
    let bytes = element.decoder?.finish()
    if element.decoder != nil, bytes == nil {
      throw FieldpackError(.invalidData, "the text of '\(element.name.local)' is not base 64")
    }
    let tree = XMLTree(
      name: element.name, attributes: element.attributes,
      text: String(decoding: element.text, as: UTF8.self), bytes: bytes,
      children: element.children, line: element.line, scope: element.scope)
    guard let last = open.indices.last else {
      root = tree
      _ = try taking?(tree)
      return
    }
    if try taking?(tree) == true {
      held = element.before
    } else {
      open[last].children.append(tree)
    }
  }
}
