import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FieldpackProjection

/// The geometries of a query in one SRS, ready to be drawn.
///
/// In the SRS asked for, else in the one that all layers share, else in WGS 84, without the layers
/// that have no SRS.
struct MapScene {
  let workspace: Workspace
  let query: Query
  let targets: [ExportTarget]
  let transformations: [ExportReport.Transformed]
  let isGeographic: Bool
  private(set) var notes: [String] = []

  init(_ query: Query, of workspace: Workspace) async throws(FieldpackError) {
    self.workspace = workspace
    // Layers are drawn one after the other, and nothing of their columns.
    let isCut = query.limit != nil || query.offset > 0 || query.nearest?.maximum != nil
    let bare = isCut ? query.select([]) : query.select([]).withoutOrder()
    var targets = try await workspace.targets(of: bare).layers.filter { $0.schema.geometry != nil }
    let systems = Set(targets.compactMap(\.schema.geometry?.srs))
    var drawn = bare
    if query.srs == nil, systems.count > 1 {
      for target in targets where target.schema.geometry?.srs.isUndefined ?? true {
        notes.append("layer '\(target.layer)' has no SRS and is not drawn")
      }
      targets.removeAll { $0.schema.geometry?.srs.isUndefined ?? true }
      drawn = drawn.transformed(to: .wgs84)
    }
    self.query = drawn.in(layers: targets.map(\.layer).unique)
    let final = targets.isEmpty ? ([], []) : try await workspace.targets(of: self.query)
    (self.targets, transformations) = (final.0, final.1)
    isGeographic = Self.isGeographic(final.0.first?.schema.geometry?.srs ?? .wgs84)
  }

  private static func isGeographic(_ srs: SRS) -> Bool {
    if srs == .wgs84 || srs == .undefinedGeographic { return true }
    if srs.isUndefined { return false }
    return (try? SRSCatalogue().definition(of: srs))?.isGeographic ?? false
  }

  /// The envelope of everything that is drawn.
  func envelope() async throws(FieldpackError) -> Envelope {
    var envelope = Envelope.empty
    guard !targets.isEmpty else { return envelope }
    let iterator = try await workspace.query(query).makeAsyncIterator()
    while let batch = try await iterator.next() {
      for index in 0..<batch.count { envelope.formUnion(Self.envelope(of: batch[index])) }
    }
    return envelope
  }

  private static func envelope(of row: FeatureBatch.Row) -> Envelope {
    if let known = row.envelope { return known }
    let found = row.withGeometry { span in (try? WKB.envelope(of: span)) ?? nil } ?? nil
    return found ?? .empty
  }

  /// Draws every geometry; `begin` is called before the first one of a layer.
  ///
  /// - Returns: what the query reports and how many features of each layer were drawn.
  func draw<Drawing: MapDrawing>(
    on drawing: inout Drawing, begin: (inout Drawing, ExportTarget) -> Void = { _, _ in }
  ) async throws(FieldpackError) -> (report: QueryReport.Contents, counts: [Int]) {
    var counts = [Int](repeating: 0, count: targets.count)
    guard !targets.isEmpty else { return (QueryReport().current, counts) }
    let batches = try await workspace.query(query)
    let iterator = batches.makeAsyncIterator()
    var current: Int?
    while let batch = try await iterator.next() {
      let place = targets.firstIndex {
        $0.store == batch.store && $0.layer == batch.schema.layer
      }
      if let place, place != current {
        begin(&drawing, targets[place])
        current = place
      }
      for index in 0..<batch.count {
        let key = KeyTuple(
          store: batch.store, layer: batch.schema.layer, feature: batch[index].id)
        if let geometry = try batch[index].geometry(key: key) { drawing.draw(geometry) }
      }
      if let place { counts[place] += batch.count }
    }
    return (batches.report.current, counts)
  }
}

extension [LayerID] {
  /// Each once, in order.
  fileprivate var unique: [LayerID] {
    var seen: Set<LayerID> = []
    return filter { seen.insert($0).inserted }
  }
}
