/// Bytes that grow, and are freed by hand: Arrow's consumers hold on to where they lie.
struct ArrowMemory {
  private(set) var start: UnsafeMutableRawPointer?
  private(set) var count = 0
  private var capacity = 0

  func free() { start?.deallocate() }

  mutating func append<T: BitwiseCopyable>(_ value: T) {
    let size = MemoryLayout<T>.size
    reserve(size).storeBytes(of: value, as: T.self)
    count += size
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  mutating func append(repeating byte: UInt8, count more: Int) {
    guard more > 0 else { return }
    reserve(more).initializeMemory(as: UInt8.self, repeating: byte, count: more)
    count += more
  }

  /// Sets or clears a bit of a byte that is there.
  mutating func set(bit: Int, to isSet: Bool) {
    precondition(bit >= 0 && bit >> 3 < count, "no such bit")
    guard let byte = start?.advanced(by: bit >> 3) else { return }
    let mask = UInt8(1) << UInt8(bit & 7)
    let old = byte.load(as: UInt8.self)
    byte.storeBytes(of: isSet ? old | mask : old & ~mask, as: UInt8.self)
  }

  /// Makes room for `more` bytes and gives where they go.
  @inline(__always)
  private mutating func reserve(_ more: Int) -> UnsafeMutableRawPointer {
    if let start, count + more <= capacity { return start + count }
    return grow(more) + count
  }

  @inline(never)
  private mutating func grow(_ more: Int) -> UnsafeMutableRawPointer {
    capacity = max(count + more, capacity * 2, 1024)
    // Arrow recommends 64 bytes for the sake of vector instructions.
    let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64)
    if let start {
      grown.copyMemory(from: start, byteCount: count)
      start.deallocate()
    }
    start = grown
    return grown
  }
}
