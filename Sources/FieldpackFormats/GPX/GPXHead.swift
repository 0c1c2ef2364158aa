import FieldpackCore

/// What a GPX document says of itself: the element `metadata` of GPX 1.1, or the elements that
/// GPX 1.0 has in its place. The bounds are left out, since they follow from the features.
struct GPXHead {
  /// More than this is not kept.
  static let maximumLength = 1 << 20

  private var capture = GPXExtensionCapture()
  private var whole: String?
  private var texts: [GPXTag: [UInt8]] = [:]
  private var tag = GPXTag.other
  private(set) var isTooLong = false

  // MARK: GPX 1.1

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces) {
    capture.start(name, attributes, namespaces)
    checkLength(capture.count)
  }

  mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !isTooLong else { return }
    capture.characters(bytes)
    checkLength(capture.count)
  }

  mutating func end(_ name: XMLName) { _ = capture.end(name) }

  /// Ends the element `metadata`, while the parser still has its names.
  mutating func end() {
    if capture.finish(as: "metadata") { whole = String(decoding: capture.whole, as: UTF8.self) }
  }

  // MARK: GPX 1.0

  /// Whether an element of the root is one of these.
  mutating func begin(_ tag: GPXTag) -> Bool {
    guard Self.elements.contains(tag), texts[tag] == nil else { return false }
    self.tag = tag
    texts[tag] = []
    return true
  }

  mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !isTooLong else { return }
    texts[tag, default: []].append(contentsOf: bytes)
    checkLength(texts[tag]?.count ?? 0)
  }

  private mutating func checkLength(_ count: Int) {
    if count > Self.maximumLength { isTooLong = true }
  }

  private static let elements: Set<GPXTag> = [
    .name, .desc, .author, .email, .url, .urlname, .time, .keywords,
  ]

  // MARK: The result

  /// The element `metadata` of GPX 1.1; `nil` where the document says nothing.
  var xml: String? {
    guard !isTooLong else { return nil }
    if let whole { return whole }
    let children = ofVersion10()
    guard !children.isEmpty else { return nil }
    return "<metadata xmlns=\"\(GPXWriter.namespace)\">"
      + String(decoding: children, as: UTF8.self) + "</metadata>"
  }

  private func ofVersion10() -> [UInt8] {
    var xml = XMLWriter()
    append(.name, to: &xml)
    append(.desc, to: &xml)
    appendAuthor(to: &xml)
    if let address = value(.url) {
      xml.start("link")
      xml.attribute("href", address)
      append(.urlname, as: "text", to: &xml)
      xml.end()
    }
    append(.time, to: &xml)
    append(.keywords, to: &xml)
    return xml.takeBytes()
  }

  private func appendAuthor(to xml: inout XMLWriter) {
    let address = value(.email)?.split(separator: "@", maxSplits: 1).map(String.init)
    guard value(.author) != nil || address?.count == 2 else { return }
    xml.start("author")
    append(.author, as: "name", to: &xml)
    if let address, address.count == 2 {
      xml.start("email")
      xml.attribute("id", address[0])
      xml.attribute("domain", address[1])
      xml.end()
    }
    xml.end()
  }

  /// The text of an element without white space around it, `nil` where there is none.
  private func value(_ tag: GPXTag) -> String? {
    guard let text = texts[tag] else { return nil }
    let inner = text.withUnsafeBufferPointer { String(decoding: trimmed($0), as: UTF8.self) }
    return inner.isEmpty ? nil : inner
  }

  private func append(_ tag: GPXTag, as name: String? = nil, to xml: inout XMLWriter) {
    if let value = value(tag) { xml.element(XMLQName(name ?? "\(tag)"), value) }
  }
}

extension GPXWriter {
  /// The standard that the documents of ``FileReadResult/gpxMetadata`` follow.
  package static var metadataStandard: String { namespace }

  /// Whether a document can stand in a GPX file as its `metadata`.
  package static func takes(metadata xml: String) -> Bool {
    guard xml.hasPrefix("<metadata") else { return false }
    // An element that ``maximumLength`` allows may hold so many.
    var options = XMLTree.Options()
    options.maximumNodes = GPXHead.maximumLength
    do throws(FieldpackError) {
      _ = try XMLTree(Array(xml.utf8), options: options)
      return true
    } catch { return false }
  }
}
