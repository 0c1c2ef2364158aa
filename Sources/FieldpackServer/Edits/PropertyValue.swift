import FieldpackCore

/// The value of a column for a property in JSON.
enum PropertyValue {
  /// The value.
  ///
  /// - Throws: `.invalidArgument` for a value of another type.
  static func value(
    _ json: JSONValue, of column: ColumnDefinition
  ) throws(FieldpackError) -> Value {
    guard json != .null else { return .null }
    guard let value = converted(json, to: column.type) else {
      throw FieldpackError(
        .invalidArgument,
        "property '\(column.name)' is \(column.type.sql) and cannot hold \(json.kind)"
          + hint(column.type, json))
    }
    return value
  }

  private static func converted(_ json: JSONValue, to type: ColumnType) -> Value? {
    switch (type, json) {
    case (.boolean, .boolean(let flag)): return .boolean(flag)
    case (.boolean, .integer(let number)) where number == 0 || number == 1:
      return .boolean(number == 1)
    case (.tinyInt, _), (.smallInt, _), (.mediumInt, _), (.integer, _):
      return integer(json).flatMap { type.integers.contains($0) ? .integer($0) : nil }
    case (.float, _), (.double, _): return json.number.flatMap { $0.isFinite ? .real($0) : nil }
    case (.text(let limit), .text(let text)):
      return text.unicodeScalars.count <= limit ?? .max ? .text(text) : nil
    case (.date, .text(let text)): return CalendarDate(text).map { .date($0) }
    case (.dateTime, .text(let text)):
      // Instants are in UTC, and QGIS leaves the zone out where a person has typed one.
      return (Instant(text) ?? Instant(text + "Z")).map { .dateTime($0) }
    case (.blob(let limit), .text(let text)):
      guard let bytes = Base64.decode(text.utf8), bytes.count <= limit ?? .max else { return nil }
      return .blob(bytes)
    case (.json, _): return document(json)
    // A declared type outside of the standard has no rules that the server knows.
    case (.other, .text(let text)): return .text(text)
    case (.other, .integer(let number)): return .integer(number)
    case (.other, .real(let number)) where number.isFinite: return .real(number)
    default: return nil
    }
  }

  private static func integer(_ json: JSONValue) -> Int64? {
    switch json {
    case .integer(let number): number
    case .real(let number): Int64(exactly: number)
    default: nil
    }
  }

  /// The text of a column of JSON.
  static func document(_ json: JSONValue) -> Value {
    var bytes: [UInt8] = []
    json.append(to: &bytes, keepsFractions: true)
    return .text(String(decoding: bytes, as: UTF8.self))
  }

  /// The end of the message, where the kind of the value alone does not say what is wrong.
  private static func hint(_ type: ColumnType, _ json: JSONValue) -> String {
    switch (type, json) {
    case (.date, .text): " that is no date such as 2024-01-31"
    case (.dateTime, .text): " that is no instant such as 2024-01-31T08:00:00Z"
    case (.blob, .text): " that is no Base64, or too long"
    case (.text, .text): " that is longer"
    case (_, .integer), (_, .real): type.takesNumbers ? " that is out of its range" : ""
    default: ""
    }
  }
}

extension ColumnType {
  fileprivate var takesNumbers: Bool {
    switch self {
    case .tinyInt, .smallInt, .mediumInt, .integer, .float, .double: true
    default: false
    }
  }
}

extension JSONValue {
  /// The value with a patch applied: `null` in the patch takes a member away (RFC 7396).
  func merging(_ patch: JSONValue) -> JSONValue {
    guard case .object(let changes) = patch else { return patch }
    var members: [Member] = []
    if case .object(let own) = self { members = own }
    for change in changes {
      let index = members.lastIndex { $0.name.utf8.elementsEqual(change.name.utf8) }
      guard change.value != .null else {
        members.removeAll { $0.name.utf8.elementsEqual(change.name.utf8) }
        continue
      }
      let old = index.map { members[$0].value } ?? .null
      let new = Member(name: change.name, value: old.merging(change.value))
      if let index { members[index] = new } else { members.append(new) }
    }
    return .object(members)
  }
}
