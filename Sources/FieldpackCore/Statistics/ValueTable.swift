/// Distinct values with their frequencies, in a table with open addressing.
struct ValueTable {
  private struct Entry {
    var kind: ValueKind
    /// The bits of a number, or the offset of a text or blob in `bytes`.
    var bits: UInt64
    var length: Int
    var hash: UInt64
    var count: Int
  }

  private var entries: [Entry] = []
  /// The texts and blobs.
  private var bytes: [UInt8] = []
  /// By the low bits of a hash the index of its entry plus 1; 0 is free. At most half are in use.
  private var slots: [UInt32] = []

  /// Another one in every run, so that nobody can make a file whose values all have one hash.
  private let seed = UInt64.random(in: .min ... .max)

  var count: Int { entries.count }
  var byteCount: Int { bytes.count }

  /// The kind and bits that equal numbers share: a real without a fraction counts as an integer, and
  /// all NaNs are one.
  @inline(__always)
  static func normal(_ cell: RowCells.Cell) -> (ValueKind, UInt64) {
    guard cell.kind == .real else { return (.integer, cell.bits) }
    let real = Double(bitPattern: cell.bits)
    if real.rounded(.towardZero) == real, let integer = Int64(exactly: real) {
      return (.integer, UInt64(bitPattern: integer))
    }
    return (.real, real.isNaN ? Double.nan.bitPattern : cell.bits)
  }

  mutating func add(_ kind: ValueKind, bits: UInt64, _ count: Int) {
    if slots.isEmpty { grow() }
    let hash = ValueHash.number(kind, bits, seed: seed)
    let slot = slot(hash) { $0.kind == kind && $0.bits == bits }
    if slots[slot] > 0 {
      entries[Int(slots[slot]) - 1].count += count
    } else {
      insert(Entry(kind: kind, bits: bits, length: 0, hash: hash, count: count), at: slot)
    }
  }

  mutating func add(_ kind: ValueKind, _ content: UnsafeRawBufferPointer, _ count: Int) {
    if slots.isEmpty { grow() }
    let hash = ValueHash.bytes(kind, content, seed: seed)
    let length = content.count
    let slot = bytes.withUnsafeBytes { bytes in
      self.slot(hash) { entry in
        guard entry.kind == kind, entry.length == length else { return false }
        return UnsafeRawBufferPointer(rebasing: bytes[Self.range(of: entry)]).hasBytes(of: content)
      }
    }
    if slots[slot] == 0 {
      let entry = Entry(
        kind: kind, bits: UInt64(bytes.count), length: length, hash: hash, count: count)
      bytes.append(contentsOf: content)
      insert(entry, at: slot)
    } else {
      entries[Int(slots[slot]) - 1].count += count
    }
  }

  mutating func merge(_ other: ValueTable) {
    other.bytes.withUnsafeBytes { bytes in
      for entry in other.entries {
        if entry.kind == .text || entry.kind == .blob {
          let content = UnsafeRawBufferPointer(rebasing: bytes[Self.range(of: entry)])
          add(entry.kind, content, entry.count)
        } else {
          add(entry.kind, bits: entry.bits, entry.count)
        }
      }
    }
  }

  /// Adds all values.
  func fill(_ sketch: inout DistinctSketch) {
    bytes.withUnsafeBytes { bytes in
      for entry in entries {
        if entry.kind == .text || entry.kind == .blob {
          let content = UnsafeRawBufferPointer(rebasing: bytes[Self.range(of: entry)])
          sketch.add(ValueHash.bytes(entry.kind, content))
        } else {
          sketch.add(ValueHash.number(entry.kind, entry.bits))
        }
      }
    }
  }

  /// The values that are no blobs and occur more than once, the most frequent first.
  func mostFrequent(_ limit: Int) -> [(value: Value, count: Int)] {
    let candidates = entries.filter { $0.count > 1 && $0.kind != .blob }
    guard let least = candidates.map(\.count).sorted(by: >).prefix(limit).last else { return [] }
    return candidates.filter { $0.count >= least }
      .map { (value: value(of: $0), count: $0.count) }
      .sorted { $0.count != $1.count ? $0.count > $1.count : $0.value.sorts(before: $1.value) }
      .prefix(limit).map { $0 }
  }

  private func value(of entry: Entry) -> Value {
    switch entry.kind {
    case .integer: .integer(Int64(bitPattern: entry.bits))
    case .real: .real(Double(bitPattern: entry.bits))
    default: .text(String(decoding: bytes[Self.range(of: entry)], as: UTF8.self))
    }
  }

  /// The slot of the entry with that hash that matches, or the free one where it belongs.
  @inline(__always)
  private func slot(_ hash: UInt64, _ matches: (borrowing Entry) -> Bool) -> Int {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] > 0 {
      let entry = Int(slots[slot]) - 1
      if entries[entry].hash == hash, matches(entries[entry]) { break }
      slot = (slot + 1) & mask
    }
    return slot
  }

  private mutating func insert(_ entry: Entry, at slot: Int) {
    entries.append(entry)
    slots[slot] = UInt32(entries.count)
    if entries.count * 2 > slots.count { grow() }
  }

  private mutating func grow() {
    slots = Array(repeating: 0, count: max(16, slots.count * 2))
    for (index, entry) in entries.enumerated() {
      slots[slot(entry.hash) { _ in false }] = UInt32(index + 1)
    }
  }

  private static func range(of entry: Entry) -> Range<Int> {
    Int(entry.bits)..<Int(entry.bits) + entry.length
  }
}
