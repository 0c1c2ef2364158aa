public import FieldpackCore

extension ConfigDocument {
  /// One step from a value to a part of it.
  public enum Step: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case key(String)
    case index(Int)

    public init(stringLiteral value: String) { self = .key(value) }
    public init(integerLiteral value: Int) { self = .index(value) }
  }

  /// The value at the end of the steps from the root.
  public func value(at path: [Step]) -> ConfigValue? {
    var value: ConfigValue? = root
    for step in path {
      switch step {
      case .key(let name): value = value?[name]
      case .index(let index):
        let elements = value?.elements ?? []
        value = elements.indices.contains(index) ? elements[index] : nil
      }
    }
    return value
  }

  /// Replaces the value at `path`, or adds the member or next element; all else stays as it is.
  ///
  ///     try config.set("wells.gpkg", at: ["stores", 0, "uri"])
  ///
  /// - Throws: `.invalidArgument` where the path leads nowhere.
  public mutating func set(
    _ content: ConfigValue.Content, at path: [Step]
  ) throws(FieldpackError) {
    if let old = value(at: path) {
      try splice(old.range, content.json)
      return
    }
    guard let last = path.last, let parent = value(at: path.dropLast()) else { throw nowhere(path) }
    switch (last, parent.content) {
    case (.key(let name), .object(let members)):
      let start = members.last?.offset
      let separator = members.last.map { colon(before: $0.value.range.lowerBound) } ?? ": "
      let text = ConfigValue.Content.quoted(name) + separator + content.json
      try insert(text, into: parent, afterLastAt: start, end: members.last?.value.range.upperBound)
    case (.index(let index), .array(let elements)) where index == elements.count:
      let range = elements.last?.range
      try insert(
        content.json, into: parent, afterLastAt: range?.lowerBound, end: range?.upperBound)
    default: throw nowhere(path)
    }
  }

  /// Removes the member, every one of that name, or the element.
  ///
  /// - Throws: `.invalidArgument` where the path leads nowhere.
  public mutating func remove(at path: [Step]) throws(FieldpackError) {
    guard let last = path.last, value(at: path) != nil, let parent = value(at: path.dropLast())
    else { throw nowhere(path) }
    switch last {
    case .index(let index): try remove(index, of: parent.elements.map(\.range))
    case .key(let name):
      let ranges = parent.members.map { $0.offset..<$0.value.range.upperBound }
      guard let index = parent.members.lastIndex(where: { $0.name == name }) else { return }
      try remove(index, of: ranges)
      if value(at: path) != nil { try remove(at: path) }
    }
  }

  private mutating func remove(_ index: Int, of ranges: [Range<Int>]) throws(FieldpackError) {
    let range = ranges[index]
    if index > 0 {
      try splice(ranges[index - 1].upperBound..<range.upperBound, "")
    } else if ranges.count > 1 {
      try splice(range.lowerBound..<ranges[1].lowerBound, "")
    } else {
      try splice(range, "")
    }
  }

  /// Adds behind the last part, set off as that one is.
  private mutating func insert(
    _ text: String, into parent: ConfigValue, afterLastAt start: Int?, end: Int?
  ) throws(FieldpackError) {
    guard let start, let end else {
      let inside = parent.range.lowerBound + 1
      try splice(inside..<inside, text)
      return
    }
    // The first part follows a bracket, often at once; what follows a comma is set off.
    let isFirst = parent.elements.count + parent.members.count == 1
    let gap = blanks(before: start)
    try splice(end..<end, "," + (isFirst && gap.isEmpty ? " " : gap) + text)
  }

  private mutating func splice(_ range: Range<Int>, _ text: String) throws(FieldpackError) {
    try replace(Array(bytes[..<range.lowerBound]) + Array(text.utf8) + bytes[range.upperBound...])
  }

  private func blanks(before offset: Int) -> String {
    var start = offset
    while start > 0, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[start - 1]) { start -= 1 }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private func colon(before offset: Int) -> String { ":" + blanks(before: offset) }

  private func nowhere(_ path: [Step]) -> FieldpackError {
    let steps = path.map { step in
      switch step {
      case .key(let name): name
      case .index(let index): String(index)
      }
    }
    return FieldpackError(
      .invalidArgument, "the config has no place '\(steps.joined(separator: "/"))'",
      position: FilePosition(file: file))
  }
}
