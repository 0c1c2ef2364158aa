import FieldpackCore

/// What a simulated service answers, before it is written.
struct SimulatedResult: Sendable {
  var status: SensorStatus
  var badFields: [String] = []
  var captureIds: [String] = []
  var metadata: SensorDictionary?
  var message: String?
  var data: [UInt8]?
  var sessionId: String?

  init(
    _ status: SensorStatus, badFields: [String] = [], captureIds: [String] = [],
    metadata: SensorDictionary? = nil, message: String? = nil, sessionId: String? = nil
  ) {
    self.status = status
    self.badFields = badFields
    self.captureIds = captureIds
    self.metadata = metadata
    self.message = message
    self.sessionId = sessionId
  }
}

/// Writes answers as the services do, to the byte: each of them declares its namespaces in other places.
struct SimulatedAnswer {
  let dialect: SensorSimulator.Dialect
  let namespace: String

  private static let instance = "http://www.w3.org/2001/XMLSchema-instance"
  private static let schema = "http://www.w3.org/2001/XMLSchema"

  private var isJava: Bool { dialect == .java }

  func bytes(of result: SimulatedResult) -> [UInt8] {
    var lines = Lines(indent: isJava ? "    " : "  ")
    if isJava { lines.add("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>") }
    let declared =
      isJava ? "" : " xmlns:i=\"\(Self.instance)\" xmlns:xs=\"\(Self.schema)\""
    lines.open("result", " xmlns=\"\(namespace)\"\(declared)")
    let status =
      result.status == .noSuchParameter && isJava ? "noSuchParamter" : result.status.rawValue
    lines.leaf("status", status)
    if !result.badFields.isEmpty { list("badFields", result.badFields, &lines) }
    if !result.captureIds.isEmpty { list("captureIds", result.captureIds, &lines) }
    if let metadata = result.metadata {
      lines.open("metadata")
      write(metadata, &lines)
      lines.close("metadata")
    }
    if let message = result.message { lines.leaf("message", message) }
    if let data = result.data { lines.leaf("sensorData", Base64.encode(data)) }
    if let id = result.sessionId { lines.leaf("sessionId", id) }
    lines.close("result")
    if !isJava { lines.bytes.removeLast() }
    return lines.bytes
  }

  private func list(_ name: String, _ texts: [String], _ lines: inout Lines) {
    lines.open(name)
    for text in texts { lines.leaf("element", text) }
    lines.close(name)
  }

  private func write(_ dictionary: SensorDictionary, _ lines: inout Lines) {
    for item in dictionary.items {
      lines.open("item")
      lines.leaf("key", item.key)
      write(item.value, as: "value", isOuter: true, &lines)
      lines.close("item")
    }
  }

  /// - Parameter isOuter: whether no element around it has declared the namespace of types.
  private func write(
    _ value: SensorValue, as name: String, isOuter: Bool = false, _ lines: inout Lines
  ) {
    let declared = isOuter && isJava ? " xmlns:xsi=\"\(Self.instance)\"" : ""
    let prefix = isJava ? "xsi" : "i"
    func type(_ name: String) -> String { "\(declared) \(prefix):type=\"\(name)\"" }
    switch value {
    case .null: lines.leaf(name, "", "\(declared) \(prefix):nil=\"true\"")
    case .text(let text, nil): lines.leaf(name, text)
    case .text(let text, let type?):
      let schema = isJava ? " xmlns:xs=\"\(Self.schema)\"" : ""
      lines.leaf(name, text, "\(declared)\(schema) \(prefix):type=\"xs:\(type)\"")
    case .parameter(let parameter):
      lines.open(name, type("Parameter"))
      write(parameter, &lines)
      lines.close(name)
    case .range(let range):
      lines.open(name, type("Range"))
      if let minimum = range.minimum { write(minimum, as: "minimum", &lines) }
      if let maximum = range.maximum { write(maximum, as: "maximum", &lines) }
      if let flag = range.minimumIsExclusive { lines.leaf("minimumIsExclusive", "\(flag)") }
      if let flag = range.maximumIsExclusive { lines.leaf("maximumIsExclusive", "\(flag)") }
      lines.close(name)
    case .resolution(let resolution):
      lines.open(name, type("Resolution"))
      lines.leaf("width", "\(resolution.width)")
      lines.leaf("height", "\(resolution.height)")
      if let unit = resolution.unit { lines.leaf("unit", unit) }
      lines.close(name)
    case .resource(let resource):
      lines.open(name, type("Resource"))
      write(resource, &lines)
      lines.close(name)
    case .dictionary(let dictionary):
      lines.open(name, type("Dictionary"))
      write(dictionary, &lines)
      lines.close(name)
    case .array(let values): write(values, as: name, type, &lines)
    }
  }

  private func write(
    _ values: [SensorValue], as name: String, _ type: (String) -> String, _ lines: inout Lines
  ) {
    let resources = values.compactMap { value in
      if case .resource(let resource) = value { resource } else { nil }
    }
    let areResources = !values.isEmpty && resources.count == values.count
    lines.open(name, type(areResources ? "ResourceArray" : "Array"))
    if areResources {
      for resource in resources {
        lines.open("element")
        write(resource, &lines)
        lines.close("element")
      }
    } else {
      for value in values { write(value, as: "element", &lines) }
    }
    lines.close(name)
  }

  private func write(_ parameter: SensorParameter, _ lines: inout Lines) {
    lines.leaf("name", parameter.name)
    if let type = parameter.type {
      let qualified = SensorParameter.qualified(type)
      if !isJava {
        lines.leaf("type", qualified)
      } else if qualified == type {
        // The service in Java writes such a type so, in no namespace.
        let element = "ns3:type xmlns:ns3=\"\(namespace)\" xmlns=\"\""
        lines.add("<\(element)>\(type)</ns3:type>")
      } else {
        lines.leaf("type", qualified, " xmlns:xs=\"\(Self.schema)\"")
      }
    }
    if let flag = parameter.isReadOnly { lines.leaf("readOnly", "\(flag)") }
    if let flag = parameter.supportsMultiple { lines.leaf("supportsMultiple", "\(flag)") }
    write(parameter.defaultValue, as: "defaultValue", &lines)
    guard let allowed = parameter.allowedValues else { return }
    lines.open("allowedValues")
    for value in allowed { write(value, as: "allowedValue", &lines) }
    lines.close("allowedValues")
  }

  private func write(_ resource: SensorResource, _ lines: inout Lines) {
    lines.leaf("uri", resource.uri)
    if let type = resource.contentType { lines.leaf("contentType", type) }
    if let relationship = resource.relationship { lines.leaf("relationship", relationship) }
  }
}

/// Elements of XML, each on its line.
private struct Lines {
  let indent: String
  var bytes: [UInt8] = []
  private var depth = 0

  init(indent: String) { self.indent = indent }

  mutating func add(_ markup: String) {
    bytes.append(contentsOf: String(repeating: indent, count: depth).utf8)
    bytes.append(contentsOf: markup.utf8)
    bytes.append(UInt8(ascii: "\n"))
  }

  mutating func open(_ name: String, _ attributes: String = "") {
    add("<\(name)\(attributes)>")
    depth += 1
  }

  mutating func close(_ name: String) {
    depth -= 1
    add("</\(name)>")
  }

  mutating func leaf(_ name: String, _ text: String, _ attributes: String = "") {
    bytes.append(contentsOf: String(repeating: indent, count: depth).utf8)
    bytes.append(contentsOf: "<\(name)\(attributes)>".utf8)
    XMLText.append(text, to: &bytes)
    bytes.append(contentsOf: "</\(name)>\n".utf8)
  }
}
