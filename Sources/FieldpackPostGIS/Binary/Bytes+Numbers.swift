import FieldpackGeometry

extension [UInt8] {
  /// Appends a number as PostgreSQL's protocol has it: the highest byte first.
  @inline(__always)
  mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(big number: Number) {
    appendRaw(number.bigEndian)
  }

  /// Appends a number of a WKB.
  @inline(__always)
  mutating func append(number: UInt32, _ order: ByteOrder) {
    appendRaw(order == .little ? number.littleEndian : number.bigEndian)
  }

  /// Appends a value with one check of the array's capacity instead of one for each byte.
  @inline(__always)
  private mutating func appendRaw<Value: BitwiseCopyable>(_ value: Value) {
    append(addingCapacity: MemoryLayout<Value>.size) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(of: value, as: Value.self)
        count = MemoryLayout<Value>.size
      }
    }
  }

  /// Overwrites a number that was appended before.
  ///
  /// - Precondition: four bytes lie at `offset`.
  @inline(__always)
  mutating func replace(big number: Int32, at offset: Int) {
    withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: number.bigEndian, toByteOffset: offset, as: Int32.self)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The number at `offset`, the highest byte first; `nil` where the bytes end before it does.
  @inline(__always)
  func big<Number: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Number.Type = Number.self
  ) -> Number? {
    guard offset >= 0, count - offset >= MemoryLayout<Number>.size else { return nil }
    return unsafe Number(bigEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
