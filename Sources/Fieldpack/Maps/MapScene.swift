package import FieldpackCore
package import FieldpackGeometry
package import FieldpackMaps
import FieldpackProjection

/// The geometries of a query in one SRS, ready to be drawn.
///
/// In the SRS asked for, else in the one that all layers share, else in WGS 84, without the layers
/// that have no SRS.
package struct MapScene {
  /// Which attributes are read beside what a drawing depends on.
  enum Attributes {
    case none
    case named([String])
    /// Those that the query selects, and those named.
    case all(and: [String])
  }

  private let prepared: PreparedQuery?
  package let targets: [ExportTarget]
  package let isGeographic: Bool
  package private(set) var notes: [Note] = []

  package init(_ query: Query, of workspace: Workspace) async throws(FieldpackError) {
    try await self.init(query, of: workspace, reading: .none)
  }

  init(
    _ query: Query, of workspace: Workspace, reading attributes: Attributes,
    alsoNamed extra: [String] = []
  ) async throws(FieldpackError) {
    // Layers are drawn one after the other, and little of their columns.
    let isCut = query.limit != nil || query.offset > 0 || query.nearest?.maximum != nil
    var targets = try await workspace.prepare(query).targets
      .filter { $0.schema.geometry != nil }
    let read = try await Self.selecting(
      attributes, extra, query, of: workspace, targets)
    var drawn = isCut ? read : read.withoutOrder()
    let systems = Set(targets.compactMap(\.schema.geometry?.srs))
    if query.srs == nil, systems.count > 1 {
      for target in targets where target.schema.geometry?.srs.isUndefined ?? true {
        notes.append("layer '\(targets.name(of: target))' has no SRS and is not drawn")
      }
      targets.removeAll { $0.schema.geometry?.srs.isUndefined ?? true }
      drawn = drawn.transformed(to: .wgs84)
    }
    let layers = targets.map(\.layer).unique
    prepared =
      layers.isEmpty
      ? nil : try await workspace.prepare(drawn.in(layers: layers), only: targets)
    self.targets = prepared?.targets ?? []
    isGeographic = Self.isGeographic(self.targets.first?.schema.geometry?.srs ?? .wgs84)
  }

  /// The query with the columns that are read.
  private static func selecting(
    _ attributes: Attributes, _ extra: [String], _ query: Query, of workspace: Workspace,
    _ targets: [ExportTarget]
  ) async throws(FieldpackError) -> Query {
    // The query's own selection may leave out what the drawing depends on.
    var bare = Query(layers: query.layers)
    if let stores = query.stores { bare = bare.in(stores: stores) }
    let schemas =
      query.columns == nil
      ? targets.map(\.schema) : try await workspace.prepare(bare).targets.map(\.schema)
    var columns = Set(
      schemas.flatMap { schema in
        FieldDrawing.columns(of: schema)
          + extra.compactMap { name in
            schema.columnIndex(name).map { schema.columns[$0].name }
          }
      })
    switch attributes {
    case .none: break
    case .named(let names): try add(names, to: &columns, from: schemas)
    case .all(let names):
      try add(names, to: &columns, from: schemas)
      guard let selected = query.columns else { return query }
      return query.select(selected + columns.subtracting(selected).sorted())
    }
    return query.select(columns.sorted())
  }

  private static func add(
    _ names: [String], to columns: inout Set<String>, from schemas: [Schema]
  ) throws(FieldpackError) {
    for name in names {
      let found = schemas.compactMap { schema in
        schema.columnIndex(name).map { schema.columns[$0].name }
      }
      if found.isEmpty, let schema = schemas.first,
        !schemas.contains(where: { $0.idColumn == name })
      {
        throw schema.unknownColumn(name)
      }
      columns.formUnion(found)
    }
  }

  var transformations: [ExportReport.Transformed] { prepared?.moved ?? [] }

  private static func isGeographic(_ srs: SRS) -> Bool {
    if srs == .wgs84 || srs == .undefinedGeographic { return true }
    if srs.isUndefined { return false }
    return (try? SRSCatalogue().definition(of: srs))?.isGeographic ?? false
  }

  // MARK: Reading

  /// Gives every batch with the number of its layer in ``targets``.
  func eachBatch(
    _ body: (FeatureBatch, Int?) throws(FieldpackError) -> Void
  ) async throws(FieldpackError) -> QueryReport.Contents {
    guard let prepared else { return QueryReport().current }
    let batches = try await prepared.batches()
    let iterator = batches.makeAsyncIterator()
    while let batch = try await iterator.next() {
      let number = targets.firstIndex {
        $0.store == batch.store && $0.layer == batch.schema.layer
      }
      try body(batch, number)
    }
    return batches.report.current
  }

  /// The envelope of everything that is drawn, with longitudes beyond 180 where it crosses the
  /// antimeridian.
  package func envelope() async throws(FieldpackError) -> Envelope {
    var extent = MapExtent(isGeographic: isGeographic)
    _ = try await eachBatch { (batch, _) throws(FieldpackError) in extent.add(batch) }
    return extent.envelope
  }

  /// Draws every geometry alike.
  package func draw<Drawing: MapDrawing>(
    on drawing: inout Drawing
  ) async throws(FieldpackError) {
    _ = try await eachBatch { (batch, _) throws(FieldpackError) in
      let walk = FieldDrawing(batch.schema, isGeographic: isGeographic)
      for index in 0..<batch.count {
        guard let geometry = try batch.geometry(at: index) else { continue }
        drawing.draw(walk.shape(geometry, of: batch[index]))
      }
    }
  }
}

extension FeatureBatch {
  func geometry(at index: Int) throws(FieldpackError) -> Geometry? {
    let row = self[index]
    return try row.geometry(key: KeyTuple(store: store, layer: schema.layer, feature: row.id))
  }
}

/// What a map has to show.
struct MapExtent {
  private let isGeographic: Bool
  private var all = Envelope.empty
  private var spans = LongitudeSpans()

  init(isGeographic: Bool) { self.isGeographic = isGeographic }

  var envelope: Envelope { (isGeographic ? spans.cut(all) : nil) ?? all }

  mutating func add(_ batch: FeatureBatch) {
    let drawing = FieldDrawing(batch.schema, isGeographic: isGeographic)
    for index in 0..<batch.count {
      let row = batch[index]
      let box = Self.envelope(of: row, drawing)
      all.formUnion(box)
      guard isGeographic, !box.isEmpty else { continue }
      // A box around all longitudes may be that of a geometry at both ends of them.
      if box.width > 180,
        let geometry = row.withGeometry({ span in try? WKB.read(span) }) ?? nil
      {
        spans.add(geometry)
      } else {
        spans.add(box.minX, box.maxX)
      }
    }
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
}

extension [ExportTarget] {
  /// The layer's name, with its store where another layer is called the same.
  func name(of target: ExportTarget) -> String {
    let isShared = contains { $0.layer == target.layer && $0.store != target.store }
    return isShared ? "\(target.store)/\(target.layer)" : target.layer.rawValue
  }
}

extension [LayerID] {
  /// Each once, in order.
  fileprivate var unique: [LayerID] {
    var seen: Set<LayerID> = []
    return filter { seen.insert($0).inserted }
  }
}
