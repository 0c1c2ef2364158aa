/// A set of Unicode code points, as a class of a pattern names it.
struct ScalarSet: Hashable, Sendable {
  /// In order; none touches the next one.
  private(set) var ranges: [ClosedRange<UInt32>]
  /// The members below 128, a bit each.
  private let ascii: (UInt64, UInt64)

  static let last: UInt32 = 0x10FFFF

  init(_ ranges: [ClosedRange<UInt32>]) {
    self.ranges = Self.joined(ranges)
    var bits: (UInt64, UInt64) = (0, 0)
    for range in self.ranges where range.lowerBound < 128 {
      for code in range.lowerBound...min(range.upperBound, 127) {
        if code < 64 { bits.0 |= 1 << code } else { bits.1 |= 1 << (code - 64) }
      }
    }
    ascii = bits
  }

  static func == (a: Self, b: Self) -> Bool { a.ranges == b.ranges }

  func hash(into hasher: inout Hasher) { hasher.combine(ranges) }

  func contains(_ code: UInt32) -> Bool {
    if code < 64 { return ascii.0 >> code & 1 == 1 }
    if code < 128 { return ascii.1 >> (code - 64) & 1 == 1 }
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < code { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(code)
  }

  var inverted: ScalarSet {
    var gaps: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges {
      if range.lowerBound > next { gaps.append(next...(range.lowerBound - 1)) }
      next = range.upperBound + 1
    }
    if next <= Self.last { gaps.append(next...Self.last) }
    return ScalarSet(gaps)
  }

  private static func joined(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var joined: [ClosedRange<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let before = joined.last, range.lowerBound <= before.upperBound + 1 {
        joined[joined.count - 1] =
          before.lowerBound...max(before.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }
}

extension ScalarSet {
  /// `\d`
  static let digits = ScalarSet([0x30...0x39])
  /// `\w`
  static let word = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
  /// `\s`: WhiteSpace and LineTerminator of ECMAScript.
  static let space = ScalarSet([
    0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
    0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
  ])
  /// `.`: all but the ends of lines.
  static let dot = ScalarSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029]).inverted
}
