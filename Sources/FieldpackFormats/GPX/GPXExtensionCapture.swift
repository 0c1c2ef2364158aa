import FieldpackCore

/// Gathers what a feature's extensions hold: their XML, and the text of their leaves.
///
/// The XML is written anew from the events, with the namespaces that it needs to be read by itself;
/// comments are lost. Elements of Fieldpack's own namespace are columns and nothing else, so they
/// are left out of it.
struct GPXExtensionCapture {
  /// The namespace of attributes that GPX has no element for, as we write them.
  static let namespace: StaticString = "https://fieldpack.dev/gpx/1"

  /// The namespace of extensions that had none, or GPX's own, when they were written.
  static let plainNamespace: StaticString = "https://fieldpack.dev/gpx/1/plain"

  /// The name of the column for a leaf: `prefix_local`, or `local` without a prefix.
  static func columnName(of name: XMLName) -> String {
    let local = String(cString: name.local)
    guard let prefix = name.prefix, name.uri?.equals(plainNamespace) != true else { return local }
    return String(cString: prefix) + "_" + local
  }

  private struct Binding {
    var prefix: UnsafePointer<UInt8>?
    var uri: UnsafePointer<UInt8>?
    var depth: Int
  }

  private struct Key: Hashable {
    var prefix: UnsafePointer<UInt8>?
    var local: UnsafePointer<UInt8>
  }

  private var xml: [UInt8] = []
  private(set) var whole: [UInt8] = []
  private(set) var leaf: [UInt8] = []
  private var isLeaf = false
  private var depth = 0
  /// Whether the element is of our namespace.
  private(set) var isOwn = false
  private var ownName: String?
  private var declared: [Binding] = []
  private var needed: [Binding] = []
  private var columns: [Key: Int] = [:]
  private var ownColumns: [String: Int] = [:]

  /// Bytes gathered so far.
  var count: Int { xml.count }

  /// Inside an element.
  var isOpen: Bool { depth > 0 }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces) {
    if depth == 0 { isOwn = name.uri?.equals(Self.namespace) ?? false }
    depth += 1
    leaf.removeAll(keepingCapacity: true)
    isLeaf = true
    guard !isOwn else {
      ownName = Self.ownName(name, attributes)
      return
    }
    for index in 0..<namespaces.count {
      declared.append(
        Binding(prefix: namespaces.prefix(index), uri: namespaces.uri(index), depth: depth))
    }
    need(name)
    xml.append(UInt8(ascii: "<"))
    append(name)
    for index in 0..<namespaces.count {
      Self.append(namespaces.prefix(index), namespaces.uri(index), to: &xml)
    }
    for index in 0..<attributes.count { append(attributes, index) }
    xml.append(UInt8(ascii: ">"))
  }

  mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
    if depth > 0 { leaf.append(contentsOf: bytes) }
    if depth == 0 || !isOwn { XMLText.append(bytes, to: &xml) }
  }

  /// Closes an element; returns whether it was a leaf, whose text is then in ``leaf``.
  mutating func end(_ name: XMLName) -> Bool {
    defer {
      depth -= 1
      isLeaf = false
    }
    guard !isOwn else { return isLeaf }
    if isLeaf, leaf.isEmpty {
      xml[xml.count - 1] = UInt8(ascii: "/")
    } else {
      xml.append(contentsOf: "</".utf8)
      append(name)
    }
    xml.append(UInt8(ascii: ">"))
    while let last = declared.last, last.depth == depth { declared.removeLast() }
    return isLeaf
  }

  /// The column remembered for the leaf that has just ended.
  func column(of name: XMLName) -> Int? {
    if isOwn, let ownName { return ownColumns[ownName] }
    return columns[Key(prefix: name.prefix, local: name.local)]
  }

  /// What the column of the leaf that has just ended is to be named, and whether we named it.
  func newColumn(of name: XMLName) -> (name: String, isOwn: Bool) {
    if isOwn, let ownName { return (ownName, true) }
    return (Self.columnName(of: name), false)
  }

  /// Files may hold any number of names; those without a column are not worth remembering.
  mutating func remember(_ column: Int, for name: XMLName) {
    if isOwn, let ownName {
      ownColumns[ownName] = column
    } else {
      columns[Key(prefix: name.prefix, local: name.local)] = column
    }
  }

  /// Ends the element around it and begins anew; `true` where there is something in it, which
  /// is then in ``whole``.
  mutating func finish(as element: StaticString = "extensions") -> Bool {
    guard depth > 0 || !xml.isEmpty else { return false }
    defer {
      xml.removeAll(keepingCapacity: true)
      declared.removeAll(keepingCapacity: true)
      needed.removeAll(keepingCapacity: true)
      depth = 0
    }
    guard !xml.allSatisfy(isXMLSpace) else { return false }
    whole.removeAll(keepingCapacity: true)
    whole.append(contentsOf: "<\(element)".utf8)
    for binding in needed { Self.append(binding.prefix, binding.uri, to: &whole) }
    whole.append(UInt8(ascii: ">"))
    whole.append(contentsOf: xml)
    whole.append(contentsOf: "</\(element)>".utf8)
    return true
  }

  // MARK: XML

  private static func ownName(_ name: XMLName, _ attributes: XMLAttributes) -> String {
    for index in 0..<attributes.count {
      if let attribute = attributes.name(index), attribute.local.equals("name") {
        return String(decoding: attributes.value(index), as: UTF8.self)
      }
    }
    return String(cString: name.local)
  }

  private mutating func append(_ name: XMLName) {
    if let prefix = name.prefix {
      xml.append(contentsOf: prefix.bytes)
      xml.append(UInt8(ascii: ":"))
    }
    xml.append(contentsOf: name.local.bytes)
  }

  private mutating func append(_ attributes: XMLAttributes, _ index: Int) {
    guard let name = attributes.name(index) else { return }
    if name.prefix != nil { need(name) }
    xml.append(UInt8(ascii: " "))
    append(name)
    xml.append(contentsOf: "=\"".utf8)
    XMLText.append(attributes.value(index), inAttribute: true, to: &xml)
    xml.append(UInt8(ascii: "\""))
  }

  /// Remembers a prefix that is declared outside of the element.
  private mutating func need(_ name: XMLName) {
    if name.prefix == nil, name.uri == nil { return }
    if let prefix = name.prefix, prefix.equals("xml") { return }
    guard !declared.contains(where: { $0.prefix == name.prefix }),
      !needed.contains(where: { $0.prefix == name.prefix })
    else { return }
    needed.append(Binding(prefix: name.prefix, uri: name.uri, depth: 0))
  }

  /// A prefix that nothing declares gets a namespace, so that the element can be read by itself.
  private static func append(
    _ prefix: UnsafePointer<UInt8>?, _ uri: UnsafePointer<UInt8>?, to bytes: inout [UInt8]
  ) {
    bytes.append(contentsOf: " xmlns".utf8)
    if let prefix {
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: prefix.bytes)
    }
    bytes.append(contentsOf: "=\"".utf8)
    if let uri {
      XMLText.append(uri.bytes, inAttribute: true, to: &bytes)
    } else if let prefix {
      bytes.append(contentsOf: "urn:undeclared:".utf8)
      bytes.append(contentsOf: prefix.bytes)
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
