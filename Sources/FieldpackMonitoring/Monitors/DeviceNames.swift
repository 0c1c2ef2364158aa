/// The names of devices, each with its index, which whoever keeps something of each device uses.
///
/// It is not generic over what is kept: modules above use it for each fix, and generic code is not
/// specialised across modules.
package struct DeviceNames: Sendable {
  package private(set) var names: [String] = []
  private var indexes: [String: Int] = [:]
  /// Fixes of one device often follow one another, and devices one another in their order.
  private var last = -1
  /// The index that was found after each.
  private var followers: [Int] = []
  private var shortcuts = NameShortcuts()

  package init() {}

  /// Index of a device; `nil` before its first fix.
  package func index(of name: String) -> Int? { indexes[name] }

  /// As ``index(of:)``, and faster.
  package mutating func find(_ name: String) -> Int? {
    guard last >= 0 else { return nil }
    if names[last] == name { return last }
    let follower = followers[last]
    if names[follower] == name {
      last = follower
      return follower
    }
    let hash = shortcuts.hash(name)
    guard let index = shortcuts.entry(hash, where: { names[$0] == name }) ?? indexes[name] else {
      return nil
    }
    followers[last] = index
    last = index
    return index
  }

  /// - Returns: the index of the device: how many there were before.
  @discardableResult
  package mutating func append(_ name: String) -> Int {
    let index = names.count
    shortcuts.add(shortcuts.hash(name), index)
    if last >= 0 { followers[last] = index }
    followers.append(index)
    last = index
    indexes[name] = index
    names.append(name)
    return index
  }

  /// The indexes in the order of the names, code point by code point.
  var sorted: [Int] {
    names.indices.sorted { names[$0].utf8.lexicographicallyPrecedes(names[$1].utf8) }
  }
}
