import FieldpackCore

/// The members of a JSON object as what fixes are made of; each is asked for by the names it may
/// have, the first of which that is there counts.
struct FixMembers {
  private let node: JSONValue

  /// - Throws: `.invalidData` for what is not one JSON object.
  init(_ line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) {
    do throws(JSONMistake) {
      node = try JSONValueReader.read(line, maximumDepth: JSONFixReader.maximumDepth)
    } catch {
      throw FieldpackError(
        .invalidData, "not JSON at byte \(error.offset + 1) of the line: \(error.message)")
    }
    guard case .object = node else {
      throw FieldpackError(.invalidData, "the line is \(node.kind), not an object")
    }
  }

  private init(_ node: JSONValue) { self.node = node }

  private func found(_ names: [String]) -> (name: String, value: JSONValue)? {
    for name in names {
      if let value = node[name], value != .null { return (name, value) }
    }
    return nil
  }

  /// A member that is an object; without it an empty one.
  func inner(_ name: String) throws(FieldpackError) -> FixMembers {
    guard let found = found([name]) else { return FixMembers(.object([])) }
    guard case .object = found.value else { throw Self.wrong(found, "an object") }
    return FixMembers(found.value)
  }

  /// Whether a member is an object.
  func hasObject(_ name: String) -> Bool {
    if case .object? = node[name] { true } else { false }
  }

  /// Whether a member is `false`.
  func isFalse(_ name: String) -> Bool { node[name] == .boolean(false) }

  func text(_ names: [String]) throws(FieldpackError) -> String? {
    guard let found = found(names) else { return nil }
    guard case .text(let text) = found.value else { throw Self.wrong(found, "a text") }
    return text
  }

  /// A text, or an integer as text.
  func name(_ names: [String]) throws(FieldpackError) -> String? {
    if let found = found(names), case .integer(let value) = found.value { return "\(value)" }
    return try text(names)
  }

  func number(_ names: [String]) throws(FieldpackError) -> Double? {
    guard let found = found(names) else { return nil }
    guard let number = found.value.number else { throw Self.wrong(found, "a number") }
    guard number.isFinite else {
      throw FieldpackError(.invalidData, "'\(found.name)' is beyond all numbers")
    }
    return number
  }

  func degrees(_ names: [String], limit: Double) throws(FieldpackError) -> Double? {
    guard let value = try number(names) else { return nil }
    guard abs(value) <= limit else {
      throw Self.outside(found(names)?.name ?? names[0], value, limit)
    }
    return value
  }

  /// A number that is unknown where it is negative.
  func measure(_ names: [String]) throws(FieldpackError) -> Double? {
    try number(names).flatMap { $0 < 0 ? nil : $0 }
  }

  func bearing(_ names: [String]) throws(FieldpackError) -> Double? {
    guard let value = try measure(names) else { return nil }
    guard value <= 360 else {
      throw FieldpackError(
        .invalidData, "'\(found(names)?.name ?? "")' is \(value), not from 0 to 360 degrees")
    }
    return value == 360 ? 0 : value
  }

  /// RFC 3339 text, or Unix seconds.
  func time(_ names: [String]) throws(FieldpackError) -> Instant? {
    guard let found = found(names) else { return nil }
    if case .text(let text) = found.value {
      guard let instant = Instant(text) else {
        throw FieldpackError(
          .invalidData,
          "'\(found.name)' is '\(text.prefix(40))', not a time like 2024-05-01T10:00:00Z")
      }
      return instant
    }
    guard let instant = try number(names).flatMap(Instant.init(unixSeconds:)) else {
      throw FieldpackError(.invalidData, "'\(found.name)' is not a time in Unix seconds")
    }
    return instant
  }

  /// The coordinates of a member `geometry` that is a GeoJSON point; `nil` where it is `null`.
  func point() throws(FieldpackError) -> (x: Double, y: Double, z: Double?)? {
    let geometry = try inner("geometry")
    guard let type = try geometry.text(["type"]) else { return nil }
    guard type == "Point", case .array(let list)? = geometry.node["coordinates"] else {
      throw FieldpackError(.invalidData, "the feature is no point but a \(type.prefix(40))")
    }
    let numbers = list.compactMap(\.number).filter(\.isFinite)
    guard numbers.count == list.count, numbers.count >= 2 else {
      throw FieldpackError(.invalidData, "the coordinates are not two or three numbers")
    }
    guard abs(numbers[0]) <= 180 else { throw Self.outside("longitude", numbers[0], 180) }
    guard abs(numbers[1]) <= 90 else { throw Self.outside("latitude", numbers[1], 90) }
    return (numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : nil)
  }

  private static func wrong(
    _ found: (name: String, value: JSONValue), _ wanted: String
  ) -> FieldpackError {
    FieldpackError(.invalidData, "'\(found.name)' is \(found.value.kind), not \(wanted)")
  }

  private static func outside(
    _ name: String, _ value: Double, _ limit: Double
  ) -> FieldpackError {
    FieldpackError(
      .invalidData,
      "'\(name)' is \(value), which is not on Earth: degrees go to \(Int(limit))")
  }
}
