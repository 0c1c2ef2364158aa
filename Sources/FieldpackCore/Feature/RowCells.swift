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
    public init(_ kind: ValueKind, bits: UInt64, length: UInt32 = 0) {
      self.bits = bits
      self.length = length
      self.kind = kind
    }
  }

  public private(set) var cells: [Cell] = []
  /// The bytes of all texts and blobs.
  public var bytes: [UInt8] = []

  public init() {}

  public mutating func appendNull() { cells.append(Cell(.null, bits: 0)) }

  public mutating func append(integer: Int64) {
    append(.integer, bits: UInt64(bitPattern: integer))
  }

  public mutating func append(real: Double) { append(.real, bits: real.bitPattern) }

  /// Appends an integer or real by its bits.
  public mutating func append(_ kind: ValueKind, bits: UInt64) {
    cells.append(Cell(kind, bits: bits))
  }

  /// Appends a text or blob.
  public mutating func append(_ kind: ValueKind, _ content: UnsafeRawBufferPointer) {
    let start = bytes.count
    bytes.append(contentsOf: content)
    cells.append(
      Cell(kind, bits: UInt64(start), length: UInt32(clamping: content.count)))
  }

  /// Appends a text or blob whose bytes are those of ``bytes`` from `start` to the end.
  public mutating func append(_ kind: ValueKind, bytesFrom start: Int) {
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
