import FieldpackCore

/// Hands the events of a GPX document on to what is known of it.
final class GPXHandler: XMLHandling {
  /// Lent by whoever reads, for as long as the parser is fed: one access that is checked, not one
  /// for every event.
  private let document: UnsafeMutablePointer<GPXDocument>

  init(_ document: UnsafeMutablePointer<GPXDocument>) { self.document = document }

  func startElement(
    _ name: XMLName, _ attributes: XMLAttributes, _ namespaces: XMLNamespaces,
    in parser: XMLPushParser
  ) throws(FieldpackError) {
    try document.pointee.startElement(name, attributes, namespaces, in: parser)
  }

  func endElement(_ name: XMLName, in parser: XMLPushParser) throws(FieldpackError) {
    document.pointee.endElement(name)
  }

  func characters(
    _ bytes: UnsafeBufferPointer<UInt8>, in parser: XMLPushParser
  ) throws(FieldpackError) {
    document.pointee.characters(bytes)
  }
}
