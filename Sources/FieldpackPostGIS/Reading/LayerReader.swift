#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackProjection
  import FieldpackStoreKit

  /// Reads the rows of one layer, tests what the server could not, and transforms geometries on the way.
  final class LayerReader {
    let plan: LayerPlan
    private let connection: PostgresConnection
    private let cursor: PostgresCursor
    private let transformation: CoordinateTransformation?
    private let store: StoreID
    /// Told of rows that are passed over; `nil` where an error ends the reading.
    private let report: QueryReport?
    private var isChecked = false
    private let fields: RowFields
    /// The row as the query wants it, until the reader goes on.
    let answer: PostGISRow
    /// The row as the evaluator knows it.
    private let whole: PostGISRow
    private var hasRow = false

    init(
      _ plan: LayerPlan, _ connection: PostgresConnection, store: StoreID, limit: Int?, offset: Int,
      report: QueryReport?
    ) throws(FieldpackError) {
      self.plan = plan
      self.connection = connection
      self.store = store
      self.report = report
      fields = RowFields(count: plan.reading.types.count, lengths: plan.reading.whole.lengths)
      answer = PostGISRow(fields, plan.reading.answer)
      whole = PostGISRow(fields, plan.reading.whole)
      transformation = try plan.transformation()
      cursor = PostgresCursor(
        connection, plan.statement(limit: limit, offset: offset),
        few: plan.few(limit: limit, offset: offset), rowBytes: plan.layer.rowBytes)
    }

    /// The row to which the reader went last, until it goes on; `nil` at the end.
    var row: PostGISRow? { hasRow ? answer : nil }

    /// Goes to the next row that the query asks for; `false` at the end.
    func advance() throws(FieldpackError) -> Bool {
      hasRow = false
      while try step() {
        if !isChecked, let rows = fields.rows {
          try plan.check(rows, from: connection)
          isChecked = true
        }
        do throws(FieldpackError) {
          try whole.check(from: connection)
          if let rest = plan.rest, try rest.evaluate(whole) != true { continue }
          if let transformation { try move(by: transformation) }
          hasRow = true
          return true
        } catch {
          try passOver(error, answer.id)
        }
      }
      return false
    }

    /// Ends the reading at the server; the row that was read last stays.
    func close() throws(FieldpackError) {
      do throws(FieldpackError) {
        try cursor.close()
      } catch { throw error.adding(location: .init(store: store, layer: plan.name)) }
    }

    @inline(__always)
    private func step() throws(FieldpackError) -> Bool {
      if fields.advance() { return true }
      do throws(FieldpackError) {
        return try cursor.next(into: fields)
      } catch { throw error.adding(location: .init(store: store, layer: plan.name)) }
    }

    private func passOver(_ error: FieldpackError, _ id: FeatureID) throws(FieldpackError) {
      let error = error.adding(location: .init(store: store, layer: plan.name, feature: id))
      guard let report, error.code == .invalidData else { throw error }
      report.add(skipped: SkippedFeature(error))
    }

    /// Brings the geometry of the row into the system of the answer.
    private func move(by transformation: CoordinateTransformation) throws(FieldpackError) {
      let bytes = answer.withGeometry { span in span.withUnsafeBytes { Array($0) } }
      guard var wkb = bytes else { return }
      do throws(ProjectionError) {
        let envelope = try transformation.transform(wkb: &wkb)
        fields.move(to: wkb, envelope.isEmpty ? nil : envelope)
      } catch {
        throw FieldpackError(
          .invalidData, "the geometry of feature \(answer.id): \(error.message)",
          underlying: error)
      }
    }

    /// The values by which the rows of several layers are merged.
    var keys: [Value] {
      guard hasRow else { return [] }
      let first = LayerPlan.leading + plan.fetched.count
      return plan.order.enumerated().map { index, order in
        guard let column = plan.layer.column(order) else { return .null }
        let columns = RowColumns(
          hasTextID: false, hasGeometry: false, places: [first + index], kinds: [column.kind])
        return PostGISRow(fields, columns).stored(at: 0)
      }
    }
  }

  extension LayerPlan {
    /// - Throws: as PROJ does where there is no way to the system that is asked for.
    func transformation() throws(FieldpackError) -> CoordinateTransformation? {
      guard let target else { return nil }
      guard let srs = layer.schema.geometry?.srs, !srs.isUndefined else {
        throw FieldpackError(
          .invalidArgument, "layer '\(name)' has no defined SRS, so it cannot be transformed",
          location: .init(layer: name))
      }
      do throws(ProjectionError) {
        return try CoordinateTransformation(from: layer.reference, to: SRSReference(target))
      } catch { throw FieldpackError(error, location: .init(layer: name)) }
    }
  }
#endif
