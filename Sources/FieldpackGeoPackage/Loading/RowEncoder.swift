package import FieldpackCore
import FieldpackGeometry
package import FieldpackProjection

/// How rows of one schema are stored in one layer. Each thread makes its ``RowEncoder`` from it.
package struct RowPlan: Sendable {
  let store: StoreID
  let layer: LayerID
  /// Columns of the source that the table has.
  let columns: [Int]
  let hasGeometry: Bool
  let srsID: Int32
  let ids: LoadedIDs
  /// Limits of columns that may be too narrow, in a layer that existed before.
  var limits: [ColumnLimit] = []
  /// Whether an envelope that comes with a row is taken for its geometry's.
  var trustsEnvelopes = true
  /// The parameter of a row by whose value it finds the feature that it replaces.
  var keyCell: Int?
  /// The geometry column of a layer that existed before; it may not allow the geometries that come.
  var rule: GeometryColumn?

  /// Parameters of a row, without its id.
  var parameters: Int { columns.count + (hasGeometry ? 1 : 0) + (ids == .hashed ? 1 : 0) }
}

/// Encodes rows for SQLite: blobs with their headers, boxes and cells.
///
/// Knows nothing of the file, so that each thread may have its own encoder. Not `Sendable` because
/// of the transformation.
package struct RowEncoder {
  let plan: RowPlan
  /// The transformation from the source's SRS to the layer's.
  let transformation: CoordinateTransformation?
  private var transformed: [UInt8] = []

  package init(_ plan: RowPlan, transformation: CoordinateTransformation? = nil) {
    self.plan = plan
    self.transformation = transformation
  }

  /// Appends a row to `rows`, which must hold rows of the same plan only. On an error nothing is
  /// appended.
  ///
  /// - Throws: `.invalidData` for a geometry that cannot be stored or transformed.
  package mutating func encode(
    _ row: borrowing some FeatureRow & ~Copyable, into rows: inout EncodedRows
  ) throws(FieldpackError) {
    let start = rows.values.bytes.count
    let givenID = plan.ids.areOwn ? try ownID(row.id) : nil
    let envelope: Envelope?
    do throws(FieldpackError) {
      envelope = plan.hasGeometry ? try encodeGeometry(row, start, &rows) : nil
    } catch {
      rows.undo(parameters: plan.parameters, bytesFrom: start)
      throw error
    }
    row.append(plan.columns, to: &rows.values)
    if !plan.limits.isEmpty { try checkLimits(row.id, start, &rows) }
    if plan.ids == .hashed { appendContentID(row, start, &rows) }
    rows.close(givenID: givenID, envelope: envelope)
  }

  private func checkLimits(
    _ id: FeatureID, _ start: Int, _ rows: inout EncodedRows
  ) throws(FieldpackError) {
    let first = rows.count * plan.parameters + (plan.hasGeometry ? 1 : 0)
    let location = KeyTuple.Partial(store: plan.store, layer: plan.layer, feature: id)
    for limit in plan.limits {
      guard let error = limit.refusal(of: rows.values, first + limit.index, location)
      else { continue }
      rows.undo(parameters: plan.parameters, bytesFrom: start)
      throw error
    }
  }

  private func ownID(_ id: FeatureID) throws(FieldpackError) -> Int64 {
    if case .integer(let number) = id { return number }
    throw FieldpackError(
      .invalidData, "the id '\(id)' of a feature in layer '\(plan.layer)' is no integer",
      location: .init(store: plan.store, layer: plan.layer, feature: id))
  }

  // MARK: Geometry

  private mutating func encodeGeometry(
    _ row: borrowing some FeatureRow & ~Copyable, _ start: Int, _ rows: inout EncodedRows
  ) throws(FieldpackError) -> Envelope? {
    if let rule = plan.rule { try check(row, rule) }
    let encoded: Envelope??
    if let transformation {
      encoded = try row.withGeometry { wkb throws(FieldpackError) in
        try transform(wkb, row.id, transformation, &rows)
      }
    } else {
      // Only these two are captured: capturing `self` would copy the encoder for each row.
      let known = plan.trustsEnvelopes ? row.envelope : nil
      let srsID = plan.srsID
      do throws(GeometryError) {
        encoded = try row.withGeometry { wkb throws(GeometryError) in
          try Self.append(wkb, known: known, srsID, to: &rows)
        }
      } catch {
        throw refused(row.id, "cannot be stored: \(error)", error)
      }
    }
    if rows.values.bytes.count == start {
      rows.values.appendNull()
    } else {
      rows.values.append(.blob, bytesFrom: start)
    }
    return encoded ?? nil
  }

  private func check(
    _ row: borrowing some FeatureRow & ~Copyable, _ rule: GeometryColumn
  ) throws(FieldpackError) {
    // A geometry that is no WKB is refused when it is stored.
    let header = row.withGeometry { wkb in try? WKB.header(of: wkb) }
    guard let header = header ?? nil,
      let reason = rule.refusal(of: header.type, header.dimensions)
    else { return }
    throw FieldpackError(
      .invalidData, "layer '\(plan.layer)' \(reason)",
      location: .init(store: plan.store, layer: plan.layer, feature: row.id))
  }

  private mutating func transform(
    _ wkb: RawSpan, _ id: FeatureID, _ transformation: CoordinateTransformation,
    _ rows: inout EncodedRows
  ) throws(FieldpackError) -> Envelope? {
    transformed.removeAll(keepingCapacity: true)
    wkb.withUnsafeBytes { transformed.append(contentsOf: $0) }
    let envelope: Envelope
    do throws(ProjectionError) {
      envelope = try transformation.transform(wkb: &transformed)
    } catch {
      throw refused(id, "cannot be transformed: \(error.message)", error)
    }
    do throws(GeometryError) {
      return try Self.append(transformed.span.bytes, known: envelope, plan.srsID, to: &rows)
    } catch {
      throw refused(id, "cannot be stored: \(error)", error)
    }
  }

  private static func append(
    _ wkb: RawSpan, known: Envelope?, _ srsID: Int32, to rows: inout EncodedRows
  ) throws(GeometryError) -> Envelope? {
    let header = try WKB.header(of: wkb)
    let type = header.type
    rows.kinds.insert(type, header.dimensions)
    if type.mayHoldCurves { rows.curves.formUnion(CurveTypes(in: wkb, of: type)) }
    guard let known else {
      return try GeoPackageBinary.append(wkb: wkb, srsID: srsID, to: &rows.values.bytes)
    }
    let envelope = known.isEmpty ? nil : known
    GeoPackageBinary.appendHeader(
      for: type, srsID: srsID, isEmpty: known.isEmpty, envelope: envelope, to: &rows.values.bytes)
    wkb.withUnsafeBytes { rows.values.bytes.append(contentsOf: $0) }
    return envelope
  }

  private func refused(
    _ id: FeatureID, _ why: String, _ underlying: any Error
  ) -> FieldpackError {
    FieldpackError(
      .invalidData, "the geometry of feature \(id) in layer '\(plan.layer)' \(why)",
      location: .init(store: plan.store, layer: plan.layer, feature: id), underlying: underlying)
  }

  // MARK: Ids from contents

  /// Appends an FNV-1a hash of kinds, numbers, texts and the geometry, in hexadecimal.
  private func appendContentID(
    _ row: borrowing some FeatureRow & ~Copyable, _ start: Int, _ rows: inout EncodedRows
  ) {
    var hash = FNV1a()
    for byte in rows.values.bytes[start...] { hash.update(byte) }
    for column in plan.columns {
      let kind = row.kind(at: column)
      hash.update(kind.rawValue)
      let number: UInt64 =
        switch kind {
        case .integer: UInt64(bitPattern: row.integer(at: column))
        case .real: row.real(at: column).bitPattern
        default: 0
        }
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        hash.update(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    let hashStart = rows.values.bytes.count
    for shift in stride(from: UInt64(60), through: 0, by: -4) {
      rows.values.bytes.append(Self.digits[Int(hash.value >> shift & 15)])
    }
    rows.values.append(.text, bytesFrom: hashStart)
  }

  private static let digits = Array("0123456789abcdef".utf8)
}

/// A limit on a column's values that the reader's kind of value does not imply.
package struct ColumnLimit: Sendable {
  let column: String
  let type: ColumnType
  /// Index of the column among the stored columns.
  let index: Int
  private let integers: ClosedRange<Int64>
  private let length: Int
  private let test: ConstraintTest?

  /// `nil` for columns that hold every integer and text.
  ///
  /// - Parameter isFitting: whether the column was created for these values.
  init?(_ column: ColumnDefinition, index: Int, isFitting: Bool, enforcesConstraint: Bool) {
    integers = isFitting ? .min ... .max : column.type.integers
    if case .text(let limit?) = column.type, !isFitting { length = limit } else { length = .max }
    test = enforcesConstraint ? column.constraint.map(ConstraintTest.init) : nil
    if test == nil, integers == .min ... .max, length == .max { return nil }
    self.column = column.name
    type = column.type
    self.index = index
  }

  /// Why a cell cannot be stored; `nil` where it can.
  func refusal(
    of values: RowCells, _ cell: Int, _ location: KeyTuple.Partial
  ) -> FieldpackError? {
    guard allows(values, cell) else {
      let feature = location.feature?.description ?? ""
      return FieldpackError(
        .invalidData,
        "column '\(column)' of layer '\(location.layer ?? "")' is \(type.sql) and too narrow for the "
          + "value of feature \(feature)", location: location)
    }
    guard let test else { return nil }
    let value = values.value(at: cell)
    return test.allows(value)
      ? nil : test.constraint.refusal(of: value, column: column, location)
  }

  private func allows(_ values: RowCells, _ cell: Int) -> Bool {
    let cell = values.cells[cell]
    switch cell.kind {
    case .integer: return integers.contains(Int64(bitPattern: cell.bits))
    case .text where cell.length > length:
      let bytes = values.bytes[cell.range]
      // Every byte but a continuation byte begins a character.
      return bytes.count { $0 & 0xC0 != 0x80 } <= length
    default: return true
    }
  }
}

extension RowCells {
  /// A copy of one value.
  func value(at index: Int) -> Value {
    let cell = cells[index]
    switch cell.kind {
    case .null: return .null
    case .integer: return .integer(Int64(bitPattern: cell.bits))
    case .real: return .real(Double(bitPattern: cell.bits))
    case .text: return .text(String(decoding: bytes[cell.range], as: UTF8.self))
    case .blob: return .blob(Array(bytes[cell.range]))
    }
  }
}
