import FieldpackCore

/// What a monitor knows of each device, found by its name.
struct DeviceTable<Entry: Sendable>: Sendable {
  private(set) var names: [String] = []
  var entries: [Entry] = []
  private var indexes: [String: Int] = [:]
  /// Fixes of one device often follow one another, and devices one another in their order.
  private var last = -1
  /// The index that was found after each.
  private var followers: [Int] = []
  private var shortcuts = NameShortcuts()

  /// Index of a device in ``entries``; `nil` before its first fix.
  func index(of name: String) -> Int? { indexes[name] }

  /// As ``index(of:)``, and faster.
  mutating func find(_ name: String) -> Int? {
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

  /// - Returns: the index of the device.
  @discardableResult
  mutating func append(_ name: String, _ entry: Entry) -> Int {
    let index = names.count
    shortcuts.add(shortcuts.hash(name), index)
    if last >= 0 { followers[last] = index }
    followers.append(index)
    last = index
    indexes[name] = index
    names.append(name)
    entries.append(entry)
    return index
  }

  /// The indexes in the order of the names, code point by code point.
  var sorted: [Int] {
    names.indices.sorted { names[$0].utf8.lexicographicallyPrecedes(names[$1].utf8) }
  }
}

/// Which fixes a monitor passes over, whatever it looks for.
struct FixGate: Hashable, Sendable {
  /// The late fix that is taken, counted in the order of their times.
  private static let lateLimit = 3

  /// Metres; fixes with a larger radius of accuracy are passed over.
  var accuracy: Double?

  /// Whether a fix can be taken as its device's first.
  func lets(_ fix: Fix) -> Bool {
    guard fix.isOnEarth else { return false }
    guard let accuracy, let radius = fix.accuracy else { return true }
    return radius <= accuracy
  }

  /// - Parameters:
  ///   - last: the time of the last fix of the device that had one.
  ///   - late: the late fixes since then.
  func lets(_ fix: Fix, after last: Instant?, late: inout LateFixes?) -> Bool {
    guard lets(fix) else { return false }
    guard let time = fix.time else { return true }
    guard let last, time < last else {
      late = nil
      return true
    }
    let isInOrder = late.map { time > $0.time } ?? false
    let count = isInOrder ? (late?.count ?? 0) + 1 : 1
    late = count < Self.lateLimit ? LateFixes(count: count, time: time) : nil
    return late == nil
  }

  /// How a monitor's parameters tell it.
  var text: String { accuracy.map { " accuracy-gate=\($0)" } ?? "" }
}
