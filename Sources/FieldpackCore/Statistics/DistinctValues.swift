/// Distinct values: all of them with their frequencies, or an estimate of their number once there
/// are too many.
struct DistinctValues {
  private var table = ValueTable()
  private var sketch = DistinctSketch()
  private var isExact = true

  /// The number of values that are counted exactly.
  private static let most = 10_000
  /// Bounds the memory of long texts and blobs.
  private static let mostBytes = 4 << 20

  mutating func add(number cell: RowCells.Cell) {
    let (kind, bits) = ValueTable.normal(cell)
    if isExact {
      table.add(kind, bits: bits, 1)
      estimateIfMany()
    } else {
      sketch.add(ValueHash.number(kind, bits))
    }
  }

  mutating func add(_ kind: ValueKind, _ content: UnsafeRawBufferPointer) {
    if isExact, content.count <= Self.mostBytes {
      table.add(kind, content, 1)
      estimateIfMany()
    } else {
      if isExact { estimate() }
      sketch.add(ValueHash.bytes(kind, content))
    }
  }

  mutating func merge(_ other: DistinctValues) {
    if !other.isExact {
      if isExact { estimate() }
      sketch.merge(other.sketch)
    } else if isExact {
      table.merge(other.table)
      estimateIfMany()
    } else {
      other.table.fill(&sketch)
    }
  }

  var count: (Int, isEstimated: Bool) {
    isExact ? (table.count, false) : (sketch.estimate, true)
  }

  /// The most frequent values that are no blobs and occur more than once.
  func mostFrequent(_ count: Int) -> [(value: Value, count: Int)] {
    isExact ? table.mostFrequent(count) : []
  }

  private mutating func estimateIfMany() {
    if table.count > Self.most || table.byteCount > Self.mostBytes { estimate() }
  }

  private mutating func estimate() {
    table.fill(&sketch)
    table = ValueTable()
    isExact = false
  }
}

/// Hashes that are the same in every run, so that an estimate is, too.
package enum ValueHash {
  package static func number(_ kind: ValueKind, _ bits: UInt64, seed: UInt64 = 0) -> UInt64 {
    mixed((kind == .real ? ~bits : bits) ^ seed)
  }

  package static func bytes(
    _ kind: ValueKind, _ content: UnsafeRawBufferPointer, seed: UInt64 = 0
  ) -> UInt64 {
    var state = seed ^ (UInt64(content.count) &* first) ^ UInt64(kind.rawValue)
    var offset = 0
    while offset + 8 <= content.count {
      let word = content.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      state = folded(state ^ UInt64(littleEndian: word), second)
      offset += 8
    }
    var tail: UInt64 = 0
    var shift: UInt64 = 0
    while offset < content.count {
      tail |= UInt64(content[offset]) << shift
      shift += 8
      offset += 1
    }
    return mixed(folded(state ^ tail, first) ^ state)
  }

  private static let first: UInt64 = 0x9E37_79B9_7F4A_7C15
  private static let second: UInt64 = 0xD6E8_FEB8_6659_FD93

  /// Both halves of the product.
  private static func folded(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// The finalizer of SplitMix64 (G. Steele and others, "Fast splittable pseudorandom number
  /// generators", 2014). It gives different results for different words.
  private static func mixed(_ word: UInt64) -> UInt64 {
    var word = word &+ first
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
