import CXML2
package import FieldpackCore

/// Consumes the events of an ``XMLPushParser``; what it throws ends the parse.
package protocol XMLHandling: AnyObject {
  func startElement(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    in parser: XMLPushParser
  ) throws(FieldpackError)
  func endElement(_ name: XMLName, in parser: XMLPushParser) throws(FieldpackError)
  /// Text and CDATA, in pieces.
  func characters(
    _ bytes: UnsafeBufferPointer<UInt8>, in parser: XMLPushParser
  ) throws(FieldpackError)
}

/// Reads XML in chunks as they come, over libxml2's SAX2 interface.
///
/// Nothing outside the bytes given is read: no DTD, no entity, no network. A document that declares
/// an entity or an attribute default, nests deeper than 256 elements, has more than 1,000 attributes
/// on an element or namespaces in force, or holds a text of more than 64 MiB is refused; libxml2
/// itself ends names, attributes and tags at 10 MB. Comments and processing instructions are passed
/// over. Errors are `.invalidData` with the line.
package final class XMLPushParser {
  package static let maximumDepth = 256
  static let maximumTextLength = 64 << 20
  /// Attributes of an element, its namespaces counted with them, and namespaces in force there:
  /// libxml2 looks through all of them for each of them.
  static let maximumAttributes = 1_000
  /// libxml2 is given so many bytes at a time, which bounds the tags that are not counted.
  private static let pieceLength = 64 << 10

  let file: String?
  private let handler: any XMLHandling
  private var context: xmlParserCtxtPtr?
  private var depth = 0
  private var textLength = 0
  /// The piece of CDATA before ended in a carriage return, whose line feed may follow.
  private var endsWithReturn = false
  private var openTag = XMLOpenTag()
  private var failure: FieldpackError?
  /// The error is of the text, which ends too early or is no XML, and nothing that is refused.
  package private(set) var isBroken = false

  private static let initialized: Void = xmlInitParser()

  package init(file: String?, handler: any XMLHandling) throws(FieldpackError) {
    _ = Self.initialized
    self.file = file
    self.handler = handler
    var events = Self.events()
    let user = Unmanaged.passUnretained(self).toOpaque()
    context = xmlCreatePushParserCtxt(&events, user, nil, 0, nil)
    guard let context else { throw FieldpackError(.io, "out of memory for the XML parser") }
    // Substituting entities is safe where none can be declared, and without it libxml2 leaves
    // `&#38;` in attribute values.
    let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue
    xmlCtxtUseOptions(context, Int32(options))
  }

  deinit {
    guard let context else { return }
    xmlFreeDoc(context.pointee.myDoc)
    context.pointee.myDoc = nil
    xmlFreeParserCtxt(context)
  }

  /// The line reached, 1-based.
  package var line: Int { Int(context?.pointee.input?.pointee.line ?? 0) }

  package var position: FilePosition { FilePosition(file: file, line: line) }

  /// Gives the next bytes of the document.
  package func push(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    var start = 0
    while start < bytes.count {
      let end = min(start + Self.pieceLength, bytes.count)
      try parse(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isLast: false)
      start = end
      if let context { check(count: openTag.attributeCount(in: context)) }
      if let failure { throw failure }
    }
  }

  /// Says that the document has ended.
  package func finish() throws(FieldpackError) {
    try parse(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
  }

  private func parse(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool
  ) throws(FieldpackError) {
    if let failure { throw failure }
    let code = xmlParseChunk(
      context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
      isLast ? 1 : 0)
    if let failure { throw failure }
    guard context?.pointee.wellFormed == 0 else { return }
    isBroken = true
    throw FieldpackError(
      .invalidData, "the XML is broken (libxml2 code \(code))", position: position)
  }

  /// Refuses an element with so many attributes and namespaces, or so many namespaces in force.
  private func check(count: Int) {
    guard count > Self.maximumAttributes else { return }
    refuse("an element has more than 1,000 attributes and namespaces")
  }

  /// Called by a handler that keeps nothing of the text so far: its length counts no longer.
  package func forgetText() { textLength = 0 }

  /// Ends the parse; the first reason stays.
  fileprivate func stop(_ error: FieldpackError) {
    guard failure == nil else { return }
    failure = error.adding(position: position)
    xmlStopParser(context)
  }

  private func refuse(_ what: String) {
    stop(FieldpackError(.invalidData, what, position: position))
  }
}

extension XMLPushParser {
  /// Gives the parser to `body` without counting the reference, once for each event.
  @inline(__always)
  private static func with(_ user: UnsafeMutableRawPointer?, _ body: (XMLPushParser) -> Void) {
    guard let user else { return }
    Unmanaged<XMLPushParser>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
  }

  private static func events() -> xmlSAXHandler {
    var events = xmlSAXHandler()
    events.initialized = UInt32(XML_SAX2_MAGIC)
    events.startElementNs = {
      user, local, prefix, uri, declared, namespaces, count, _, attributes in
      guard let local else { return }
      XMLPushParser.with(user) {
        $0.start(
          XMLName(local: local, prefix: prefix, uri: uri),
          XMLAttributes(attributes, count: Int(count)),
          XMLNamespaces(namespaces, count: Int(declared)))
      }
    }
    events.endElementNs = { user, local, prefix, uri in
      guard let local else { return }
      XMLPushParser.with(user) { $0.end(XMLName(local: local, prefix: prefix, uri: uri)) }
    }
    events.characters = { user, text, count in XMLPushParser.with(user) { $0.text(text, count) } }
    events.ignorableWhitespace = events.characters
    events.cdataBlock = { user, text, count in
      XMLPushParser.with(user) { $0.literal(text, count) }
    }
    refuseDeclarations(&events)
    events.serror = { user, error in
      guard let error else { return }
      XMLPushParser.with(user) { $0.report(error.pointee) }
    }
    return events
  }

  private static func refuseDeclarations(_ events: inout xmlSAXHandler) {
    events.entityDecl = { user, _, _, _, _, _ in
      XMLPushParser.with(user) { $0.refuse("the document declares an entity, which is refused") }
    }
    events.unparsedEntityDecl = { user, _, _, _, _ in
      XMLPushParser.with(user) { $0.refuse("the document declares an entity, which is refused") }
    }
    events.attributeDecl = { user, _, _, _, _, _, values in
      xmlFreeEnumeration(values)
      XMLPushParser.with(user) {
        $0.refuse("the document declares an attribute list, which is refused")
      }
    }
    // Reached only where an outer DTD might declare the entity.
    events.reference = { user, _ in
      XMLPushParser.with(user) {
        $0.refuse("the document refers to an entity that it does not declare")
      }
    }
  }

  private func start(_ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces) {
    guard failure == nil else { return }
    depth += 1
    textLength = 0
    guard depth <= Self.maximumDepth else {
      refuse("elements nest deeper than \(Self.maximumDepth)")
      return
    }
    // libxml2 counts the prefix and the address of each namespace.
    let inForce = Int(context?.pointee.nsNr ?? 0) / 2
    check(count: max(attributes.count + namespaces.count, inForce))
    guard failure == nil else { return }
    do throws(FieldpackError) {
      try handler.startElement(name, attributes, namespaces, in: self)
    } catch { stop(error) }
  }

  private func end(_ name: XMLName) {
    guard failure == nil else { return }
    depth -= 1
    textLength = 0
    do throws(FieldpackError) {
      try handler.endElement(name, in: self)
    } catch { stop(error) }
  }

  private func text(_ text: UnsafePointer<UInt8>?, _ count: Int32) {
    guard failure == nil else { return }
    endsWithReturn = false
    textLength += Int(count)
    guard textLength <= Self.maximumTextLength else {
      refuse("a text is longer than \(Self.maximumTextLength >> 20) MiB")
      return
    }
    do throws(FieldpackError) {
      try handler.characters(UnsafeBufferPointer(start: text, count: Int(count)), in: self)
    } catch { stop(error) }
  }

  /// Takes a piece of CDATA, in which the parser leaves line ends as they are: each becomes a line
  /// feed (XML 1.0 section 2.11), which other text gets from the parser.
  private func literal(_ bytes: UnsafePointer<UInt8>?, _ count: Int32) {
    let piece = UnsafeBufferPointer(start: bytes, count: Int(count))
    let followsReturn = endsWithReturn && piece.first == UInt8(ascii: "\n")
    guard followsReturn || piece.contains(UInt8(ascii: "\r")) else { return text(bytes, count) }
    var lines: [UInt8] = []
    lines.reserveCapacity(piece.count)
    for byte in piece {
      if byte == UInt8(ascii: "\r") || !endsWithReturn || byte != UInt8(ascii: "\n") {
        lines.append(byte == UInt8(ascii: "\r") ? UInt8(ascii: "\n") : byte)
      }
      endsWithReturn = byte == UInt8(ascii: "\r")
    }
    let wasReturn = endsWithReturn
    lines.withUnsafeBufferPointer { text($0.baseAddress, Int32($0.count)) }
    endsWithReturn = wasReturn
  }

  /// Keeps the first fatal error; namespaces that are not declared are common and harmless.
  private func report(_ error: xmlError) {
    guard failure == nil, error.level == XML_ERR_FATAL else { return }
    let message = error.message.map { String(cString: $0) } ?? "the XML is broken"
    let lines = message.split(separator: "\n")
    let position = FilePosition(
      file: file, line: error.line > 0 ? Int(error.line) : nil,
      column: error.int2 > 0 ? Int(error.int2) : nil)
    isBroken = true
    failure = FieldpackError(
      .invalidData, "the XML is broken: \(lines.first ?? "no reason given")", position: position)
  }
}
