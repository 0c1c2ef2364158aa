import FieldpackCore

/// The values of a layer in a vector tile, each once, as messages of the field `values`.
struct TileValues: ~Copyable {
  private(set) var bytes = GrowingBytes(capacity: 4_096)
  /// Where each value begins. It ends where the next one begins.
  private var starts: [Int] = []
  /// By the bits of a hash: the hash in the upper half, and in the lower one the index of its value plus 1.
  /// So most other values are passed over without a look at them, which is far away in memory. 0 is free; at
  /// most five of eight are in use.
  private var slots = [UInt64](repeating: 0, count: leastSlots)
  /// How many of ``slots`` are in use, a power of two.
  private var slotCount = leastSlots
  /// Memory for the next growth.
  private var spare: [UInt64] = []
  /// Another one for each layer, so that nobody can make a file whose values all have one hash.
  private var seed = UInt64.random(in: .min ... .max)

  private static let leastSlots = 256

  /// Removes all values, and keeps their memory.
  mutating func removeAll() {
    bytes.removeAll()
    starts.removeAll(keepingCapacity: true)
    slotCount = Self.leastSlots
    for slot in 0..<slotCount { slots[slot] = 0 }
    seed = .random(in: .min ... .max)
  }

  /// The index of a text. Bytes that are not UTF-8 become U+FFFD, which the format demands.
  mutating func index(ofText text: UnsafeBufferPointer<UInt8>) -> Int {
    // One call for both: whether all bytes are ASCII, or else UTF-8.
    guard text.allSatisfy({ $0 < 0x80 }) || String(validating: text, as: UTF8.self) != nil else {
      var mended = String(decoding: text, as: UTF8.self)
      return mended.withUTF8 { append(text: $0) }
    }
    return append(text: text)
  }

  private mutating func append(text: UnsafeBufferPointer<UInt8>) -> Int {
    let start = begin(1 + Varint.size(UInt64(text.count)) + text.count)
    bytes.append(0x0A)
    Varint.append(UInt64(text.count), to: &bytes)
    bytes.append(text)
    return finish(from: start)
  }

  mutating func index(ofReal real: Double) -> Int {
    let start = begin(9)
    bytes.append(0x19)
    bytes.append(raw: real.bitPattern.littleEndian)
    return finish(from: start)
  }

  /// The index of an integer: `uint_value` where it is not negative, else `sint_value`, which takes
  /// fewer bytes than `int_value`.
  mutating func index(ofInteger integer: Int64) -> Int {
    let word = integer >= 0 ? UInt64(integer) : Varint.zigzag(integer)
    let start = begin(1 + Varint.size(word))
    bytes.append(integer >= 0 ? 0x28 : 0x30)
    Varint.append(word, to: &bytes)
    return finish(from: start)
  }

  mutating func index(ofFlag flag: Bool) -> Int {
    let start = begin(2)
    bytes.append(0x38)
    bytes.append(flag ? 1 : 0)
    return finish(from: start)
  }

  private mutating func begin(_ count: Int) -> Int {
    let start = bytes.count
    bytes.append(0x22)
    Varint.append(UInt64(count), to: &bytes)
    return start
  }

  /// The index of the message that begins at `start`; it goes again where it is there already.
  private mutating func finish(from start: Int) -> Int {
    let count = bytes.count - start
    let content = UnsafeRawBufferPointer(start: bytes.base + start, count: count)
    let hash = ValueHash.bytes(.blob, content, seed: seed) >> 32
    let mask = slotCount - 1
    var slot = Int(hash) & mask
    while slots[slot] > 0 {
      if slots[slot] >> 32 == hash {
        let index = Int(slots[slot] & 0xFFFF_FFFF) - 1
        let end = index + 1 < starts.count ? starts[index + 1] : start
        let other = UnsafeRawBufferPointer(
          start: bytes.base + starts[index], count: end - starts[index])
        if content.hasBytes(of: other) {
          bytes.truncate(to: start)
          return index
        }
      }
      slot = (slot + 1) & mask
    }
    starts.append(start)
    slots[slot] = hash << 32 | UInt64(starts.count)
    if starts.count * 8 > slotCount * 5 { grow() }
    return starts.count - 1
  }

  private mutating func grow() {
    let old = 0..<slotCount
    swap(&slots, &spare)
    slotCount *= 2
    if slots.count < slotCount {
      slots = [UInt64](repeating: 0, count: slotCount)
    } else {
      for slot in 0..<slotCount { slots[slot] = 0 }
    }
    let mask = slotCount - 1
    for value in spare[old] where value > 0 {
      var slot = Int(value >> 32) & mask
      while slots[slot] > 0 { slot = (slot + 1) & mask }
      slots[slot] = value
    }
  }
}

/// The integers of protocol buffers (https://protobuf.dev/programming-guides/encoding/).
enum Varint {
  @inline(__always)
  static func append(_ value: UInt64, to bytes: inout GrowingBytes) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: value))
  }

  static func size(_ value: UInt64) -> Int { (70 - (value | 1).leadingZeroBitCount) / 7 }

  @inline(__always)
  static func zigzag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: value << 1 ^ value >> 63)
  }
}
