/// The hash FNV-1a of 64 bits, for data that nobody forges.
@usableFromInline
package struct FNV1a: Sendable {
  @usableFromInline package var value: UInt64 = 0xcbf2_9ce4_8422_2325

  @inlinable @inline(__always)
  package init() {}

  @inlinable @inline(__always)
  package mutating func update(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  /// The hash of bytes.
  @inlinable
  package static func hash(of bytes: some Sequence<UInt8>) -> UInt64 {
    var hash = FNV1a()
    for byte in bytes { hash.update(byte) }
    return hash.value
  }
}
