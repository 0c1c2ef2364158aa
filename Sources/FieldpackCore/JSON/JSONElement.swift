/// A value of a JSON document with its path.
struct JSONElement {
  let node: JSONValue
  /// The path as a JSON pointer (RFC 6901).
  let path: String

  init(_ node: JSONValue, path: String = "") {
    self.node = node
    self.path = path
  }

  /// The root node of a condition's text.
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
    failure("expected \(what) but found \(node.kind)")
  }

  /// Runs `body` and turns a mistake into an error at this node.
  func telling<T>(_ body: () throws(CQL2.Mistake) -> T) throws(FieldpackError) -> T {
    do throws(CQL2.Mistake) { return try body() } catch { throw failure(error.message) }
  }

  /// The member with that name; `nil` where there is none.
  func member(_ name: String) -> JSONElement? {
    node[name].map { step($0, name) }
  }

  /// All members, in order.
  func members(_ what: String) throws(FieldpackError) -> [(name: String, element: JSONElement)] {
    guard case .object(let members) = node else { throw expected(what) }
    return members.map { ($0.name, step($0.value, $0.name)) }
  }

  private func step(_ node: JSONValue, _ name: String) -> JSONElement {
    let step = name.replacing("~", with: "~0").replacing("/", with: "~1")
    return JSONElement(node, path: "\(path)/\(step)")
  }

  /// The elements of an array.
  func elements(_ what: String) throws(FieldpackError) -> [JSONElement] {
    guard case .array(let nodes) = node else { throw expected(what) }
    return nodes.enumerated().map { JSONElement($1, path: "\(path)/\($0)") }
  }

  /// Refuses members whose names are not in `names`.
  func checkNames(_ names: Set<String>) throws(FieldpackError) {
    guard case .object(let members) = node else { return }
    if let other = members.first(where: { !names.contains($0.name) }) {
      throw failure(
        "member '\(other.name)' is not known\(NearNames.question(other.name, in: names.sorted()))"
          + " (there are: \(names.sorted().joined(separator: ", ")))")
    }
  }
}
