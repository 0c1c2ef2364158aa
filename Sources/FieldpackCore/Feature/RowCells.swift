/// The attribute values of one row after another, copied in the form in which they are stored.
///
/// A row appends all its values in one call, which is cheaper than being asked for each of them.
public struct RowCells: Sendable {
  /// One value.
  public struct Cell: Sendable {
    /// An integer, the bits of a real, or the offset of a text or blob in ``RowCells/bytes``.
    public var bits: UInt64
    /// The length of a text or blob in bytes, at most 4 GiB; SQLite takes less than 1 GiB.
    public var length: UInt32
    public var kind: ValueKind

    @inlinable
    public init(_ kind: ValueKind = .null, bits: UInt64 = 0, length: UInt32 = 0) {
      self.bits = bits
      self.length = length
      self.kind = kind
    }

    /// The integer; 0 where the value is not an integer.
    @inlinable public var integer: Int64 { kind == .integer ? Int64(bitPattern: bits) : 0 }

    /// The number; NaN where the value is not a number.
    @inlinable public var real: Double {
      switch kind {
      case .real: Double(bitPattern: bits)
      case .integer: Double(Int64(bitPattern: bits))
      default: .nan
      }
    }

    /// Where a text or blob lies; empty for other kinds.
    @inlinable public var range: Range<Int> {
      kind == .text || kind == .blob ? Int(bits)..<Int(bits) + Int(length) : 0..<0
    }
  }

  public var cells: [Cell] = []
  /// The bytes of all texts and blobs.
  public var bytes: [UInt8] = []

  public init() {}

  @inlinable public mutating func appendNull() { cells.append(Cell(.null, bits: 0)) }

  @inlinable public mutating func append(integer: Int64) {
    append(.integer, bits: UInt64(bitPattern: integer))
  }

  @inlinable public mutating func append(real: Double) { append(.real, bits: real.bitPattern) }

  /// Appends an integer or real by its bits.
  @inlinable public mutating func append(_ kind: ValueKind, bits: UInt64) {
    cells.append(Cell(kind, bits: bits))
  }

  /// Appends a text or blob.
  @inlinable public mutating func append(_ kind: ValueKind, _ content: UnsafeRawBufferPointer) {
    let start = bytes.count
    bytes.append(contentsOf: content)
    cells.append(
      Cell(kind, bits: UInt64(start), length: UInt32(clamping: content.count)))
  }

  /// Appends a text or blob whose bytes are those of ``bytes`` from `start` to the end.
  @inlinable public mutating func append(_ kind: ValueKind, bytesFrom start: Int) {
    let length = UInt32(clamping: bytes.count - start)
    cells.append(Cell(kind, bits: UInt64(start), length: length))
  }

  /// Cuts back to the first `count` cells and `byteCount` bytes.
  public mutating func cut(to count: Int, bytes byteCount: Int) {
    cells.removeLast(max(0, cells.count - count))
    bytes.removeLast(max(0, bytes.count - byteCount))
  }

  /// Removes all cells and bytes; keeps the memory of bytes up to `keptBytes`.
  public mutating func removeAll(keptBytes: Int) {
    cells.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: bytes.capacity <= keptBytes)
  }
}
