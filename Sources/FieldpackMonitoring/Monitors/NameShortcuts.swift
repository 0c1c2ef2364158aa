/// Where most names are in a table, by a hash that costs a tenth of the one that dictionaries use.
///
/// It may leave out a name: whoever asks has a dictionary beside it. So neither many names of one hash
/// nor a name spelled in other code points can do more harm than to be looked for there.
struct NameShortcuts: Sendable {
  private struct Slot {
    var hash: UInt32
    /// Index of the name in the table; -1 where the slot is free.
    var entry: Int32
  }

  private static let reach = 8
  private let seed = UInt64.random(in: .min ... .max)
  private var slots = [Slot](repeating: Slot(hash: 0, entry: -1), count: 64)
  private var count = 0

  func hash(_ name: String) -> UInt32 {
    let hash = name.utf8.withContiguousStorageIfAvailable { bytes in
      let raw = UnsafeRawBufferPointer(bytes)
      var hash = seed ^ UInt64(truncatingIfNeeded: raw.count)
      var start = 0
      while start + 8 <= raw.count {
        hash = Self.mix(hash, raw.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        start += 8
      }
      var rest: UInt64 = 0
      for byte in raw[start...] { rest = rest << 8 | UInt64(byte) }
      return UInt32(truncatingIfNeeded: Self.mix(hash, rest))
    }
    return hash ?? 0
  }

  @inline(__always)
  private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    // The golden ratio's fraction, as Fibonacci hashing has it.
    let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }

  /// Index of a name with the hash of which `isSame` is true.
  @inline(__always)
  func entry(_ hash: UInt32, where isSame: (Int) -> Bool) -> Int? {
    for step in 0..<Self.reach {
      let slot = slots[(Int(hash) + step) & (slots.count - 1)]
      guard slot.entry >= 0 else { return nil }
      if slot.hash == hash, isSame(Int(slot.entry)) { return Int(slot.entry) }
    }
    return nil
  }

  mutating func add(_ hash: UInt32, _ entry: Int) {
    if 2 * count >= slots.count {
      let old = slots
      slots = [Slot](repeating: Slot(hash: 0, entry: -1), count: 2 * old.count)
      count = 0
      for slot in old where slot.entry >= 0 { insert(slot) }
    }
    insert(Slot(hash: hash, entry: Int32(entry)))
  }

  private mutating func insert(_ slot: Slot) {
    for step in 0..<Self.reach {
      let index = (Int(slot.hash) + step) & (slots.count - 1)
      guard slots[index].entry < 0 else { continue }
      slots[index] = slot
      count += 1
      return
    }
  }
}
