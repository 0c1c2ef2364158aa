import FieldpackCore

/// What a monitor knows of each device, found by its name.
struct DeviceTable<Entry: Sendable>: Sendable {
  private(set) var names: [String] = []
  var entries: [Entry] = []
  private var places: [String: Int] = [:]
  /// Fixes of one device often follow one another.
  private var last = -1
  /// Whose fix came after the last one of each device: devices often come in the same order.
  private var following: [Int32] = []

  /// The place of a device; `nil` before its first fix.
  func place(of name: String) -> Int? { places[name] }

  /// As ``place(of:)``, and looks first where the devices before let it expect the name.
  mutating func find(_ name: String) -> Int? {
    guard last >= 0 else { return nil }
    if names[last] == name { return last }
    let expected = Int(following[last])
    if names[expected] == name {
      last = expected
      return expected
    }
    guard let place = places[name] else { return nil }
    following[last] = Int32(place)
    last = place
    return place
  }

  mutating func append(_ name: String, _ entry: Entry) {
    let place = names.count
    if last >= 0 { following[last] = Int32(place) }
    following.append(0)
    last = place
    places[name] = place
    names.append(name)
    entries.append(entry)
  }

  /// The places in the order of the names, code point by code point.
  var sorted: [Int] {
    names.indices.sorted { names[$0].utf8.lexicographicallyPrecedes(names[$1].utf8) }
  }
}

/// Which fixes a monitor passes over, whatever it looks for.
struct FixGate: Hashable, Sendable {
  /// Metres; fixes with a larger radius of accuracy are passed over.
  var accuracy: Double?

  func lets(_ fix: Fix, after last: Instant?) -> Bool {
    guard fix.isOnEarth else { return false }
    if let last, let time = fix.time, time < last { return false }
    guard let accuracy, let radius = fix.accuracy else { return true }
    return radius <= accuracy
  }

  /// How a monitor's parameters tell it.
  var text: String { accuracy.map { " accuracy-gate=\($0)" } ?? "" }
}
