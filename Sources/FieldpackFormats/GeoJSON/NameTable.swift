import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Numbers names by their bytes, in order of first appearance.
///
/// A name is first compared with the one that followed its predecessor last time, so that features
/// of one shape cost a comparison a member.
struct NameTable: ~Copyable {
  private var bytes = GrowingBytes()
  private var entries: [Entry] = []
  /// Open addressing over a power of two: the number of a name plus one, 0 where free.
  private var buckets: [Int32] = Array(repeating: 0, count: 64)
  private var last = 0

  private struct Entry {
    var start: Int
    var count: Int
    var hash: UInt64
    /// The number of the name that came next, plus one.
    var next: Int = 0
  }

  init() {
    // Stands before the first name.
    entries.append(Entry(start: 0, count: -1, hash: 0))
  }

  var count: Int { entries.count - 1 }

  /// The next name is the first of a feature.
  @inline(__always)
  mutating func restart() { last = 0 }

  /// The number of `name`; equal to `count` before the call where the name is new.
  @inline(__always)
  mutating func number(of name: UnsafeBufferPointer<UInt8>) -> Int {
    let guess = entries[last].next
    if guess != 0, isEqual(guess, name) {
      last = guess
      return guess - 1
    }
    let found = find(name)
    entries[last].next = found
    last = found
    return found - 1
  }

  @inline(__always)
  private func isEqual(_ entry: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    let kept = entries[entry]
    guard kept.count == name.count else { return false }
    return hasEqualBytes(bytes.base + kept.start, name)
  }

  private mutating func find(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    let hash = Self.hash(name)
    let mask = buckets.count - 1
    var bucket = Int(truncatingIfNeeded: hash) & mask
    while buckets[bucket] != 0 {
      let entry = Int(buckets[bucket])
      if entries[entry].hash == hash, isEqual(entry, name) { return entry }
      bucket = (bucket + 1) & mask
    }
    entries.append(Entry(start: bytes.count, count: name.count, hash: hash))
    bytes.append(name)
    buckets[bucket] = Int32(entries.count - 1)
    if entries.count * 2 > buckets.count { rehash() }
    return entries.count - 1
  }

  private mutating func rehash() {
    var larger = [Int32](repeating: 0, count: buckets.count * 2)
    let mask = larger.count - 1
    for entry in 1..<entries.count {
      var bucket = Int(truncatingIfNeeded: entries[entry].hash) & mask
      while larger[bucket] != 0 { bucket = (bucket + 1) & mask }
      larger[bucket] = Int32(entry)
    }
    buckets = larger
  }

  private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let hash = FNV1a.hash(of: name)
    return hash ^ hash >> 32
  }
}

/// Whether `name` is what lies at `start`.
@inline(__always)
func hasEqualBytes(_ start: UnsafePointer<UInt8>, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
  guard let base = name.baseAddress else { return true }
  return memcmp(start, base, name.count) == 0
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether these are the bytes of `text`.
  @inline(__always)
  func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    return hasEqualBytes(text.utf8Start, self)
  }
}
