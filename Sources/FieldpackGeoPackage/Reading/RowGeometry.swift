import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite
import FieldpackTopology

/// Checks the geometry of one row after another as far as rows rely on it, transforms it and
/// applies the query's operations.
final class RowGeometry {
  private let layer: LayerID
  private let givesGeometry: Bool
  private let file: GeoPackageSession
  private let skipsErrors: Bool
  private let report: QueryReport
  private let readsGeometry: Bool
  private let transformation: CoordinateTransformation?
  private let pipeline: GeometryPipeline?
  /// The `srs_id` that each geometry has to state; `nil` where it is not checked.
  private let systemID: Int32?
  fileprivate var wkb: [UInt8] = []
  fileprivate var envelope: Envelope?

  init(_ plan: LayerPlan, file: GeoPackageSession, skipsErrors: Bool, report: QueryReport) {
    layer = plan.table.layer.id
    givesGeometry = plan.schema.geometry != nil
    self.file = file
    self.skipsErrors = skipsErrors
    self.report = report
    readsGeometry = givesGeometry || plan.steps != nil
    transformation = plan.transformation.flatMap { $0.isIdentity ? nil : $0 }
    pipeline = plan.steps.map { GeometryPipeline($0) }
    systemID = plan.table.statesSystem ? plan.table.srsID.flatMap { Int32(exactly: $0) } : nil
  }

  /// Where the geometry of `values` (id, geometry, attributes) is; `nil` for a skipped row. The
  /// result is valid for ``row(_:_:)`` until the next call.
  func body(of values: LentRow) throws(FieldpackError) -> SQLRow.Body? {
    guard readsGeometry, !values[1].isNull else { return .absent }
    if !skipsErrors, pipeline == nil, systemID == nil {
      // The common case is separate, so that it stays short.
      let offset = values[1].withBytes { GeoPackageBinary.plainBodyOffset(of: $0) }
      if let offset {
        guard let transformation else { return .blob(offset) }
        return try transformed(values, from: offset, with: transformation)
      }
    }
    do throws(FieldpackError) {
      return try checked(values)
    } catch {
      guard skipsErrors, error.code == .invalidData else { throw error }
      report.add(skipped: SkippedFeature(error))
      return nil
    }
  }

  func row(_ values: LentRow, _ body: SQLRow.Body) -> SQLRow { SQLRow(values, body, self) }

  private func checked(_ values: LentRow) throws(FieldpackError) -> SQLRow.Body? {
    let kind = values[1].kind
    guard kind == .blob || kind == .text else {
      throw damaged("the value is a number and not a blob", values)
    }
    let (body, stated): (SQLRow.Body, Int32)
    do throws(GeometryError) {
      (body, stated) = try values[1].withBytes { blob throws(GeometryError) in
        let header = try GeoPackageBinary(blob)
        if header.isExtended { return (SQLRow.Body.unreadable, header.srsID) }
        if skipsErrors { _ = try WKB.coordinateCount(blob.extracting(header.bodyOffset...)) }
        return (.blob(header.bodyOffset), header.srsID)
      }
    } catch {
      throw damaged("\(error)", values)
    }
    if let systemID, systemID != stated {
      throw damaged("\(OtherSystem(stated: Int64(stated), first: Int64(systemID)))", values)
    }
    switch body {
    case .blob(let offset):
      if let pipeline { return try remade(values, from: offset, by: pipeline) }
      guard let transformation else { return body }
      return try transformed(values, from: offset, with: transformation)
    default:
      report.add(
        note:
          "layer '\(layer)' holds extended geometries, which are kept but not read"
      )
      return .unreadable
    }
  }

  /// The transformed and changed geometry; `nil` where nothing is left.
  private func remade(
    _ values: LentRow, from offset: Int, by pipeline: GeometryPipeline
  ) throws(FieldpackError) -> SQLRow.Body? {
    copy(values, from: offset)
    let isLeft = try naming(values) { () throws(TopologyError) in try pipeline.prepare(&wkb) }
    guard isLeft else { return nil }
    guard givesGeometry else { return .absent }
    if let transformation { try transform(values, with: transformation) }
    envelope = try naming(values) { () throws(TopologyError) in try pipeline.finish(&wkb) }
    return .transformed
  }

  /// Runs `body`. An error of GEOS names the feature.
  private func naming<R>(
    _ values: LentRow, _ body: () throws(TopologyError) -> R
  ) throws(FieldpackError) -> R {
    do throws(TopologyError) {
      return try body()
    } catch {
      throw damaged(error.message, advice: error.kind == .failed ? .makeValid : nil, values)
    }
  }

  private func transformed(
    _ values: LentRow, from offset: Int, with transformation: CoordinateTransformation
  ) throws(FieldpackError) -> SQLRow.Body {
    let point = values[1].withBytes { blob in
      transformation.transformedPoint(wkb: blob.extracting(offset...))
    }
    if let point { return .point(x: point.x, y: point.y) }
    copy(values, from: offset)
    try transform(values, with: transformation)
    return .transformed
  }

  private func copy(_ values: LentRow, from offset: Int) {
    wkb.removeAll(keepingCapacity: true)
    values[1].withBytes { blob in
      blob.extracting(offset...).withUnsafeBytes { wkb.append(contentsOf: $0) }
    }
  }

  private func transform(
    _ values: LentRow, with transformation: CoordinateTransformation
  ) throws(FieldpackError) {
    do throws(ProjectionError) {
      let envelope = try transformation.transform(wkb: &wkb)
      self.envelope = envelope.isEmpty ? nil : envelope
    } catch {
      throw damaged(error.message, values)
    }
  }

  private func damaged(
    _ reason: String, advice: FieldpackError.Advice? = nil, _ values: LentRow
  ) -> FieldpackError {
    file.damaged(reason, advice: advice, values.featureID, in: layer)
  }
}

extension LentRow {
  /// The first column as a feature id.
  fileprivate var featureID: FeatureID {
    let id = self[0]
    if id.kind != .text { return .integer(id.integer) }
    return .text(
      id.withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } })
  }
}

/// A row of a statement: id, geometry, attributes.
struct SQLRow: FeatureRow {
  /// Where the WKB of the geometry is.
  enum Body {
    case absent
    /// In the blob, from this offset on.
    case blob(Int)
    case transformed
    /// A transformed point, kept without a buffer.
    case point(x: Double, y: Double)
    /// In an encoding other than WKB.
    case unreadable
  }

  private let values: LentRow
  private let body: Body
  // Unowned, because whoever lends the row holds `geometry`.
  private unowned(unsafe) let geometry: RowGeometry

  fileprivate init(_ values: LentRow, _ body: Body, _ geometry: RowGeometry) {
    self.values = values
    self.body = body
    self.geometry = geometry
  }

  var id: FeatureID { values.featureID }

  var envelope: Envelope? {
    switch body {
    case .blob:
      values[1].withBytes { blob in
        if let offset = GeoPackageBinary.plainBodyOffset(of: blob), offset == 8 { return nil }
        return (try? GeoPackageBinary(blob))?.envelope
      }
    case .transformed: geometry.envelope
    case .point(let x, let y): Envelope(minX: x, minY: y, maxX: x, maxY: y)
    case .absent, .unreadable: nil
    }
  }

  func kind(at column: Int) -> ValueKind {
    switch values[column + 2].kind {
    case .null: .null
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob: .blob
    }
  }

  func integer(at column: Int) -> Int64 { values[column + 2].integer }
  func real(at column: Int) -> Double { values[column + 2].real }

  func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try values[column + 2].withBytes(body)
  }

  func withGeometry<R, E: Error>(_ read: (RawSpan) throws(E) -> R) throws(E) -> R? {
    switch body {
    case .absent, .unreadable: return nil
    case .blob(let offset):
      return try values[1].withBytes { blob throws(E) in
        try read(blob.extracting(offset...))
      }
    case .transformed:
      let wkb = geometry.wkb
      return try read(wkb.span.bytes)
    case .point(let x, let y):
      // The last 21 bytes of three words: a WKB point in the machine's byte order.
      let head: UInt64 = ByteOrder.native == .little ? 1 << 24 | 1 << 32 : 1
      let words: InlineArray<3, UInt64> = [head, x.bitPattern, y.bitPattern]
      return try read(words.span.bytes.extracting(3...))
    }
  }
}
