import Fieldpack
import FieldpackCore

extension FormConfig {
  /// The form in a list.
  func entry(_ stored: StoredForm) -> JSONValue {
    [
      "form": .text(key), "label": .text(label), "id": .integer(id),
      "version": .integer(version), "field_count": JSONValue(fields.count),
      "stored_version": stored.version.map { .integer($0) } ?? .null,
      "submission_count": JSONValue(stored.count ?? 0),
    ]
  }

  /// The form with its fields.
  func document(_ notes: [Note]) -> JSONValue {
    [
      "form": .text(key), "label": .text(label), "id": .integer(id),
      "version": .integer(version), "fields": .array(fields.map(\.entry)),
      "notes": JSONValue(notes.map(\.text)),
    ]
  }
}

extension FormField {
  fileprivate var entry: JSONValue {
    let minimum = constraints.minimum?.entry ?? .null
    let maximum = constraints.maximum?.entry ?? .null
    return [
      "field": .text(key), "label": .text(label), "type": JSONValue(kind?.rawValue),
      "is_required": .boolean(isRequired), "is_integer": .boolean(constraints.isInteger),
      "initial_value": JSONValue(constraints.initialValue), "minimum": minimum,
      "maximum": maximum, "minimum_length": JSONValue(constraints.minimumLength),
      "maximum_length": JSONValue(constraints.maximumLength),
      "pattern": JSONValue(constraints.pattern), "options": JSONValue(constraints.options),
    ]
  }
}

extension FormConstraints {
  /// In words, such as `1 to 5; whole numbers`.
  var summary: String {
    var parts: [String] = []
    if let minimum { parts.append("\(minimum.isExclusive ? ">" : ">=") \(minimum.text)") }
    if let maximum { parts.append("\(maximum.isExclusive ? "<" : "<=") \(maximum.text)") }
    if isInteger { parts.append("whole numbers") }
    if let minimumLength { parts.append("at least \(minimumLength.counting("character"))") }
    if let maximumLength { parts.append("at most \(maximumLength.counting("character"))") }
    if let pattern { parts.append("pattern \(pattern)") }
    if !options.isEmpty { parts.append(options.joined(separator: " | ")) }
    if let initialValue { parts.append("at first \(initialValue)") }
    return parts.joined(separator: "; ")
  }
}

extension FormConstraints.Bound {
  fileprivate var entry: JSONValue {
    ["value": .real(value), "is_inclusive": .boolean(!isExclusive)]
  }

  fileprivate var text: String { Int64(exactly: value)?.description ?? value.description }
}
