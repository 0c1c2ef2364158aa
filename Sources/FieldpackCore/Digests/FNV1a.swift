/// The hash FNV-1a of 64 bits, for data that nobody forges.
package struct FNV1a: Sendable {
  package var value: UInt64 = 0xcbf2_9ce4_8422_2325

  @inlinable @inline(__always)
  package init() {}

  @inlinable @inline(__always)
  package mutating func update(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
  }
}
