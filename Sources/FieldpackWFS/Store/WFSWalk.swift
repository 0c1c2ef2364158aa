import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection
import FieldpackStoreKit

/// Reads the answer to a query from a service, batch by batch, as the features come.
actor WFSWalk {
  private let plan: WFSPlan
  private let service: WFSService
  private let report: QueryReport
  private let transformations = TransformationCache()
  private var layer = 0
  private var pages: FeaturePages?
  /// Rows that came and have not been given.
  private var waiting: ArraySlice<ValueRow> = []
  private var toSkip: Int
  private var left: Int
  private var gathered: GatheredAnswer?

  init(_ plan: WFSPlan, of service: WFSService, report: QueryReport) {
    self.plan = plan
    self.service = service
    self.report = report
    toSkip = plan.query.offset
    left = plan.query.limit ?? .max
  }

  /// The next batch, with one row or more.
  func next() async throws(FieldpackError) -> FeatureBatch? {
    try service.checkOpen()
    if plan.gathering != nil {
      if gathered == nil {
        gathered = try await GatheredAnswer(plan, of: service, report: report)
      }
      return try await gathered?.next()
    }
    while layer < plan.layers.count, left > 0 {
      if let batch = try await batch(of: plan.layers[layer]) { return batch }
      layer += 1
      (pages, waiting) = (nil, [])
    }
    pages = nil
    return nil
  }

  private func batch(of layer: WFSLayerPlan) async throws(FieldpackError) -> FeatureBatch? {
    var batch = FeatureBatch(store: service.store, schema: layer.shape)
    while !batch.isFull, left > 0 {
      guard let row = try await row(of: layer) else { break }
      if let rest = layer.rest, try rest.evaluate(row) != true { continue }
      if toSkip > 0 {
        toSkip -= 1
        continue
      }
      guard let shaped = try shaped(row, layer) else { continue }
      batch.append(shaped)
      left -= 1
    }
    return batch.isEmpty ? nil : batch
  }

  private func row(of layer: WFSLayerPlan) async throws(FieldpackError) -> ValueRow? {
    if waiting.isEmpty {
      if pages == nil {
        let operations = try await service.operations()
        pages = FeaturePages(
          layer, operations, of: service, limit: plan.pushedLimit, skip: skipping)
      }
      guard let rows = try await pages?.next() else { return nil }
      waiting = rows[...]
    }
    return waiting.popFirst()
  }

  /// Reports features that cannot be read, where the query passes over them.
  private var skipping: ((FieldpackError) -> Void)? {
    guard plan.query.skipsErrors else { return nil }
    let report = report
    return { report.add(skipped: SkippedFeature($0, position: $0.position)) }
  }

  /// The row as the query wants it; `nil` where it is passed over.
  private func shaped(
    _ row: ValueRow, _ layer: WFSLayerPlan
  ) throws(FieldpackError) -> ValueRow? {
    var shaped = row
    shaped.values = layer.selected.map { row.values[$0] }
    guard plan.query.readsGeometry, let geometry = layer.schema.geometry else {
      (shaped.wkb, shaped.envelope) = (nil, nil)
      return shaped
    }
    guard let target = plan.query.srs, target != geometry.srs, var wkb = row.wkb else {
      return shaped
    }
    let location = KeyTuple.Partial(store: service.store, layer: layer.layer, feature: row.id)
    do throws(ProjectionError) {
      let transformation = try transformations.transformation(
        from: SRSReference(geometry.srs), to: SRSReference(target))
      let envelope = try transformation.transform(wkb: &wkb)
      (shaped.wkb, shaped.envelope) = (wkb, envelope.isEmpty ? nil : envelope)
      return shaped
    } catch {
      let error = FieldpackError(error, location: location)
      guard plan.query.skipsErrors, error.code == .invalidData else { throw error }
      report.add(skipped: SkippedFeature(error))
      return nil
    }
  }
}
