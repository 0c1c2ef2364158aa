import FieldpackCore
import FieldpackGeometry

/// Rows of one layer, gathered by a parser and lent to a sink one after the other.
///
/// One row is open at a time; `commit` closes it. Storage is kept from one use to the next.
final class RowBuffer {
  let columnCount: Int
  private(set) var count = 0

  private var kinds: [ValueKind] = []
  /// An integer, the bits of a real, or `offset << 32 | length` of bytes; row by row.
  private var cells: [UInt64] = []
  private var bytes: [UInt8] = []
  private var ids: [FeatureID] = []
  private var geometries: [Range<Int>?] = []
  private var envelopes: [Envelope?] = []

  private var openKinds: [ValueKind]
  private var openCells: [UInt64]
  private var openBytes: [UInt8] = []

  init(columnCount: Int) {
    self.columnCount = columnCount
    openKinds = Array(repeating: .null, count: columnCount)
    openCells = Array(repeating: 0, count: columnCount)
  }

  /// Bytes of texts and geometries in the closed rows.
  var byteCount: Int { bytes.count }

  func isNull(_ column: Int) -> Bool { openKinds[column] == .null }

  func set(_ column: Int, _ value: Int64) {
    openKinds[column] = .integer
    openCells[column] = UInt64(bitPattern: value)
  }

  func set(_ column: Int, _ value: Double) {
    openKinds[column] = .real
    openCells[column] = value.bitPattern
  }

  func set(_ column: Int, _ text: UnsafeBufferPointer<UInt8>) {
    setText(column) { $0.append(contentsOf: text) }
  }

  /// Sets a column to the text that `write` appends.
  func setText(_ column: Int, _ write: (inout [UInt8]) -> Void) {
    let offset = openBytes.count
    write(&openBytes)
    openKinds[column] = .text
    openCells[column] = UInt64(offset) << 32 | UInt64(openBytes.count - offset)
  }

  /// Gives up the open row.
  func clear() {
    for column in 0..<columnCount { openKinds[column] = .null }
    openBytes.removeAll(keepingCapacity: true)
  }

  /// Closes the open row with the WKB that `geometry` appends; nothing appended is no geometry.
  func commit(id: FeatureID, envelope: Envelope?, geometry: (inout [UInt8]) -> Void) {
    let base = UInt64(bytes.count) << 32
    for column in 0..<columnCount {
      let kind = openKinds[column]
      kinds.append(kind)
      cells.append(kind == .text ? openCells[column] + base : openCells[column])
    }
    bytes.append(contentsOf: openBytes)
    ids.append(id)
    envelopes.append(envelope)
    let start = bytes.count
    geometry(&bytes)
    geometries.append(start < bytes.count ? start..<bytes.count : nil)
    count += 1
    clear()
  }

  /// Forgets the closed rows.
  func removeRows() {
    count = 0
    kinds.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: bytes.capacity < 1 << 24)
    ids.removeAll(keepingCapacity: true)
    geometries.removeAll(keepingCapacity: true)
    envelopes.removeAll(keepingCapacity: true)
  }

  subscript(index: Int) -> Row { Row(buffer: self, index: index) }

  /// A closed row, valid until `removeRows`.
  struct Row: FeatureRow {
    fileprivate let buffer: RowBuffer
    fileprivate let index: Int

    var id: FeatureID { buffer.ids[index] }
    var envelope: Envelope? { buffer.envelopes[index] }

    private func place(_ column: Int) -> Int { index * buffer.columnCount + column }

    func kind(at column: Int) -> ValueKind { buffer.kinds[place(column)] }

    func integer(at column: Int) -> Int64 {
      kind(at: column) == .integer ? Int64(bitPattern: buffer.cells[place(column)]) : 0
    }

    func real(at column: Int) -> Double {
      switch kind(at: column) {
      case .real: Double(bitPattern: buffer.cells[place(column)])
      case .integer: Double(Int64(bitPattern: buffer.cells[place(column)]))
      default: .nan
      }
    }

    func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      guard kind(at: column) == .text else { return try buffer.lend(0..<0, body) }
      let cell = buffer.cells[place(column)]
      let offset = Int(cell >> 32)
      return try buffer.lend(offset..<offset + Int(cell & 0xFFFF_FFFF), body)
    }

    func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
      guard let range = buffer.geometries[index] else { return nil }
      return try buffer.lend(range, body)
    }
  }

  private func lend<R, E: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    // The array is held by a constant, which a span can outlive no change of.
    let bytes = bytes
    return try body(bytes.span.bytes.extracting(range))
  }
}
