import FieldpackCore

/// The members of a JSON object that are taken one by one, so that those not known are left over.
struct JSONMembers {
  private var members: [JSONValue.Member]
  private let subject: String

  /// - Parameter subject: what to call the object in errors, such as `capture-info.json`.
  init(_ node: JSONValue, of subject: String) throws(FieldpackError) {
    guard case .object(let members) = node else {
      throw FieldpackError(.invalidData, "\(subject): expected an object but found \(node.kind)")
    }
    var last: [JSONValue.Member] = []
    for member in members {
      // As JavaScript does, the last of several of one name.
      last.removeAll { $0.name.utf8.elementsEqual(member.name.utf8) }
      last.append(member)
    }
    self.members = last
    self.subject = subject
  }

  /// Those that were not taken, as a JSON object; `nil` where there are none.
  var rest: String? { members.isEmpty ? nil : JSONValue.object(members).text }

  /// Takes a member out; `nil` where it is absent or null.
  mutating func take(_ name: String) -> JSONValue? {
    guard let index = members.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
      return nil
    }
    let value = members.remove(at: index).value
    return value == .null ? nil : value
  }

  mutating func rename(_ name: String, _ newName: String) {
    guard let index = members.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
      return
    }
    members[index].name = newName
  }

  /// The members of another object that are not known either.
  mutating func append(_ other: JSONMembers) { members += other.members }

  mutating func text(_ name: String) throws(FieldpackError) -> String? {
    guard let node = take(name) else { return nil }
    guard case .text(let text) = node else { throw expected("a text", name, node) }
    return text
  }

  /// A number, also one in quotes as older programs wrote them.
  mutating func number(_ name: String) throws(FieldpackError) -> Double? {
    guard let node = take(name) else { return nil }
    guard let number = Self.number(node) else { throw expected("a number", name, node) }
    return number
  }

  mutating func required(_ name: String) throws(FieldpackError) -> Double {
    guard let number = try number(name) else {
      throw FieldpackError(.invalidData, "\(subject) has no '\(name)'")
    }
    return number
  }

  /// Latitude and longitude of a member `coords`.
  mutating func coordinates() throws(FieldpackError) -> (latitude: Double, longitude: Double)? {
    guard let node = take("coords") else { return nil }
    guard case .array(let items) = node, items.count == 2, let latitude = Self.number(items[0]),
      let longitude = Self.number(items[1])
    else { throw expected("a latitude and a longitude", "coords", node) }
    return try onEarth(latitude, longitude)
  }

  func onEarth(
    _ latitude: Double, _ longitude: Double
  ) throws(FieldpackError) -> (latitude: Double, longitude: Double) {
    guard abs(latitude) <= 90, abs(longitude) <= 180 else {
      throw FieldpackError(
        .invalidData, "\(subject): latitude \(latitude) and longitude \(longitude) are not on Earth"
      )
    }
    return (latitude, longitude)
  }

  func expected(_ what: String, _ name: String, _ node: JSONValue) -> FieldpackError {
    let found =
      if case .text(let text) = node { "'\(text.prefix(40))'" } else { node.kind }
    return FieldpackError(
      .invalidData, "\(subject): '\(name)' should be \(what) but is \(found)")
  }

  private static func number(_ node: JSONValue) -> Double? {
    let number: Double? =
      if case .text(let text) = node {
        text.utf8.count > 64 ? nil : Double(text)
      } else { node.number }
    return number.flatMap { $0.isFinite ? $0 : nil }
  }
}
