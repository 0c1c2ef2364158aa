package import FieldpackCore

/// A value that a sensor's service tells or takes (NIST SP 500-288, 4.2).
package indirect enum SensorValue: Hashable, Sendable {
  case null
  /// A text with the local name of its simple type in XML Schema, such as `int`; a text without a type
  /// has none.
  case text(String, type: String? = nil)
  case parameter(SensorParameter)
  case range(SensorRange)
  case resolution(SensorResolution)
  case resource(SensorResource)
  case dictionary(SensorDictionary)
  case array([SensorValue])

  package static func string(_ text: String) -> SensorValue { .text(text, type: "string") }
  package static func boolean(_ value: Bool) -> SensorValue { .text("\(value)", type: "boolean") }
  package static func integer(_ value: Int) -> SensorValue {
    .text("\(value)", type: Int32(exactly: value) == nil ? "long" : "int")
  }
  /// A number in full, so that reading gives the same one.
  package static func double(_ value: Double) -> SensorValue {
    let text = value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-INF" : "INF") : "\(value)"
    return .text(text, type: "double")
  }

  /// The text of a simple value.
  package var text: String? {
    guard case .text(let text, _) = self else { return nil }
    return text
  }

  /// The number of a simple value.
  package var number: Double? { text.flatMap { Double($0) } }
}

/// What a service can be set to, or says of itself.
package struct SensorParameter: Hashable, Sendable {
  package var name: String
  /// The local name of its type, such as `unsignedInt` or `Resource`.
  package var type: String?
  /// `nil` where the service does not say so, which means `false`.
  package var isReadOnly: Bool?
  package var supportsMultiple: Bool?
  package var defaultValue: SensorValue
  /// `nil` where the service does not restrict the values.
  package var allowedValues: [SensorValue]?

  package init(
    _ name: String, type: String?, isReadOnly: Bool? = nil, supportsMultiple: Bool? = nil,
    defaultValue: SensorValue, allowedValues: [SensorValue]? = nil
  ) {
    self.name = name
    self.type = type
    self.isReadOnly = isReadOnly
    self.supportsMultiple = supportsMultiple
    self.defaultValue = defaultValue
    self.allowedValues = allowedValues
  }
}

/// Values between two bounds.
package struct SensorRange: Hashable, Sendable {
  package var minimum: SensorValue?
  package var maximum: SensorValue?
  package var minimumIsExclusive: Bool?
  package var maximumIsExclusive: Bool?

  package init(
    minimum: SensorValue? = nil, maximum: SensorValue? = nil, minimumIsExclusive: Bool? = nil,
    maximumIsExclusive: Bool? = nil
  ) {
    self.minimum = minimum
    self.maximum = maximum
    self.minimumIsExclusive = minimumIsExclusive
    self.maximumIsExclusive = maximumIsExclusive
  }
}

/// How fine a sensor sees.
package struct SensorResolution: Hashable, Sendable {
  package var width: Double
  package var height: Double
  package var unit: String?

  package init(width: Double, height: Double, unit: String? = nil) {
    self.width = width
    self.height = height
    self.unit = unit
  }
}

/// Something that has an address of its own, such as a live preview.
package struct SensorResource: Hashable, Sendable {
  package var uri: String
  package var contentType: String?
  package var relationship: String?

  package init(uri: String, contentType: String? = nil, relationship: String? = nil) {
    self.uri = uri
    self.contentType = contentType
    self.relationship = relationship
  }
}

/// Keys and values in the order of the service.
package struct SensorDictionary: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  package struct Item: Hashable, Sendable {
    package var key: String
    package var value: SensorValue

    package init(_ key: String, _ value: SensorValue) {
      self.key = key
      self.value = value
    }
  }

  package var items: [Item]

  package init(_ items: [Item] = []) { self.items = items }

  package init(dictionaryLiteral elements: (String, SensorValue)...) {
    items = elements.map { Item($0.0, $0.1) }
  }

  /// The first value of a key. Setting it replaces all values of the key; a new key comes last.
  package subscript(key: String) -> SensorValue? {
    get { items.first { $0.key == key }?.value }
    set {
      let place = items.firstIndex { $0.key == key } ?? items.endIndex
      items.removeAll { $0.key == key }
      if let newValue { items.insert(Item(key, newValue), at: min(place, items.endIndex)) }
    }
  }

  /// The parameter of a key, of what a service says of itself.
  package func parameter(_ key: String) -> SensorParameter? {
    guard case .parameter(let parameter)? = self[key] else { return nil }
    return parameter
  }

  /// Whether a parameter has that value, where it cannot be set, or may have it. Case does not matter.
  package func allows(_ key: String, _ value: String) -> Bool {
    guard let parameter = parameter(key) else { return false }
    let allowed =
      parameter.isReadOnly == true ? [parameter.defaultValue] : parameter.allowedValues ?? []
    return allowed.contains { $0.text?.lowercased() == value.lowercased() }
  }

  /// What a key is set to, be it told as a value or as the default of a parameter.
  package func setting(_ key: String) -> SensorValue? {
    parameter(key)?.defaultValue ?? self[key]
  }
}

extension SensorValue {
  /// The value as JSON; a whole number stays one, and so does what is true or false.
  package var json: JSONValue {
    switch self {
    case .null: .null
    case .text(let text, let type): Self.json(text, type)
    case .parameter(let parameter): parameter.defaultValue.json
    case .range(let range):
      .members(["minimum": range.minimum?.json, "maximum": range.maximum?.json])
    case .resolution(let resolution):
      .members([
        "width": .real(resolution.width), "height": .real(resolution.height),
        "unit": resolution.unit.map { .text($0) },
      ])
    case .resource(let resource):
      .members([
        "uri": .text(resource.uri), "contentType": resource.contentType.map { .text($0) },
        "relationship": resource.relationship.map { .text($0) },
      ])
    case .dictionary(let dictionary): dictionary.json
    case .array(let values): .array(values.map(\.json))
    }
  }

  private static let wholeTypes: Set = [
    "byte", "short", "int", "long", "integer", "unsignedByte", "unsignedShort", "unsignedInt",
    "unsignedLong", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
    "negativeInteger",
  ]

  private static func json(_ text: String, _ type: String?) -> JSONValue {
    switch type {
    case "boolean"? where text == "true" || text == "1": .boolean(true)
    case "boolean"? where text == "false" || text == "0": .boolean(false)
    case let type? where wholeTypes.contains(type):
      Int64(text).map { .integer($0) } ?? .text(text)
    case "double"?, "float"?, "decimal"?:
      Double(text).flatMap { $0.isFinite ? .real($0) : nil } ?? .text(text)
    default: .text(text)
    }
  }

  /// A value of JSON with the type that it has there.
  init(json: JSONValue) {
    switch json {
    case .null: self = .null
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .integer(Int(value))
    case .real(let value): self = .double(value)
    case .text(let text): self = .string(text)
    case .array(let values): self = .array(values.map { SensorValue(json: $0) })
    case .object: self = .dictionary(SensorDictionary(json: json))
    }
  }
}

extension SensorDictionary {
  package var json: JSONValue {
    .object(items.map { .init(name: $0.key, value: $0.value.json) })
  }

  /// The members of a JSON object; nothing of other values.
  package init(json: JSONValue) {
    guard case .object(let members) = json else {
      self.init()
      return
    }
    self.init(members.map { Item($0.name, SensorValue(json: $0.value)) })
  }
}
