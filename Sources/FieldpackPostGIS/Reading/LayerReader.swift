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
    private let answer: RowColumns
    private let whole: RowColumns
    private let transformation: CoordinateTransformation?
    private let store: StoreID
    /// Told of rows that are passed over; `nil` where an error ends the reading.
    private let report: QueryReport?
    private var isChecked = false
    private(set) var row: PostGISRow?

    init(
      _ plan: LayerPlan, _ connection: PostgresConnection, number: Int, store: StoreID,
      limit: Int?, offset: Int, report: QueryReport?
    ) throws(FieldpackError) {
      self.plan = plan
      self.connection = connection
      self.store = store
      self.report = report
      answer = plan.answerColumns
      whole = plan.layerColumns
      transformation = try plan.transformation()
      do throws(FieldpackError) {
        cursor = try PostgresCursor(
          connection, plan.statement(limit: limit, offset: offset), number: number,
          rowBytes: plan.layer.rowBytes)
      } catch { throw error.adding(location: .init(store: store, layer: plan.name)) }
    }

    /// Goes to the next row that the query asks for; `false` at the end.
    func advance() throws(FieldpackError) -> Bool {
      row = nil
      while let next = try step() {
        if !isChecked {
          try plan.check(next.rows, from: connection)
          isChecked = true
        }
        do throws(FieldpackError) {
          try PostGISRow(next.rows, next.index, whole).check(from: connection)
          if let rest = plan.rest {
            let row = PostGISRow(next.rows, next.index, whole)
            guard try rest.evaluate(row) == true else { continue }
          }
          row = try moved(PostGISRow(next.rows, next.index, answer))
          return true
        } catch {
          try passOver(error, PostGISRow(next.rows, next.index, answer).id)
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

    private func step() throws(FieldpackError) -> (rows: PostgresRows, index: Int)? {
      do throws(FieldpackError) {
        return try cursor.next()
      } catch { throw error.adding(location: .init(store: store, layer: plan.name)) }
    }

    private func passOver(_ error: FieldpackError, _ id: FeatureID) throws(FieldpackError) {
      let error = error.adding(location: .init(store: store, layer: plan.name, feature: id))
      guard let report, error.code == .invalidData else { throw error }
      report.add(skipped: SkippedFeature(error))
    }

    /// The row with its geometry in the system of the answer.
    private func moved(_ row: PostGISRow) throws(FieldpackError) -> PostGISRow {
      guard let transformation else { return row }
      let bytes = row.withGeometry { span in span.withUnsafeBytes { Array($0) } }
      guard var wkb = bytes else { return row }
      var moved = row
      do throws(ProjectionError) {
        let envelope = try transformation.transform(wkb: &wkb)
        moved.moved = wkb
        moved.movedEnvelope = envelope.isEmpty ? nil : envelope
        return moved
      } catch {
        throw FieldpackError(
          .invalidData, "the geometry of feature \(row.id): \(error.message)", underlying: error)
      }
    }

    /// The values by which the rows of several layers are merged.
    var keys: [Value] {
      guard let row else { return [] }
      let first = LayerPlan.leading + plan.fetched.count
      return plan.order.enumerated().map { index, order in
        guard let column = plan.column(order) else { return .null }
        let columns = RowColumns(
          hasTextID: false, hasGeometry: false, places: [first + index], kinds: [column.kind])
        return PostGISRow(row.rows, row.index, columns).stored(at: 0)
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
