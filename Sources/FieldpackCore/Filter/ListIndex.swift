/// A hash index of an array's elements, whose lookups do not slow down with more elements.
struct ListIndex {
  private var all: [Int: [ListItem]] = [:]
  /// The elements with a moment in them, and those with a text that names a moment, by loose hash.
  /// A moment is looked for only among the names and a name only among the moments, because many
  /// unequal texts may name one moment.
  private var moments: [Int: [ListItem]] = [:]
  private var names: [Int: [ListItem]] = [:]

  init(_ items: [ListItem]) {
    for item in items {
      let hashes = ListHashes(item)
      all[hashes.exact, default: []].append(item)
      if hashes.hasMoment { moments[hashes.loose, default: []].append(item) }
      if hashes.hasName { names[hashes.loose, default: []].append(item) }
    }
  }

  func has(allOf items: [ListItem]) -> Bool { items.allSatisfy(has) }
  func has(oneOf items: [ListItem]) -> Bool { items.contains(where: has) }

  private func has(_ item: ListItem) -> Bool {
    let hashes = ListHashes(item)
    func isIn(_ bucket: [ListItem]?) -> Bool { bucket?.contains { $0.isEqual(to: item) } ?? false }
    return isIn(all[hashes.exact])
      || hashes.hasMoment && isIn(names[hashes.loose])
      || hashes.hasName && isIn(moments[hashes.loose])
  }
}

/// The two hashes of an element. Equal elements have equal exact hashes, except that a moment and a
/// text that names it only have equal loose hashes.
private struct ListHashes {
  private(set) var exact: Int
  private(set) var loose: Int
  private(set) var hasMoment = false
  /// Whether the element has a text that names a moment.
  private(set) var hasName = false

  init(_ item: ListItem) {
    (exact, loose) = (0, 0)
    switch item {
    case .null: break
    case .scalar(let scalar): self = ListHashes(scalar)
    case .list(let items):
      var (exact, loose) = (Hasher(), Hasher())
      for item in items {
        let part = take(item)
        exact.combine(part.exact)
        loose.combine(part.loose)
      }
      (self.exact, self.loose) = (exact.finalize(), loose.finalize())
    case .members(let members):
      // Members are equal in any order, so their hashes are combined by XOR.
      for (name, item) in members {
        let part = take(item)
        exact ^= Self.hash(name, part.exact)
        loose ^= Self.hash(name, part.loose)
      }
    }
  }

  private init(_ scalar: Scalar) {
    switch scalar {
    case .null: exact = 0
    case .integer(let number): exact = Self.hash(number)
    case .real(let number):
      exact = Int64(exactly: number).map { Self.hash($0) } ?? Self.hash(number)
    case .text(let text): exact = Self.hash(Array(text.utf8))
    case .blob(let bytes): exact = Self.hash(bytes)
    case .moment(let milliseconds):
      exact = Self.hash(milliseconds, "moment")
      hasMoment = true
    }
    loose = exact
    if case .text = scalar, case .moment(let milliseconds) = scalar.asMoment {
      loose = Self.hash(milliseconds, "moment")
      hasName = true
    }
  }

  /// The hashes of a part; a moment or a name in the part is also one in the whole.
  private mutating func take(_ item: ListItem) -> ListHashes {
    let part = ListHashes(item)
    hasMoment = hasMoment || part.hasMoment
    hasName = hasName || part.hasName
    return part
  }

  private static func hash(_ a: some Hashable, _ b: some Hashable = 0) -> Int {
    var hasher = Hasher()
    hasher.combine(a)
    hasher.combine(b)
    return hasher.finalize()
  }
}
