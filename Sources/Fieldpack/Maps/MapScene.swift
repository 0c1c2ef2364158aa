package import FieldpackCore
package import FieldpackGeometry
package import FieldpackMaps
import FieldpackProjection

/// The geometries of a query in one SRS, ready to be drawn.
///
/// In the SRS asked for, else in the one that all layers share, else in WGS 84, without the layers
/// that have no SRS.
package struct MapScene {
  private let prepared: PreparedQuery?
  package let targets: [ExportTarget]
  package let isGeographic: Bool
  package private(set) var notes: [String] = []

  package init(_ query: Query, of workspace: Workspace) async throws(FieldpackError) {
    // Layers are drawn one after the other, and little of their columns.
    let isCut = query.limit != nil || query.offset > 0 || query.nearest?.maximum != nil
    var targets = try await workspace.prepare(query).targets
      .filter { $0.schema.geometry != nil }
    let columns = Set(targets.flatMap { FieldDrawing.columns(of: $0.schema) }).sorted()
    let bare = isCut ? query.select(columns) : query.select(columns).withoutOrder()
    let systems = Set(targets.compactMap(\.schema.geometry?.srs))
    var drawn = bare
    if query.srs == nil, systems.count > 1 {
      for target in targets where target.schema.geometry?.srs.isUndefined ?? true {
        notes.append("layer '\(target.layer)' has no SRS and is not drawn")
      }
      targets.removeAll { $0.schema.geometry?.srs.isUndefined ?? true }
      drawn = drawn.transformed(to: .wgs84)
    }
    let layers = targets.map(\.layer).unique
    prepared = layers.isEmpty ? nil : try await workspace.prepare(drawn.in(layers: layers))
    self.targets = prepared?.targets ?? []
    isGeographic = Self.isGeographic(self.targets.first?.schema.geometry?.srs ?? .wgs84)
  }

  var transformations: [ExportReport.Transformed] { prepared?.moved ?? [] }

  private static func isGeographic(_ srs: SRS) -> Bool {
    if srs == .wgs84 || srs == .undefinedGeographic { return true }
    if srs.isUndefined { return false }
    return (try? SRSCatalogue().definition(of: srs))?.isGeographic ?? false
  }

  /// The envelope of everything that is drawn.
  package func envelope() async throws(FieldpackError) -> Envelope {
    var envelope = Envelope.empty
    guard let prepared else { return envelope }
    let iterator = try await prepared.batches().makeAsyncIterator()
    while let batch = try await iterator.next() {
      let drawing = FieldDrawing(batch.schema, isGeographic: isGeographic)
      for index in 0..<batch.count {
        envelope.formUnion(Self.envelope(of: batch[index], drawing))
      }
    }
    return envelope
  }

  private static func envelope(
    of row: FeatureBatch.Row, _ drawing: FieldDrawing
  ) -> Envelope {
    if drawing.hasCircles,
      let geometry = row.withGeometry({ span in try? WKB.read(span) }) ?? nil
    {
      return drawing.shape(geometry, of: row).envelope ?? .empty
    }
    if let known = row.envelope { return known }
    let found = row.withGeometry { span in (try? WKB.envelope(of: span)) ?? nil } ?? nil
    return found ?? .empty
  }

  /// Draws every geometry.
  ///
  /// - Parameters:
  ///   - begin: called before the first geometry of a layer, and of each kind of detections.
  ///   - drew: called after each batch with the features drawn so far.
  /// - Returns: what the query reports and how many features of each layer were drawn.
  package func draw<Drawing: MapDrawing>(
    on drawing: inout Drawing,
    begin: (inout Drawing, ExportTarget, _ kind: String?) -> Void = { _, _, _ in },
    drew: (Int) throws(FieldpackError) -> Void = { _ in }
  ) async throws(FieldpackError) -> (report: QueryReport.Contents, counts: [Int]) {
    var counts = [Int](repeating: 0, count: targets.count)
    guard let prepared else { return (QueryReport().current, counts) }
    let batches = try await prepared.batches()
    let iterator = batches.makeAsyncIterator()
    var current: Int?
    var kinds = DetectionKinds()
    while let batch = try await iterator.next() {
      let number = targets.firstIndex {
        $0.store == batch.store && $0.layer == batch.schema.layer
      }
      let walk = FieldDrawing(batch.schema, isGeographic: isGeographic)
      if let number, number != current {
        kinds.draw(on: &drawing, begin)
        if !walk.hasKinds { begin(&drawing, targets[number], nil) }
        current = number
      }
      for index in 0..<batch.count {
        let row = batch[index]
        let key = KeyTuple(store: batch.store, layer: batch.schema.layer, feature: row.id)
        guard let geometry = try row.geometry(key: key) else { continue }
        if let number, let kind = walk.kind(of: row) {
          kinds.add(geometry, kind, targets[number])
        } else {
          drawing.draw(walk.shape(geometry, of: row))
        }
      }
      if let number { counts[number] += batch.count }
      try drew(counts.reduce(0, +))
    }
    kinds.draw(on: &drawing, begin)
    return (batches.report.current, counts)
  }

  /// Detections wait until their layer is read, since each kind has a colour of its own.
  private struct DetectionKinds {
    private var shapes: [String: [Geometry]] = [:]
    private var target: ExportTarget?

    mutating func add(_ geometry: Geometry, _ kind: String, _ target: ExportTarget) {
      // A file with any number of kinds is none of ours.
      let name = shapes[kind] != nil || shapes.count < 12 ? kind : "other"
      shapes[name, default: []].append(geometry)
      self.target = target
    }

    mutating func draw<Drawing: MapDrawing>(
      on drawing: inout Drawing, _ begin: (inout Drawing, ExportTarget, String?) -> Void
    ) {
      guard let target else { return }
      for (kind, geometries) in shapes.sorted(by: { $0.key < $1.key }) {
        begin(&drawing, target, kind)
        for geometry in geometries { drawing.draw(geometry) }
      }
      self = DetectionKinds()
    }
  }
}

extension [LayerID] {
  /// Each once, in order.
  fileprivate var unique: [LayerID] {
    var seen: Set<LayerID> = []
    return filter { seen.insert($0).inserted }
  }
}
