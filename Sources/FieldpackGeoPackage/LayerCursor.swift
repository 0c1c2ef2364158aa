import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

/// Walks the rows of one layer's statement and transforms geometries on the way.
final class LayerCursor {
  let plan: LayerQuery
  private let file: GeoPackageFile
  private let statement: Statement
  private let skipsErrors: Bool
  private let report: QueryReport
  private let scratch = GeometryScratch()

  init(
    _ plan: LayerQuery, file: GeoPackageFile, skipsErrors: Bool, report: QueryReport
  ) throws(FieldpackError) {
    self.plan = plan
    self.file = file
    self.skipsErrors = skipsErrors
    self.report = report
    let values = plan.statement.parameters
    // Of two cursors that walk at once the second gets a statement of its own.
    statement = try file.sql(layer: plan.table.layer.id) { () throws(SQLiteError) in
      let statement = try file.connection.prepare(plan.statement.text)
      try statement.bind(values)
      return statement
    }
  }

  var schema: Schema { plan.schema }

  /// Goes to the next row that can be given; false at the end.
  func advance() throws(FieldpackError) -> Bool {
    while try step() {
      do throws(FieldpackError) {
        try prepareGeometry()
        return true
      } catch {
        guard skipsErrors, error.code == .invalidData else { throw error }
        report.add(skipped: SkippedFeature(location: error.location, reason: error.message))
      }
    }
    return false
  }

  private func step() throws(FieldpackError) -> Bool {
    try file.reportingUntested(in: plan.table.layer.id, to: report) { () throws(SQLiteError) in
      try statement.step()
    }
  }

  /// The row the cursor is on.
  var row: SQLRow { SQLRow(statement: statement, columns: schema.columns.count, scratch: scratch) }

  /// Goes before the first row of a range of rowids, in a plan `inRange`.
  func restart(_ range: ClosedRange<Int64>) throws(FieldpackError) {
    statement.reset()
    let last = plan.statement.parameters.count
    try file.sql(layer: plan.table.layer.id) { () throws(SQLiteError) in
      try statement.bind(.integer(range.lowerBound), at: last - 1)
      try statement.bind(.integer(range.upperBound), at: last)
    }
  }

  /// The work since the last call, in instructions of SQLite's machine.
  func takeSteps() -> Int { statement.takeSteps() }

  /// The sort keys of the row the cursor is on.
  var keys: [SQLiteValue] {
    let first = 2 + schema.columns.count
    return (first..<first + plan.sortKeys).map { statement.value($0) }
  }

  /// Finds where the WKB begins, checks the blob as far as the caller relies on it, and transforms.
  private func prepareGeometry() throws(FieldpackError) {
    scratch.clear()
    guard schema.geometry != nil, !statement.isNull(1) else { return }
    do throws(GeometryError) {
      try statement.withBytes(1) { blob throws(GeometryError) in
        let header = try GeoPackageBinary(blob)
        if header.isExtended {
          scratch.isUnreadable = true
          return
        }
        scratch.bodyOffset = header.bodyOffset
        scratch.envelope = header.envelope
        if skipsErrors { _ = try WKB.coordinateCount(blob.extracting(header.bodyOffset...)) }
      }
    } catch {
      throw damaged("\(error)", id: statement.featureID)
    }
    if scratch.isUnreadable {
      report.add(
        note:
          "layer '\(plan.table.layer.id)' holds extended geometries, which are kept but not read"
      )
    } else if let transformation = plan.transformation, !transformation.isIdentity {
      try transform(with: transformation)
    }
  }

  private func transform(with transformation: CoordinateTransformation) throws(FieldpackError) {
    let offset = scratch.bodyOffset
    statement.withBytes(1) { blob in
      scratch.wkb.removeAll(keepingCapacity: true)
      blob.extracting(offset...).withUnsafeBytes { scratch.wkb.append(contentsOf: $0) }
    }
    scratch.isTransformed = true
    do throws(ProjectionError) {
      let envelope = try transformation.transform(wkb: &scratch.wkb)
      scratch.envelope = envelope.isEmpty ? nil : envelope
    } catch {
      throw damaged(error.message, id: statement.featureID)
    }
  }

  private func damaged(_ reason: String, id: FeatureID) -> FieldpackError {
    file.damaged(reason, id, in: plan.table.layer.id)
  }
}

/// The geometry of the row a cursor is on, as far as it is not the blob itself.
final class GeometryScratch {
  var wkb: [UInt8] = []
  var bodyOffset = 0
  var envelope: Envelope?
  var isTransformed = false
  var isUnreadable = false

  func clear() {
    bodyOffset = 0
    envelope = nil
    isTransformed = false
    isUnreadable = false
  }
}

extension Statement {
  /// The first column as an id.
  fileprivate var featureID: FeatureID {
    kind(0) == .text ? .text(string(0) ?? "") : .integer(integer(0))
  }
}

/// A row of a statement: id, geometry, attributes.
struct SQLRow: FeatureRow {
  let statement: Statement
  let columns: Int
  let scratch: GeometryScratch

  var id: FeatureID { statement.featureID }
  var envelope: Envelope? { scratch.envelope }

  func kind(at column: Int) -> ValueKind {
    switch statement.kind(column + 2) {
    case .null: .null
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob: .blob
    }
  }

  func integer(at column: Int) -> Int64 {
    statement.kind(column + 2) == .integer ? statement.integer(column + 2) : 0
  }

  func real(at column: Int) -> Double {
    switch statement.kind(column + 2) {
    case .integer, .real: statement.real(column + 2)
    default: .nan
    }
  }

  func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try statement.withBytes(column + 2, body)
  }

  func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    if scratch.isUnreadable { return nil }
    if scratch.isTransformed {
      let wkb = scratch.wkb
      return try body(wkb.span.bytes)
    }
    guard !statement.isNull(1) else { return nil }
    let offset = scratch.bodyOffset
    return try statement.withBytes(1) { blob throws(E) in
      try body(blob.extracting(offset...))
    }
  }
}
