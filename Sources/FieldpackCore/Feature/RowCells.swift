/// The attribute values of rows one after the other, copied in the form in which they are stored.
///
/// A row fills it in one call, which is cheaper than asking the row value by value.
public struct RowCells: Sendable {
  /// One value.
  public struct Cell: Sendable {
    /// An integer, the bits of a real, or where in ``RowCells/bytes`` a text or blob begins.
    public var bits: UInt64
    /// Bytes of a text or blob; at most 4 GiB, of which SQLite takes less than one.
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
  /// Texts and blobs.
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

  /// Appends what ``bytes`` holds from `start` as a text or blob.
  public mutating func append(_ kind: ValueKind, bytesFrom start: Int) {
    let length = UInt32(clamping: bytes.count - start)
    cells.append(Cell(kind, bits: UInt64(start), length: length))
  }

  /// Cuts back to the first `count` cells and `byteCount` bytes.
  public mutating func cut(to count: Int, bytes byteCount: Int) {
    cells.removeLast(max(0, cells.count - count))
    bytes.removeLast(max(0, bytes.count - byteCount))
  }

  /// Forgets everything and keeps the room, up to `keptBytes`.
  public mutating func removeAll(keptBytes: Int) {
    cells.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: bytes.capacity <= keptBytes)
  }
}
