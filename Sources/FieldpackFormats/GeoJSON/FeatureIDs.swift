import FieldpackCore

/// The `id` of a feature as the file has it.
enum SourceID {
  case absent
  case integer(Int64)
  /// A text, or a number that is no 64-bit integer, in its digits.
  case text
}

/// What the ids of a file are good for.
///
/// As long as integers only grow they need no memory. The first that does not makes the reader go
/// through the whole file once for the ids alone; what that finds is kept.
struct FeatureIDs {
  var integers = 0
  var texts = 0
  var absents = 0
  private var last = Int64.min
  private var highest = Int64.min
  /// Ids do not grow, so that only a look at all of them tells whether they are distinct.
  private(set) var isUnordered = false
  /// The answer, once there is one.
  var duplicate: DuplicateSearch = .notNeeded

  enum DuplicateSearch: Equatable {
    case notNeeded
    case none
    case found(Int64)
  }

  /// Every feature so far has an integer, and no two the same as far as that is known.
  var areUsable: Bool {
    if case .found = duplicate { return false }
    return texts == 0 && absents == 0 && integers > 0
  }

  /// There was a feature, with an id or without.
  var hasFeatures: Bool { integers > 0 || texts > 0 || absents > 0 }

  mutating func note(_ id: SourceID) {
    switch id {
    case .absent: absents += 1
    case .text: texts += 1
    case .integer(let value):
      if integers > 0, value <= last { isUnordered = true }
      integers += 1
      last = value
      highest = max(highest, value)
    }
  }

  /// An id that no feature before has, for those after the ids proved to be of no use.
  mutating func next() -> Int64 {
    highest = integers == 0 && highest == .min ? 1 : highest &+ 1
    return highest
  }
}

/// Every id of a file, to be looked through for one that occurs twice.
struct CollectedIDs: ~Copyable {
  private var base: UnsafeMutablePointer<Int64> = .allocate(capacity: 1024)
  private var capacity = 1024
  private(set) var count = 0

  init() {}

  deinit { base.deallocate() }

  mutating func append(_ id: Int64) {
    if count == capacity {
      let larger = UnsafeMutablePointer<Int64>.allocate(capacity: capacity + capacity / 2)
      larger.update(from: base, count: count)
      base.deallocate()
      base = larger
      capacity += capacity / 2
    }
    base[count] = id
    count += 1
  }

  /// An id that occurs more than once. The order is lost.
  mutating func duplicate() -> Int64? {
    sort(0, count, bit: 63)
    for index in 1..<max(count, 1) where base[index] == base[index - 1] { return base[index] }
    return nil
  }

  /// Parts by one bit after the other: in place, and never deeper than the 64 bits there are.
  private mutating func sort(_ from: Int, _ to: Int, bit: Int) {
    guard to - from > 1, bit >= 0 else { return }
    let mask: UInt64 = 1 << UInt64(bit)
    var low = from
    var high = to
    while low < high {
      if UInt64(bitPattern: base[low]) & mask == 0 {
        low += 1
      } else {
        high -= 1
        (base[low], base[high]) = (base[high], base[low])
      }
    }
    sort(from, low, bit: bit - 1)
    sort(low, to, bit: bit - 1)
  }
}
