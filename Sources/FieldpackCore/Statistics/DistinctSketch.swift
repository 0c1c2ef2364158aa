/// Estimates how many distinct hashes it was given, by a HyperLogLog.
struct DistinctSketch {
  /// 2^14 registers have a standard error of 1.04 / sqrt(2^14), which is 0.8 %.
  private static let bits = 14
  private static let count = 1 << bits
  /// The greatest value of a register is `mostZeros + 1`.
  private static let mostZeros = 64 - bits

  /// For each group of hashes: the most zeros at the end of one of them, plus 1. Empty before the first
  /// hash.
  private var registers: [UInt8] = []

  mutating func add(_ hash: UInt64) {
    if registers.isEmpty { registers = Array(repeating: 0, count: Self.count) }
    let index = Int(hash >> UInt64(Self.mostZeros))
    // The bit behind the used ones ends the count.
    let rest = hash | 1 << UInt64(Self.mostZeros)
    let rank = UInt8(truncatingIfNeeded: rest.trailingZeroBitCount + 1)
    registers.withUnsafeMutableBufferPointer { if $0[index] < rank { $0[index] = rank } }
  }

  mutating func merge(_ other: DistinctSketch) {
    guard !registers.isEmpty, !other.registers.isEmpty else {
      if registers.isEmpty { registers = other.registers }
      return
    }
    for index in registers.indices {
      registers[index] = max(registers[index], other.registers[index])
    }
  }

  /// Algorithm 6 of Ertl 2017 (https://arxiv.org/abs/1702.01284), which needs no tables of biases.
  var estimate: Int {
    guard !registers.isEmpty else { return 0 }
    let size = Double(Self.count)
    var frequencies = [Double](repeating: 0, count: Self.mostZeros + 2)
    for register in registers { frequencies[Int(register)] += 1 }
    var sum = size * Self.tau(1 - frequencies[Self.mostZeros + 1] / size)
    for rank in (1...Self.mostZeros).reversed() { sum = 0.5 * (sum + frequencies[rank]) }
    sum += size * Self.sigma(frequencies[0] / size)
    let ln2 = 0.693_147_180_559_945_3
    return Int((size * size / (2 * ln2 * sum)).rounded())
  }

  private static func sigma(_ start: Double) -> Double {
    guard start < 1 else { return .infinity }
    var (x, factor, sum, before) = (start, 1.0, start, -1.0)
    while sum != before {
      x *= x
      before = sum
      sum += x * factor
      factor += factor
    }
    return sum
  }

  private static func tau(_ start: Double) -> Double {
    guard start > 0, start < 1 else { return 0 }
    var (x, factor, sum, before) = (start, 1.0, 1 - start, -1.0)
    while sum != before {
      x = x.squareRoot()
      before = sum
      factor *= 0.5
      sum -= (1 - x) * (1 - x) * factor
    }
    return sum / 3
  }
}
