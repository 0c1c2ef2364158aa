import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackStoreKit

/// The features that a service gives for a query, in a temporary GeoPackage, which sorts them and
/// does everything else that a service cannot do exactly.
final class GatheredAnswer {
  /// The column of the ids that are no integers.
  private static let idColumn = "fieldpack_wfs_id"

  private let plan: WFSPlan
  private let report: QueryReport
  /// Keeps the file.
  private let file: PendingFile
  private let store: GeoPackageStore
  private let answer: FeatureBatches
  private let batches: FeatureBatches.Iterator

  init(
    _ plan: WFSPlan, of service: WFSService, report: QueryReport
  ) async throws(FieldpackError) {
    self.plan = plan
    self.report = report
    let folder = UnnamedFile.usualFolder
    file = try PendingFile(target: folder + "/fieldpack-wfs.gpkg", overwrite: true)
    try await Self.fill(file, plan, service, report)
    var profile = OpeningProfile.own
    profile.shownPath = WFSAddress.shown(service.base.path)
    store = try await GeoPackageStore(path: file.path, id: service.store, profile: profile)
    answer = try await store.query(Self.inner(plan))
    batches = answer.makeAsyncIterator()
  }

  /// The number of features that a query gives.
  static func count(
    _ plan: WFSPlan, of service: WFSService
  ) async throws(FieldpackError) -> Int {
    let gathered = try await GatheredAnswer(plan, of: service, report: QueryReport())
    return try await gathered.store.count(inner(plan))
  }

  private static func inner(_ plan: WFSPlan) -> Query {
    var query = plan.query.in(layers: plan.layers.map(\.layer))
    // What was tested as the features came is not tested again: here texts of ids are integers.
    if plan.layers.allSatisfy({ $0.rest != nil }) { query = query.where(.all) }
    return query.columns.map { query.select($0 + [idColumn]) } ?? query
  }

  private static func fill(
    _ file: PendingFile, _ plan: WFSPlan, _ service: WFSService, _ report: QueryReport
  ) async throws(FieldpackError) {
    let operations = try await service.operations()
    let writer = try GeoPackageBulkWriter(filling: file, store: service.store)
    writer.keepsNames = true
    let skip: ((FieldpackError) -> Void)? =
      plan.query.skipsErrors
      ? { report.add(skipped: SkippedFeature($0, position: $0.position)) } : nil
    for layer in plan.layers {
      let schema = stored(layer.schema)
      try writer.create(schema, ids: .given)
      try writer.loader.begin(schema)
      let pages = FeaturePages(layer, operations, of: service, limit: nil, skip: skip)
      // Texts come behind all integers, in the order in which the service gives them.
      var number = Int64(1) << 53
      while let rows = try await pages.next() {
        for var row in rows {
          if let rest = layer.rest, try rest.evaluate(row) != true { continue }
          row.values.append(.null)
          if case .text(let text) = row.id {
            number += 1
            row.values[row.values.count - 1] = .text(text)
            row.id = .integer(number)
          }
          try writer.loader.feature(row)
        }
      }
    }
    _ = try writer.commit()
  }

  /// The columns as they are gathered. Services do not always keep to the types that they promise.
  static func stored(_ schema: Schema) -> Schema {
    var stored = schema
    stored.geometry?.type = .geometry
    stored.geometry?.m = .optional
    stored.columns = schema.columns.map { column in
      var plain = ColumnDefinition(column.name, column.type)
      if case .text = column.type { plain.type = .text() }
      return plain
    }
    stored.columns.append(ColumnDefinition(idColumn, .text()))
    return stored
  }

  /// The next batch, with one row or more.
  func next() async throws(FieldpackError) -> FeatureBatch? {
    guard let batch = try await batches.next() else {
      report.add(skipped: answer.report.current.skipped)
      return nil
    }
    guard let layer = plan.layers.first(where: { $0.layer == batch.schema.layer }),
      let hidden = batch.schema.columnIndex(Self.idColumn)
    else { return batch }
    var restored = FeatureBatch(store: batch.store, schema: layer.shape)
    for index in 0..<batch.count { restored.append(GatheredRow(row: batch[index], hidden: hidden)) }
    return restored
  }
}
