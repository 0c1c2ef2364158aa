extension JSONValue {
  package init(_ value: String?) { self = value.map { .text($0) } ?? .null }
  package init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
  package init(_ texts: [String]) { self = .array(texts.map { .text($0) }) }

  /// An object of the members that have a value.
  package static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(
      members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
  }
}

// No literal `nil`: in a closure such as `{ $0 == .null ? nil : $0 }` it would be taken for a JSON null.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(booleanLiteral value: Bool) { self = .boolean(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .real(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { .init(name: $0.0, value: $0.1) })
  }
}
