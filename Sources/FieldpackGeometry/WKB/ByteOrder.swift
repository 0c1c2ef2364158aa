/// The order of bytes in a number, with the codes of WKB.
public enum ByteOrder: UInt8, Hashable, Sendable, CaseIterable {
  case big = 0
  case little = 1

  /// The machine's byte order.
  package static let native: ByteOrder = UInt16(1).littleEndian == 1 ? .little : .big
}

extension RawSpan {
  /// - Precondition: the caller has checked that eight bytes lie at `offset`.
  @inlinable @inline(__always)
  package func double(at offset: Int, _ order: ByteOrder) -> Double {
    let bits = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
    return Double(
      bitPattern: order == .little ? UInt64(littleEndian: bits) : UInt64(bigEndian: bits))
  }

  /// - Precondition: the caller has checked that four bytes lie at `offset`.
  @inlinable @inline(__always)
  func uint32(at offset: Int, _ order: ByteOrder) -> UInt32 {
    let bits = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
    return order == .little ? UInt32(littleEndian: bits) : UInt32(bigEndian: bits)
  }

  /// - Precondition: `offset` is inside the span.
  @inlinable @inline(__always)
  func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}

extension [UInt8] {
  @inlinable @inline(__always)
  mutating func append(_ value: UInt32, _ order: ByteOrder) {
    appendBytes(of: order == .little ? value.littleEndian : value.bigEndian)
  }

  @inlinable @inline(__always)
  mutating func append(_ value: Double, _ order: ByteOrder) {
    let bits = value.bitPattern
    appendBytes(of: order == .little ? bits.littleEndian : bits.bigEndian)
  }

  @inlinable @inline(__always)
  mutating func append(_ x: Double, _ y: Double, _ order: ByteOrder) {
    let bits = SIMD2(x.bitPattern, y.bitPattern)
    appendBytes(
      of: order == .little
        ? SIMD2(bits.x.littleEndian, bits.y.littleEndian)
        : SIMD2(bits.x.bigEndian, bits.y.bigEndian))
  }

  /// Appends a value with one check of the array's capacity instead of one for each byte.
  @inlinable @inline(__always)
  mutating func appendBytes<Value: BitwiseCopyable>(of value: Value) {
    append(addingCapacity: MemoryLayout<Value>.size) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(of: value, as: Value.self)
        count = MemoryLayout<Value>.size
      }
    }
  }

  /// - Precondition: there are at least `offset + 4` bytes.
  @inlinable
  mutating func replace(at offset: Int, with value: UInt32, _ order: ByteOrder) {
    let ordered = order == .little ? value.littleEndian : value.bigEndian
    withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: ordered, toByteOffset: offset, as: UInt32.self)
    }
  }

  mutating func append(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}
