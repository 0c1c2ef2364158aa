/// A value of a JSON document with its path.
struct JSONElement {
  let value: JSONValue
  /// The path as a JSON pointer (RFC 6901).
  let path: String

  init(_ value: JSONValue, path: String = "") {
    self.value = value
    self.path = path
  }

  /// The root value of a condition's text.
  ///
  /// - Throws: `.invalidArgument` with line and column where it is no JSON.
  init(document text: String, maximumDepth: Int = 128) throws(FieldpackError) {
    try CQL2.checkLength(of: text)
    do throws(JSONMistake) {
      self.init(try JSONValueReader.read(text, maximumDepth: maximumDepth))
    } catch {
      throw FieldpackError(
        .invalidArgument, error.message,
        position: FilePosition(of: error.offset, in: Array(text.utf8)))
    }
  }

  func failure(_ message: String) -> FieldpackError {
    FieldpackError(.invalidArgument, "at \(path.isEmpty ? "the top" : path): \(message)")
  }

  func expected(_ what: String) -> FieldpackError {
    failure("expected \(what) but found \(value.kind)")
  }

  /// Runs `body` and turns a mistake into an error at this value.
  func telling<T>(_ body: () throws(CQL2.Mistake) -> T) throws(FieldpackError) -> T {
    do throws(CQL2.Mistake) { return try body() } catch { throw failure(error.message) }
  }

  /// The member with that name; `nil` where there is none.
  func member(_ name: String) -> JSONElement? {
    value[name].map { step($0, name) }
  }

  /// All members, in order.
  func members(_ what: String) throws(FieldpackError) -> [(name: String, element: JSONElement)] {
    guard case .object(let members) = value else { throw expected(what) }
    return members.map { ($0.name, step($0.value, $0.name)) }
  }

  private func step(_ value: JSONValue, _ name: String) -> JSONElement {
    let step = name.replacing("~", with: "~0").replacing("/", with: "~1")
    return JSONElement(value, path: "\(path)/\(step)")
  }

  /// The elements of an array.
  func elements(_ what: String) throws(FieldpackError) -> [JSONElement] {
    guard case .array(let values) = value else { throw expected(what) }
    return values.enumerated().map { JSONElement($1, path: "\(path)/\($0)") }
  }

  /// Refuses members whose names are not in `names`.
  func checkNames(_ names: Set<String>) throws(FieldpackError) {
    guard case .object(let members) = value else { return }
    if let other = members.first(where: { !names.contains($0.name) }) {
      throw failure(
        "member '\(other.name)' is not known\(NearNames.question(other.name, in: names.sorted()))"
          + " (there are: \(names.sorted().joined(separator: ", ")))")
    }
  }
}
