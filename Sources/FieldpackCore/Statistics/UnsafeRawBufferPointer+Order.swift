#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension UnsafeRawBufferPointer {
  @inline(__always)
  package func hasBytes(of other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let start = baseAddress, let others = other.baseAddress else { return true }
    return memcmp(start, others, count) == 0
  }

  /// Whether it comes before `other` in binary order, in which a beginning comes before the whole.
  @inline(__always)
  func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
    let shared = Swift.min(count, other.count)
    guard shared > 0, let start = baseAddress, let others = other.baseAddress else {
      return count < other.count
    }
    let order = memcmp(start, others, shared)
    return order == 0 ? count < other.count : order < 0
  }
}
