import FieldpackCore
import FieldpackFormats
import FieldpackHTTP

/// What is asked of a sensor's service.
package struct SensorRequest: Hashable, Sendable {
  package var operation: SensorOperation
  package var sessionId: String?
  package var captureId: String?
  /// The longer side at most, of a thrifty download, in pixels.
  package var maximumSize: Int?
  package var configuration: SensorDictionary?

  package init(
    _ operation: SensorOperation, session: String? = nil, capture: String? = nil,
    maximumSize: Int? = nil, configuration: SensorDictionary? = nil
  ) {
    self.operation = operation
    sessionId = session
    captureId = capture
    self.maximumSize = maximumSize
    self.configuration = configuration
  }

  /// The method, and the path below the address of the service.
  var line: (method: HTTPRequest.Method, path: String) {
    let session = PercentText.encode(sessionId ?? "")
    let capture = PercentText.encode(captureId ?? "")
    switch operation {
    case .register: return (.post, "/register")
    case .unregister: return (.delete, "/register/\(session)")
    case .lock: return (.post, "/lock/\(session)")
    case .stealLock: return (.put, "/lock/\(session)")
    case .unlock: return (.delete, "/lock/\(session)")
    case .getCommonInfo, .getDetailedInfo: return (.get, "/info")
    case .initialize: return (.post, "/initialize/\(session)")
    case .uninitialize: return (.delete, "/initialize/\(session)")
    case .getConfiguration: return (.get, "/configure/\(session)")
    case .configure: return (.post, "/configure/\(session)")
    case .capture: return (.post, "/capture/\(session)")
    case .beginCapture: return (.post, "/capture/\(session)/async")
    case .endCapture: return (.put, "/capture/\(session)/async")
    case .getStatus: return (.get, "/status")
    case .download: return (.get, "/download/\(capture)")
    case .getContentType: return (.get, "/download/\(capture)/info")
    case .thriftyDownload: return (.get, "/download/\(capture)/\(maximumSize ?? 0)")
    case .rawDownload: return (.get, "/download/\(capture)/raw")
    case .cancel: return (.post, "/cancel/\(session)")
    case .stream: return (.get, "/stream/\(capture)" + (sessionId == nil ? "" : "/\(session)"))
    case .connectSequence, .captureSequence, .disconnectSequence, .recoverySequence, .all:
      preconditionFailure("a sequence is no operation on the wire")
    }
  }

  /// The body that sets a configuration.
  func body(namespace: String) -> [UInt8]? {
    guard operation == .configure else { return nil }
    return (configuration ?? SensorDictionary()).configurationBody(namespace: namespace)
  }
}

/// The namespaces of WS-Biometric Devices, and those that its values use.
package enum SensorNamespace {
  /// Of NIST SP 500-288.
  package static let standard = "urn:oid:2.16.840.1.101.3.9.3.1"
  /// From 2012 to the last one of OASIS.
  package static let all = [
    "urn:oid:2.16.840.1.101.3.9.3.0", standard,
    "http://docs.oasis-open.org/biometrics/ns/ws-bd-1.0",
    "http://docs.oasis-open.org/bioserv/ns/wsbd-1.0",
  ]
  static let schema = "http://www.w3.org/2001/XMLSchema"
  static let instance = "http://www.w3.org/2001/XMLSchema-instance"
}

extension SensorDictionary {
  /// The document `configuration` with these keys and values.
  package func configurationBody(namespace: String = SensorNamespace.standard) -> [UInt8] {
    var writer = SensorValueWriter(namespace: namespace)
    writer.xml.start(writer.name("configuration"))
    writer.write(self)
    writer.xml.end()
    return writer.xml.takeBytes()
  }
}

/// Writes values as a service reads them.
private struct SensorValueWriter {
  let namespace: String
  var xml: XMLWriter

  init(namespace: String) {
    self.namespace = namespace
    xml = XMLWriter(namespaces: [
      "": namespace, "i": SensorNamespace.instance, "xs": SensorNamespace.schema,
    ])
  }

  func name(_ local: String) -> XMLQName { XMLQName(local, in: namespace) }

  mutating func write(_ dictionary: SensorDictionary) {
    for item in dictionary.items {
      xml.start(name("item"))
      xml.element(name("key"), item.key)
      write(item.value, as: "value")
      xml.end()
    }
  }

  mutating func write(_ value: SensorValue, as element: String) {
    xml.start(name(element))
    defer { xml.end() }
    switch value {
    case .null: xml.attribute(XMLQName("nil", in: SensorNamespace.instance), "true")
    case .text(let text, let type):
      if let type { xml.attribute(.type, naming: XMLQName(type, in: SensorNamespace.schema)) }
      xml.text(text)
    case .parameter(let parameter):
      declare("Parameter")
      write(parameter)
    case .range(let range):
      declare("Range")
      if let minimum = range.minimum { write(minimum, as: "minimum") }
      if let maximum = range.maximum { write(maximum, as: "maximum") }
      if let flag = range.minimumIsExclusive { text("\(flag)", as: "minimumIsExclusive") }
      if let flag = range.maximumIsExclusive { text("\(flag)", as: "maximumIsExclusive") }
    case .resolution(let resolution):
      declare("Resolution")
      text(SensorValue.double(resolution.width).text, as: "width")
      text(SensorValue.double(resolution.height).text, as: "height")
      text(resolution.unit, as: "unit")
    case .resource(let resource):
      declare("Resource")
      text(resource.uri, as: "uri")
      text(resource.contentType, as: "contentType")
      text(resource.relationship, as: "relationship")
    case .dictionary(let dictionary):
      declare("Dictionary")
      write(dictionary)
    case .array(let values):
      declare("Array")
      for value in values { write(value, as: "element") }
    }
  }

  /// The name of a type in the service's namespace stands without a prefix, which means the same.
  private mutating func declare(_ type: String) { xml.attribute(.type, type) }

  private mutating func text(_ text: String?, as element: String) {
    if let text { xml.element(name(element), text) }
  }

  private mutating func write(_ parameter: SensorParameter) {
    text(parameter.name, as: "name")
    if let type = parameter.type {
      text(SensorParameter.qualified(type), as: "type")
    }
    if let flag = parameter.isReadOnly { text("\(flag)", as: "readOnly") }
    if let flag = parameter.supportsMultiple { text("\(flag)", as: "supportsMultiple") }
    write(parameter.defaultValue, as: "defaultValue")
    guard let allowed = parameter.allowedValues else { return }
    xml.start(name("allowedValues"))
    for value in allowed { write(value, as: "allowedValue") }
    xml.end()
  }
}

extension SensorParameter {
  private static let ownTypes: Set = [
    "Parameter", "Range", "Resolution", "Resource", "Dictionary", "Array", "StringArray",
    "UuidArray", "ResourceArray",
  ]

  /// A type with the prefix `xs` where it is one of XML Schema.
  static func qualified(_ type: String) -> String {
    ownTypes.contains(type) ? type : "xs:\(type)"
  }
}
