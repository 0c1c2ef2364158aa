import FieldpackCore

/// Writes XML element by element, with as few declarations of namespaces as there can be.
///
///     var xml = XMLWriter(namespaces: ["": wfs, "gml": gml])
///     xml.start(XMLQName("Insert", in: wfs))
///     xml.element(XMLQName("pos", in: gml), "52.5 13.4")
///     xml.end()
///     // <Insert xmlns="…" xmlns:gml="…"><gml:pos>52.5 13.4</gml:pos></Insert>
///
/// Text and values are escaped, and what a name cannot have becomes `_`, so that no text ends the
/// element that it is in. Several elements may follow each other outside of any.
package struct XMLWriter: Sendable {
  private struct Binding {
    var prefix: String
    /// Empty where the default namespace is taken back.
    var namespace: String
    /// The elements around the names that the prefix counts for.
    var depth: Int
  }

  private var bytes: [UInt8] = []
  private let namespaces: [(prefix: String, namespace: String)]
  private var bindings = [
    Binding(prefix: "xml", namespace: XMLQName.xmlNamespace, depth: 0)
  ]
  /// The names of the open elements, with their prefixes.
  private var open: [String] = []
  /// The start tag of the innermost element waits for attributes.
  private var isInTag = false

  /// - Parameters:
  ///   - namespaces: their prefixes, and the namespaces, which each element outside of any declares;
  ///     the default one has an empty prefix. Others are declared where they are needed.
  ///   - declaration: whether a line says first that this is XML in UTF-8.
  package init(namespaces: KeyValuePairs<String, String> = [:], declaration: Bool = false) {
    self.init(namespaces: namespaces.map { ($0.key, $0.value) }, declaration: declaration)
  }

  /// As ``init(namespaces:declaration:)-(KeyValuePairs<String,String>,_)``.
  package init(namespaces: [(prefix: String, namespace: String)], declaration: Bool = false) {
    self.namespaces = namespaces
    if declaration { append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") }
  }

  /// Gives what has been written since it was asked last.
  package mutating func takeBytes() -> [UInt8] {
    defer { bytes.removeAll() }
    return bytes
  }

  // MARK: Elements

  /// Starts an element in the innermost one.
  package mutating func start(_ name: XMLQName) {
    endTag()
    let depth = open.count + 1
    var new: [Binding] = []
    if open.isEmpty {
      new = namespaces.map { Binding(prefix: $0.prefix, namespace: $0.namespace, depth: depth) }
      // An element without a namespace cannot be where there is a default one.
      if name.namespace == nil { new.removeAll { $0.prefix.isEmpty } }
      bindings += new
    }
    let (prefix, declared) = prefix(for: name.namespace ?? "", ofAttribute: false, depth: depth)
    let tag = Self.tag(prefix, name.local)
    open.append(tag)
    isInTag = true
    append("<\(tag)")
    for binding in new { declare(binding) }
    if let declared { declare(declared) }
  }

  /// Ends the innermost element.
  package mutating func end() {
    let tag = open.removeLast()
    if isInTag {
      append("/>")
      isInTag = false
    } else {
      append("</\(tag)>")
    }
    while let last = bindings.last, last.depth > open.count { bindings.removeLast() }
  }

  /// Writes an element with a text and nothing else.
  package mutating func element(_ name: XMLQName, _ text: String) {
    start(name)
    self.text(text)
    end()
  }

  /// Adds an attribute to the element that has just been started.
  ///
  /// - Precondition: nothing has been written into the element.
  package mutating func attribute(_ name: XMLQName, _ value: String) {
    precondition(isInTag, "the attributes of an element come before what is in it")
    var tag = Self.tag("", name.local)
    if let namespace = name.namespace {
      tag = Self.tag(prefix(ofValue: namespace), name.local)
    }
    append(" \(tag)=\"")
    XMLText.append(value, inAttribute: true, to: &bytes)
    append("\"")
  }

  /// Adds an attribute whose value is a name, as that of `xsi:type` is.
  ///
  /// - Precondition: nothing has been written into the element.
  package mutating func attribute(_ name: XMLQName, naming value: XMLQName) {
    guard let namespace = value.namespace else { return attribute(name, value.local) }
    attribute(name, Self.tag(prefix(ofValue: namespace), value.local))
  }

  /// Adds text to the innermost element.
  package mutating func text(_ text: String) {
    guard !text.isEmpty else { return }
    endTag()
    XMLText.append(text, to: &bytes)
  }

  private mutating func endTag() {
    if isInTag { append(">") }
    isInTag = false
  }

  // MARK: Namespaces

  /// The prefix of a namespace in an attribute of the start tag, which declares it where it has none.
  private mutating func prefix(ofValue namespace: String) -> String {
    let (prefix, declared) = prefix(for: namespace, ofAttribute: true, depth: open.count)
    if let declared { declare(declared) }
    return prefix
  }

  /// The prefix of a namespace, and its binding where it is new.
  private mutating func prefix(
    for namespace: String, ofAttribute: Bool, depth: Int
  ) -> (prefix: String, declared: Binding?) {
    let known = bindings.last { binding in
      binding.namespace == namespace && !(ofAttribute && binding.prefix.isEmpty)
        && bindings.last { $0.prefix == binding.prefix }?.depth == binding.depth
    }
    if let known { return (known.prefix, nil) }
    let hasDefault = bindings.contains { $0.prefix.isEmpty }
    if namespace.isEmpty, !hasDefault { return ("", nil) }
    var prefix = ""
    // One element cannot declare the default namespace twice.
    if ofAttribute || bindings.contains(where: { $0.prefix.isEmpty && $0.depth == depth }) {
      var number = 1
      while bindings.contains(where: { $0.prefix == "ns\(number)" }) { number += 1 }
      prefix = "ns\(number)"
    }
    let binding = Binding(prefix: prefix, namespace: namespace, depth: depth)
    bindings.append(binding)
    return (prefix, binding)
  }

  private mutating func declare(_ binding: Binding) {
    append(binding.prefix.isEmpty ? " xmlns=\"" : " xmlns:\(binding.prefix)=\"")
    XMLText.append(binding.namespace, inAttribute: true, to: &bytes)
    append("\"")
  }

  // MARK: Bytes

  private static func tag(_ prefix: String, _ local: String) -> String {
    let name = isSafe(local) ? local : XMLText.name(local)
    return prefix.isEmpty ? name : "\(prefix):\(name)"
  }

  /// Whether all of a name in ASCII is what names may have; other letters are the caller's care.
  private static func isSafe(_ name: String) -> Bool {
    var isFirst = true
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "_"), 0x80...:
        break
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
        if isFirst { return false }
      default: return false
      }
      isFirst = false
    }
    return !isFirst
  }

  private mutating func append(_ markup: String) { bytes.append(contentsOf: markup.utf8) }
}
