package import FieldpackGeometry

/// Bytes that grow as needed and keep their memory when emptied.
@usableFromInline
package struct GrowingBytes: ~Copyable {
  @usableFromInline package private(set) var base: UnsafeMutablePointer<UInt8>
  @usableFromInline package internal(set) var count = 0
  @usableFromInline private(set) var capacity: Int

  package init(capacity: Int = 256) {
    self.capacity = max(capacity, 16)
    base = .allocate(capacity: self.capacity)
  }

  deinit { base.deallocate() }

  @inlinable package var bytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: base, count: count)
  }

  @inlinable package mutating func removeAll() { count = 0 }

  /// Cuts back to the first `length` bytes.
  @inlinable package mutating func truncate(to length: Int) { count = min(count, length) }

  @inlinable @inline(__always)
  package mutating func reserve(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  @usableFromInline @inline(never)
  mutating func grow(_ more: Int) {
    let wanted = max(capacity * 2, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted)
    larger.update(from: base, count: count)
    base.deallocate()
    base = larger
    capacity = wanted
  }

  @inlinable @inline(__always)
  package mutating func append(_ byte: UInt8) {
    reserve(1)
    base[count] = byte
    count += 1
  }

  @inlinable @inline(__always)
  package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let start = bytes.baseAddress else { return }
    reserve(bytes.count)
    (base + count).update(from: start, count: bytes.count)
    count += bytes.count
  }

  /// Appends a part of a buffer.
  @inlinable @inline(__always)
  package mutating func append(copyOf bytes: Slice<UnsafeRawBufferPointer>) {
    guard let start = bytes.base.baseAddress else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(base + count).copyMemory(
      from: start + bytes.startIndex, byteCount: bytes.count)
    count += bytes.count
  }

  /// Appends what `body` writes, at most `limit` bytes.
  package mutating func appendRun(upTo limit: Int, _ body: (inout TextRun) -> Void) {
    reserve(limit)
    count += TextRun.write(at: base + count, upTo: limit, body)
  }

  /// Appends the bytes of `value` as they lie in memory.
  @inlinable @inline(__always)
  package mutating func append<T: BitwiseCopyable>(raw value: T) {
    reserve(MemoryLayout<T>.size)
    UnsafeMutableRawPointer(base + count).storeBytes(of: value, as: T.self)
    count += MemoryLayout<T>.size
  }

  /// Overwrites bytes that were appended before.
  @inlinable @inline(__always)
  package mutating func store<T: BitwiseCopyable>(_ value: T, at offset: Int) {
    precondition(offset >= 0 && offset + MemoryLayout<T>.size <= count)
    UnsafeMutableRawPointer(base + offset).storeBytes(of: value, as: T.self)
  }
}
