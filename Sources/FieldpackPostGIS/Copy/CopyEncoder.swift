import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// Writes rows as PostgreSQL's `COPY` takes them in its binary form (the manual's chapter on COPY,
/// "Binary Format"): a count of fields, then each field with its length.
struct CopyEncoder: Sendable {
  let plan: CopyPlan
  private let sources: [Int]
  private let fieldCount: Int16
  private let plain: PlainFields?
  /// Whether a row begins with an id of eight bytes, as most do.
  private let hasPlainID: Bool
  private let hasGeometry: Bool
  private let srid: Int32
  /// What the geometry column took last: most geometries of a layer are alike.
  private var taken: (type: GeometryType, dimensions: Dimensions, asMulti: Bool)?
  private var cells = RowCells()

  init(_ plan: CopyPlan) {
    self.plan = plan
    sources = plan.columns.map(\.source)
    fieldCount = Int16(clamping: plan.names.count)
    plain = PlainFields(plan.columns.map(\.type))
    hasPlainID = plan.id?.type == .int8
    (hasGeometry, srid) = (plan.geometry != nil, plan.geometry?.srid ?? 0)
  }

  /// What stands before the first row.
  static let header: [UInt8] =
    Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + Array(repeating: 0, count: 8)

  /// What stands behind the last row.
  static let trailer: [UInt8] = [0xFF, 0xFF]

  /// Appends a row. On an error nothing is appended.
  ///
  /// - Throws: `.invalidData` for a value or a geometry that the table does not take.
  mutating func encode(
    _ row: borrowing some FeatureRow & ~Copyable, to bytes: inout [UInt8]
  ) throws(FieldpackError) {
    let start = bytes.count
    do throws(FieldpackError) {
      try encode(id: row.id, to: &bytes)
      if hasGeometry { try encodeGeometry(of: row, to: &bytes) }
      try encodeColumns(of: row, to: &bytes)
      if plan.idText != nil {
        let start = Self.open(&bytes)
        bytes.append(contentsOf: row.id.description.utf8)
        Self.close(start, &bytes)
      }
      if let place = plan.place {
        bytes.append(big: Int32(8))
        bytes.append(big: Self.number(of: row, by: place))
      }
    } catch {
      bytes.removeLast(bytes.count - start)
      throw error
    }
  }

  private static func number(
    of row: borrowing some FeatureRow & ~Copyable, by place: ShardKey
  ) -> Int64 {
    let number = row.withGeometry { wkb -> Int64 in
      guard let header = try? WKB.header(of: wkb), header.type.hasPositionsOnly else {
        return ShardKey.wide
      }
      return place.number((try? WKB.envelope(of: wkb)) ?? nil)
    }
    return number ?? ShardKey.nowhere
  }

  /// Begins a row with the number of its fields, and its id where the table takes that.
  private func encode(id: FeatureID, to bytes: inout [UInt8]) throws(FieldpackError) {
    if hasPlainID, case .integer(let number) = id {
      bytes.append(big: fieldCount, Int32(8), number)
      return
    }
    bytes.append(big: fieldCount)
    guard let type = plan.id?.type else { return }
    let start = Self.open(&bytes)
    let isWritten =
      switch id {
      case .integer(let number):
        type.append(
          RowCells.Cell(.integer, bits: UInt64(bitPattern: number)),
          UnsafeRawBufferPointer(start: nil, count: 0), to: &bytes)
      case .text(var text):
        text.withUTF8 {
          type.append(RowCells.Cell(.text), UnsafeRawBufferPointer($0), to: &bytes)
        }
      }
    guard isWritten else {
      throw refused(
        id, "the id '\(id)' of a feature is no \(type.name), as layer '\(plan.layer)' has")
    }
    Self.close(start, &bytes)
  }

  private mutating func encodeGeometry(
    of row: borrowing some FeatureRow & ~Copyable, to bytes: inout [UInt8]
  ) throws(FieldpackError) {
    let start = Self.open(&bytes)
    var mistake: EWKBMistake?
    let found: Void? = row.withGeometry { wkb in
      do throws(EWKBMistake) {
        try append(wkb, to: &bytes)
      } catch {
        mistake = error
      }
    }
    if let mistake {
      let id = row.id
      switch mistake {
      case .geometry:
        throw refused(id, "the geometry of feature \(id) in layer '\(plan.layer)': \(mistake)")
      case .refused:
        throw refused(id, "layer '\(plan.layer)' refuses the geometry of feature \(id): \(mistake)")
      }
    }
    if found != nil { Self.close(start, &bytes) }
  }

  private mutating func append(_ wkb: RawSpan, to bytes: inout [UInt8]) throws(EWKBMistake) {
    let header: WKB.Header
    do throws(GeometryError) { header = try WKB.header(of: wkb) } catch { throw .geometry(error) }
    let asMulti: Bool
    if let taken, taken.type == header.type, taken.dimensions == header.dimensions {
      asMulti = taken.asMulti
    } else {
      asMulti = try isPromoted(header)
      taken = (header.type, header.dimensions, asMulti)
    }
    try EWKB.append(wkb: wkb, header, srid: srid, asMulti: asMulti, to: &bytes)
  }

  /// Whether a geometry is stored as the only member of its Multi type.
  ///
  /// - Throws: where the column does not take it.
  private func isPromoted(_ header: WKB.Header) throws(EWKBMistake) -> Bool {
    guard let rule = plan.geometry?.rule else { return false }
    let promotes = rule.promotes(header.type)
    let type = promotes ? rule.type : header.type
    if let reason = rule.refusalByPostGIS(of: type, header.dimensions) {
      throw .refused("the column \(reason)")
    }
    return promotes
  }

  private mutating func encodeColumns(
    of row: borrowing some FeatureRow & ~Copyable, to bytes: inout [UInt8]
  ) throws(FieldpackError) {
    cells.removeAll(keptBytes: 1 << 16)
    row.append(sources, to: &cells)
    if let plain, plain.append(cells, to: &bytes) { return }
    for (index, column) in plan.columns.enumerated() {
      let cell = cells.cells[index]
      let start = Self.open(&bytes)
      guard cell.kind != .null else { continue }
      let isWritten = cells.bytes.withUnsafeBytes { content in
        column.type.append(
          cell, UnsafeRawBufferPointer(rebasing: content[cell.range]), to: &bytes)
      }
      guard isWritten else {
        let id = row.id
        throw refused(
          id,
          "column '\(column.name)' of layer '\(plan.layer)' is \(column.type.name) and cannot hold "
            + "the value of feature \(id)")
      }
      Self.close(start, &bytes)
    }
  }

  /// Begins a field, which is NULL until it is closed.
  @inline(__always)
  private static func open(_ bytes: inout [UInt8]) -> Int {
    bytes.append(big: Int32(-1))
    return bytes.count
  }

  @inline(__always)
  private static func close(_ start: Int, _ bytes: inout [UInt8]) {
    bytes.replace(big: Int32(clamping: bytes.count - start), at: start - 4)
  }

  private func refused(_ id: FeatureID, _ why: String) -> FieldpackError {
    FieldpackError(
      .invalidData, why, location: .init(store: plan.store, layer: plan.layer, feature: id))
  }
}

/// A part of the rows of a query, encoded for `COPY` on the thread that reads them.
struct CopyPiece: PieceSink {
  private let plans: [LayerID: CopyPlan]
  private let skipsErrors: Bool
  private let notesRows: Bool
  private var encoder: CopyEncoder?
  /// The layer of the rows, as the source names it.
  private(set) var layer: LayerID?
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0
  private(set) var skipped: [SkippedFeature] = []
  /// The lowest and the highest id of the rows.
  private(set) var ids: ClosedRange<Int64>?
  /// The id of each row and where its bytes end, where rows are looked at one by one.
  private(set) var rows: [(id: FeatureID, end: Int)] = []
  /// Where the bytes of a row begin.
  func start(of row: Int) -> Int { row == 0 ? 0 : rows[row - 1].end }

  /// Why the row behind those encoded cannot be sent.
  private(set) var failure: FieldpackError?

  /// Rows of about so many bytes make a piece.
  private static let size = 1 << 19

  /// - Parameters:
  ///   - plans: by the layers of the source.
  ///   - notesRows: whether ``rows`` is filled.
  init(_ plans: [LayerID: CopyPlan], skipsErrors: Bool, notesRows: Bool) {
    self.plans = plans
    (self.skipsErrors, self.notesRows) = (skipsErrors, notesRows)
  }

  var isFull: Bool {
    bytes.count >= Self.size || failure != nil || skipped.count >= 1000
  }

  mutating func begin(_ schema: Schema) throws(FieldpackError) {
    guard let plan = plans[schema.layer] else {
      throw FieldpackError(
        .invalidArgument, "layer '\(schema.layer)' was not announced as it comes",
        location: .init(layer: schema.layer))
    }
    layer = schema.layer
    encoder = CopyEncoder(plan)
    bytes.reserveCapacity(Self.size + Self.size / 8)
  }

  mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    guard failure == nil else { return }
    do throws(FieldpackError) {
      try encoder?.encode(row, to: &bytes)
      count += 1
      if notesRows { rows.append((row.id, bytes.count)) }
      if case .integer(let id) = row.id {
        ids = min(ids?.lowerBound ?? id, id)...max(ids?.upperBound ?? id, id)
      }
    } catch {
      if skipsErrors, error.code == .invalidData {
        skipped.append(SkippedFeature(error))
      } else {
        failure = error.advisingToSkipRow()
      }
    }
  }
}
