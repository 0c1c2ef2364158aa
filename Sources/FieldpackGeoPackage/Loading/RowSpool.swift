import FieldpackCore
import FieldpackGeometry
import FieldpackRTree

/// Keeps encoded rows until all are there, and then gives them along a Hilbert curve.
///
/// Memory is bounded: the rows lie in an unnamed temporary file, and their offsets in a
/// ``SpillSort``.
struct RowSpool: ~Copyable {
  /// The range of a row in the file, and its box.
  private struct SpooledRow: BitwiseCopyable {
    var offset: Int
    /// The id is not used. Without a box the bounds are NaN.
    var box: RTreeEntry
    var length: Int
  }

  private static let limit = 1 << 19
  private let file: SpillFile
  private let parameters: Int
  private var spooled: SpillSort<SpooledRow>
  private var bounds = Envelope.empty
  private var written: [UInt8] = []

  init(parameters: Int, folder: String?) {
    self.parameters = parameters
    file = SpillFile(folder: folder)
    spooled = SpillSort(limit: Self.limit, folder: folder)
  }

  var count: Int { spooled.count }

  /// Adds all of `rows`.
  mutating func append(_ rows: borrowing EncodedRows) throws(FieldpackError) {
    written.removeAll(keepingCapacity: true)
    var entry = 0
    for row in 0..<rows.count {
      let start = written.count
      rows.write(row, parameters: parameters, to: &written)
      var box = Self.noBox
      if entry < rows.entries.count, rows.entries[entry].id == Int64(row) {
        box = rows.entries[entry]
        entry += 1
        bounds.extend(x: Double(box.minX), y: Double(box.minY))
        bounds.extend(x: Double(box.maxX), y: Double(box.maxY))
      }
      try spooled.append(
        SpooledRow(offset: file.end + start, box: box, length: written.count - start))
    }
    try append(written)
  }

  private static let noBox = RTreeEntry(0, minX: .nan, maxX: .nan, minY: .nan, maxY: .nan)

  private func append(_ bytes: [UInt8]) throws(FieldpackError) {
    var failure: FieldpackError?
    bytes.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try file.append(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Gives the rows along the curve, then the rows without a box, and forgets them. `give` empties
  /// the rows that it gets.
  mutating func take(
    _ give: (inout EncodedRows) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let curve = Hilbert.Curve(over: bounds)
    func key(_ row: SpooledRow) -> UInt64 {
      row.box.minX.isNaN ? UInt64(UInt32.max) + 1 : curve.position(of: row.box)
    }
    var rows = EncodedRows()
    try spooled.takeSorted(by: key) { (row) throws(FieldpackError) in
      var failure: FieldpackError?
      let bytes = [UInt8](unsafeUninitializedCapacity: row.length) { room, count in
        do throws(FieldpackError) {
          try file.read(into: UnsafeMutableRawBufferPointer(room), at: row.offset)
          count = row.length
        } catch { failure = error }
      }
      if let failure { throw failure }
      rows.append(
        read: bytes, parameters: parameters, box: row.box.minX.isNaN ? nil : row.box)
      if rows.isFull { try give(&rows) }
    }
    if rows.count > 0 { try give(&rows) }
  }
}

extension EncodedRows {
  /// Writes a row as the spool keeps it: its cells, then its texts and blobs.
  fileprivate func write(_ row: Int, parameters: Int, to bytes: inout [UInt8]) {
    let cells = values.cells[row * parameters..<(row + 1) * parameters]
    for cell in cells {
      bytes.append(cell.kind.rawValue)
      withUnsafeBytes(of: cell.bits) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: cell.length) { bytes.append(contentsOf: $0) }
    }
    for cell in cells where cell.kind == .text || cell.kind == .blob {
      bytes.append(contentsOf: values.bytes[cell.range])
    }
  }

  private static var cellSize: Int { 13 }

  /// Appends a row that ``write(_:parameters:to:)`` wrote.
  fileprivate mutating func append(read bytes: [UInt8], parameters: Int, box: RTreeEntry?) {
    bytes.withUnsafeBytes { raw in
      var content = parameters * Self.cellSize
      for parameter in 0..<parameters {
        let start = parameter * Self.cellSize
        let kind = ValueKind(rawValue: raw[start]) ?? .null
        switch kind {
        case .null: values.appendNull()
        case .integer, .real:
          values.append(
            kind, bits: raw.loadUnaligned(fromByteOffset: start + 1, as: UInt64.self))
        case .text, .blob:
          let length = Int(raw.loadUnaligned(fromByteOffset: start + 9, as: UInt32.self))
          values.append(
            kind, UnsafeRawBufferPointer(rebasing: raw[content..<content + length]))
          content += length
        }
      }
    }
    close(box: box)
  }
}
