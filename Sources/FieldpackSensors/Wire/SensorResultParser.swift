package import FieldpackCore
import FieldpackFormats

/// Reads the answer of a service while it comes. What a sensor captured goes to its data piece after
/// piece; all else is small and is kept.
package final class SensorResultParser {
  private let parser: XMLTreeParser
  private let data: SpooledBytes
  private static let maximumCaptures = 1_000

  /// - Parameters:
  ///   - data: takes what a sensor captured.
  ///   - limit: a capture of more bytes is refused.
  package init(into data: SpooledBytes, limit: Int = .max) throws(FieldpackError) {
    self.data = data
    var options = XMLTree.Options()
    options.maximumLength = 4 << 20
    options.maximumNodes = 50_000
    options.base64Elements = ["sensorData"]
    parser = try XMLTreeParser(
      options: options, taking: nil
    ) { (bytes) throws(FieldpackError) in
      try data.append(bytes, ofCaptureUpTo: limit)
    }
  }

  /// - Throws: `.invalidData` for what is no XML or too much, `.full`, `.io`.
  package func push(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    try parser.push(bytes)
  }

  /// The result, once all bytes have come.
  ///
  /// - Throws: `.invalidData` for what is no result.
  package func finish() throws(FieldpackError) -> SensorResult {
    let root = try parser.finish()
    guard root.name.local == "result",
      root.name.namespace.map({ SensorNamespace.all.contains($0) }) ?? true
    else { throw Self.error("the answer is no result of a sensor") }
    guard let status = root.child("status")?.value, !status.isEmpty else {
      throw Self.error("the answer has no status")
    }
    var result = SensorResult(statusText: status)
    result.namespace = root.name.namespace
    result.badFields = root.child("badFields")?.children("element").map(\.text) ?? []
    result.captureIds = root.child("captureIds")?.children("element").map(\.value) ?? []
    result.metadata = root.child("metadata").flatMap { $0.isNil ? nil : SensorDictionary($0) }
    result.message = root.child("message").flatMap { $0.isNil ? nil : $0.text }
    result.sessionId = root.child("sessionId")?.value
    guard root.children("sensorData").count <= 1 else {
      throw Self.error("the answer has more than one capture")
    }
    if let element = root.child("sensorData"), !element.isNil { result.data = data }
    try Self.check(result)
    return result
  }

  /// Ids stand in addresses and in files of ours.
  private static func check(_ result: SensorResult) throws(FieldpackError) {
    guard result.captureIds.count <= maximumCaptures else {
      throw error("the answer has more than \(maximumCaptures) captures")
    }
    let ids = result.captureIds + (result.sessionId.map { [$0] } ?? [])
    guard ids.allSatisfy(isSound) else { throw error("the answer has an id that is none") }
  }

  private static func isSound(_ id: String) -> Bool {
    (1...64).contains(id.utf8.count)
      && id.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  private static func error(_ message: String) -> FieldpackError {
    FieldpackError(.invalidData, message)
  }
}

extension SensorResult {
  /// A whole answer.
  package init(xml bytes: [UInt8]) throws(FieldpackError) {
    let parser = try SensorResultParser(into: SpooledBytes())
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in
      try parser.push(bytes)
    }
    self = try parser.finish()
  }
}

extension SpooledBytes {
  /// Appends bytes of a capture.
  ///
  /// - Throws: `.invalidData` where the capture becomes longer than `limit` bytes, `.full`, `.io`.
  func append(
    _ bytes: UnsafeRawBufferPointer, ofCaptureUpTo limit: Int
  ) throws(FieldpackError) {
    guard bytes.count <= limit - count else {
      throw FieldpackError(.invalidData, "the capture is longer than \(limit) bytes")
    }
    try append(bytes)
  }
}

extension SensorDictionary {
  /// The document `configuration` of a request.
  ///
  /// - Throws: `.invalidData` for what is none.
  package init(configuration bytes: [UInt8]) throws(FieldpackError) {
    let root = try XMLTree(bytes)
    guard root.name.local == "configuration" else {
      throw FieldpackError(.invalidData, "the document is no configuration")
    }
    self.init(root)
  }
}

// MARK: Values

extension XMLTree {
  /// The text without white space around it.
  fileprivate var value: String { text.trimmedOfSpace }

  fileprivate var isNil: Bool {
    ["true", "1"].contains(self[XMLQName("nil", in: SensorNamespace.instance)] ?? "")
  }

  fileprivate var flag: Bool? {
    switch value {
    case "true", "1": true
    case "false", "0": false
    default: nil
    }
  }
}

extension SensorDictionary {
  fileprivate init(_ element: XMLTree) {
    self.init(
      element.children("item").map { item in
        Item(item.child("key")?.text ?? "", item.child("value").map { SensorValue($0) } ?? .null)
      })
  }
}

extension SensorValue {
  fileprivate init(_ element: XMLTree) {
    guard !element.isNil else {
      self = .null
      return
    }
    let type = element.type
    if let type, type.namespace == SensorNamespace.schema {
      self = .text(element.text, type: type.local)
      return
    }
    switch type?.local ?? Self.likelyType(of: element) {
    case "Parameter": self = .parameter(SensorParameter(element))
    case "Range":
      self = .range(
        SensorRange(
          minimum: element.child("minimum").map { SensorValue($0) },
          maximum: element.child("maximum").map { SensorValue($0) },
          minimumIsExclusive: element.child("minimumIsExclusive")?.flag,
          maximumIsExclusive: element.child("maximumIsExclusive")?.flag))
    case "Resolution":
      self = .resolution(
        SensorResolution(
          width: element.child("width").flatMap { Double($0.value) } ?? 0,
          height: element.child("height").flatMap { Double($0.value) } ?? 0,
          unit: element.child("unit")?.text))
    case "Resource": self = .resource(SensorResource(element))
    case "Dictionary": self = .dictionary(SensorDictionary(element))
    case "ResourceArray":
      self = .array(element.children("element").map { .resource(SensorResource($0)) })
    case "Array", "StringArray", "UuidArray":
      self = .array(element.children("element").map { SensorValue($0) })
    default: self = .text(element.text)
    }
  }

  /// The type of an element that names none, by what is in it.
  private static func likelyType(of element: XMLTree) -> String? {
    if element.child("defaultValue") != nil { return "Parameter" }
    if element.child("item") != nil { return "Dictionary" }
    if element.child("uri") != nil { return "Resource" }
    return element.child("element") != nil ? "Array" : nil
  }
}

extension SensorParameter {
  fileprivate init(_ element: XMLTree) {
    let type = element.child("type")
    self.init(
      element.child("name")?.text ?? "",
      type: type.flatMap { $0.qualifiedName($0.text)?.local },
      isReadOnly: element.child("readOnly")?.flag,
      supportsMultiple: element.child("supportsMultiple")?.flag,
      defaultValue: element.child("defaultValue").map { SensorValue($0) } ?? .null,
      allowedValues: element.child("allowedValues")?.children("allowedValue")
        .map { SensorValue($0) })
  }
}

extension SensorResource {
  fileprivate init(_ element: XMLTree) {
    self.init(
      uri: element.child("uri")?.value ?? "", contentType: element.child("contentType")?.text,
      relationship: element.child("relationship")?.text)
  }
}
