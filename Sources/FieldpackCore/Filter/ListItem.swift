/// An element of an array in a condition.
///
/// A column's array is its text read as JSON, in which `{"date": …}` and `{"timestamp": …}` are
/// moments as in CQL2 JSON. `true` is 1 and `false` 0, as everywhere in conditions.
package indirect enum ListItem: Sendable {
  case null
  case scalar(Scalar)
  case list([ListItem])
  /// An object; it equals an object with the same members in any order.
  case members([String: ListItem])

  init(_ node: JSONValue) {
    switch node {
    case .null: self = .null
    case .boolean(let flag): self = .scalar(.integer(flag ? 1 : 0))
    case .integer(let number): self = .scalar(.integer(number))
    case .real(let number): self = .scalar(.real(number))
    case .text(let text): self = .scalar(.text(text))
    case .array(let nodes): self = .list(nodes.map(ListItem.init))
    case .object(let members):
      if members.count == 1, let moment = Self.moment(members[0]) {
        self = .scalar(.moment(moment))
      } else {
        self = .members(
          Dictionary(members.map { ($0.name, ListItem($0.value)) }, uniquingKeysWith: { $1 }))
      }
    }
  }

  private static func moment(_ member: JSONValue.Member) -> Int64? {
    guard case .text(let text) = member.value else { return nil }
    switch member.name {
    case "date": return CalendarDate(text)?.startOfDay.milliseconds
    case "timestamp": return Instant(text)?.milliseconds
    default: return nil
    }
  }

  /// The elements of a JSON array; `nil` where the text is no JSON array.
  package static func items(json: UnsafeBufferPointer<UInt8>) -> [ListItem]? {
    guard case .array(let nodes)? = try? JSONValueReader.read(json) else { return nil }
    return nodes.map(ListItem.init)
  }

  /// Whether both are equal; a moment equals a text that names it.
  func isEqual(to other: ListItem) -> Bool {
    switch (self, other) {
    case (.null, .null): return true
    case (.scalar(let a), .scalar(let b)):
      switch (a, b) {
      case (.moment, .text), (.text, .moment): return a.asMoment.order(to: b.asMoment) == 0
      default: return a.order(to: b) == 0
      }
    case (.list(let a), .list(let b)):
      return a.count == b.count && zip(a, b).allSatisfy { $0.isEqual(to: $1) }
    case (.members(let a), .members(let b)):
      return a.count == b.count
        && a.allSatisfy { name, item in b[name].map { item.isEqual(to: $0) } ?? false }
    default: return false
    }
  }
}

extension ArrayRelation {
  /// Whether the relation holds; `nil` where one of the two is no array.
  package func answer(_ a: [ListItem]?, _ b: [ListItem]?) -> Bool? {
    guard let a, let b else { return nil }
    return switch self {
    case .contains: Self.has(a, allOf: b)
    case .containedBy: Self.has(b, allOf: a)
    case .equals: Self.has(a, allOf: b) && Self.has(b, allOf: a)
    case .overlaps: Self.share(a, b)
    }
  }

  private static func has(_ items: [ListItem], allOf others: [ListItem]) -> Bool {
    // A file's arrays may be long: comparing each element with each would take quadratic time.
    if items.count * others.count > 4_096 { return ListIndex(items).has(allOf: others) }
    return others.allSatisfy { other in items.contains { $0.isEqual(to: other) } }
  }

  private static func share(_ items: [ListItem], _ others: [ListItem]) -> Bool {
    if items.count * others.count > 4_096 { return ListIndex(items).has(oneOf: others) }
    return items.contains { item in others.contains { $0.isEqual(to: item) } }
  }
}

/// Writes an array as the JSON that ``ListItem`` reads.
package struct ListText {
  package private(set) var bytes: [UInt8] = [UInt8(ascii: "[")]

  package init() {}

  private mutating func separate() {
    if bytes.last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
  }

  /// Appends a value; where the operand is temporal, a text that names a moment is written as that
  /// moment.
  package mutating func append(_ value: Value, isTemporal: Bool) {
    separate()
    switch value {
    case .null, .blob: bytes.append(contentsOf: "null".utf8)
    case .boolean(let flag): bytes.append(UInt8(ascii: flag ? "1" : "0"))
    case .integer(let number): bytes.append(contentsOf: String(number).utf8)
    case .real(let number): append(number)
    case .text(let text):
      let moment = isTemporal ? Moment(value) : nil
      if let moment { append(moment.milliseconds) } else { JSONText.append(text, to: &bytes) }
    case .date(let day): append(day.startOfDay.milliseconds)
    case .dateTime(let instant): append(instant.milliseconds)
    }
  }

  private mutating func append(_ milliseconds: Int64) {
    let text = Instant(milliseconds: milliseconds).description
    bytes.append(contentsOf: "{\"timestamp\":\"\(text)\"}".utf8)
  }

  private mutating func append(_ number: Double) {
    let text = number.isFinite ? "\(number)" : number < 0 ? "-9e999" : "9e999"
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends a list, given with its brackets, as an element.
  package mutating func append(list: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: list)
  }

  package mutating func close() { bytes.append(UInt8(ascii: "]")) }
}
