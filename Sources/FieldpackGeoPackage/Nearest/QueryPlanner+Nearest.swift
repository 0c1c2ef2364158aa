import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

extension QueryPlanner {
  /// The features of a layer nearest to `target`, at most `count`.
  func nearest(
    in table: LayerTable, to target: NearestTarget, count: Int?
  ) throws(FieldpackError) -> [MeasuredFeature] {
    guard !target.geometry.isEmpty else { return [] }
    let measure = try measure(table, to: target.geometry, srs: target.srs, target.metric)
    var search = NearestSearch(self, table, measure, count: count, maximum: target.maximum)
    return try search.run()
  }

  /// Throws `.notFound` for a layer in which the distance has no meaning.
  func check(_ table: LayerTable, for target: NearestTarget) throws(FieldpackError) {
    guard table.schema.geometry != nil else {
      throw FieldpackError(
        .notFound, "layer '\(table.layer.id)' has no geometry to measure a distance to",
        location: .init(layer: table.layer.id))
    }
    guard target.metric == .geodesic else { return }
    _ = try LiteralProjection(file: file, catalogue: catalogue).system(of: table)
  }

  /// A plan that looks the found rows up by their ids, with their distances in a blob of doubles.
  func nearestPlan(
    _ table: LayerTable, _ target: NearestTarget, limit: Int?, offset: Int
  ) throws(FieldpackError) -> LayerPlan {
    let (count, overflow) = (limit ?? 0).addingReportingOverflow(offset)
    let found = try nearest(
      in: table, to: target, count: limit == nil || overflow ? nil : count)
    return try nearestPlan(table, Array(found.dropFirst(offset)))
  }

  /// The plan to explain, made without searching for the nearest features.
  func explainedPlan(
    _ path: LayerPath, limit: Int?, offset: Int
  ) throws(FieldpackError) -> BoundPlan {
    query.nearest == nil
      ? try plan(path, limit: limit, offset: offset) : try nearestPlan(path.table, []).asMade
  }

  private func nearestPlan(
    _ table: LayerTable, _ found: [MeasuredFeature]
  ) throws(FieldpackError) -> LayerPlan {
    let schema = query.shape(table.schema, hasLogs: true)
    var distances: [UInt8] = []
    distances.reserveCapacity(found.count * 8)
    for feature in found {
      withUnsafeBytes(of: feature.distance) { distances.append(contentsOf: $0) }
    }
    let ids = "[" + found.map { String($0.id) }.joined(separator: ",") + "]"
    let geometry = geometryRead(table, schema) ?? "NULL"
    let attributes = try selected(schema.columns.dropLast(), of: table)
    let selected = [table.publicID, geometry] + attributes + [Self.distance, Self.distance]
    // No column of the layer has these names.
    let statement: SQLFragment = """
      SELECT \(selected.sqlList) FROM (\
      SELECT key AS \(Self.rank), value AS \(SpatialIndexes.idColumn), \
      fieldpack_real_at(\(bind: .blob(distances)), key) AS \(Self.distance) \
      FROM json_each(\(bind: .text(ids)))) CROSS JOIN \(table.fromSQL) ON \(table.idExpression) = \(SpatialIndexes.idColumn) ORDER BY \(Self.rank)
      """
    return LayerPlan(
      table: table, schema: schema, statement: statement,
      transformation: try transformation(of: table, schema), steps: try steps(table, schema),
      sortKeys: 1)
  }

  private static let rank = quoted("fieldpack rank")
  private static let distance = quoted("fieldpack distance")
}
