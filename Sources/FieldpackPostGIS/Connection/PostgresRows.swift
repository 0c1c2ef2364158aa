#if PostGIS
  import CPQ
  import FieldpackCore

  /// The rows of a statement in PostgreSQL's binary form; their memory lives as long as this object.
  package final class PostgresRows {
    let result: OpaquePointer
    package let count: Int
    package let columnCount: Int

    init(_ result: OpaquePointer) {
      self.result = result
      count = Int(PQntuples(result))
      columnCount = Int(PQnfields(result))
    }

    deinit { PQclear(result) }

    /// The number of rows that a statement has changed, or that a COPY has read.
    var changedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    package func type(of column: Int) -> UInt32 { PQftype(result, Int32(column)) }

    package func isNull(_ row: Int, _ column: Int) -> Bool {
      PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    /// How many bytes a value has; 0 for NULL.
    func length(_ row: Int, _ column: Int) -> Int {
      Int(PQgetlength(result, Int32(row), Int32(column)))
    }

    /// The bytes of a value, none for NULL; valid while this object lives.
    package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
      let length = PQgetlength(result, Int32(row), Int32(column))
      return UnsafeRawBufferPointer(
        start: PQgetvalue(result, Int32(row), Int32(column)), count: max(0, Int(length)))
    }

    /// The text of a value; `nil` for NULL.
    package func text(_ row: Int, _ column: Int) -> String? {
      isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self)
    }

    /// An `int2`, `int4`, `int8`, `oid` or `bool`; `nil` for NULL and bytes of another length.
    package func integer(_ row: Int, _ column: Int) -> Int64? {
      guard !isNull(row, column) else { return nil }
      let bytes = bytes(row, column)
      switch bytes.count {
      case 1: return Int64(bytes[0])
      case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
      case 4 where type(of: column) == PostgresType.oid:
        return Int64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
      case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
      case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
      default: return nil
      }
    }

    /// A `float4` or `float8`; `nil` for NULL and bytes of another length.
    package func real(_ row: Int, _ column: Int) -> Double? {
      guard !isNull(row, column) else { return nil }
      let bytes = bytes(row, column)
      switch bytes.count {
      case 4:
        return Double(
          Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))))
      case 8: return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
      default: return nil
      }
    }

    package func flag(_ row: Int, _ column: Int) -> Bool { integer(row, column) == 1 }
  }
#endif
