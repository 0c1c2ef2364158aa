import FieldpackGeometry

extension [UInt8] {
  /// Appends a number as PostgreSQL's protocol has it: the highest byte first.
  @inline(__always)
  mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(big number: Number) {
    appendRaw(number.bigEndian)
  }

  /// Appends three numbers, the highest byte of each first.
  @inline(__always)
  mutating func append(big first: Int16, _ second: Int32, _ third: Int64) {
    append(addingCapacity: 14) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        let place = UnsafeMutableRawBufferPointer(buffer)
        unsafe place.storeBytes(of: first.bigEndian, as: Int16.self)
        unsafe place.storeBytes(of: second.bigEndian, toByteOffset: 2, as: Int32.self)
        unsafe place.storeBytes(of: third.bigEndian, toByteOffset: 6, as: Int64.self)
        count = 14
      }
    }
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

  /// The number that is an `int2`, `int4`, `int8` or `bool` as PostgreSQL sends it; 0 for bytes of another
  /// length.
  @inline(__always)
  var sentInteger: Int64 {
    switch count {
    case 1: Int64(self[0])
    case 2: Int64(big(at: 0, as: Int16.self) ?? 0)
    case 4: Int64(big(at: 0, as: Int32.self) ?? 0)
    default: big(at: 0, as: Int64.self) ?? 0
    }
  }

  /// The number that is a `float4` or `float8` as PostgreSQL sends it.
  @inline(__always)
  var sentReal: Double {
    if count == 4 { return Double(Float(bitPattern: big(at: 0, as: UInt32.self) ?? 0)) }
    return Double(bitPattern: big(at: 0, as: UInt64.self) ?? 0)
  }
}
