public import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// A transaction on a GeoPackage, for the length of a `write` call: what every store's
/// `FeatureWriter` can, and what only a GeoPackage keeps. Extents and dates stay correct.
///
///     try await store.write { (writer) throws(FieldpackError) in
///       let photos = try writer.createRelation(from: "wells", to: "photos", as: .media)
///       try writer.link(.integer(101), to: .integer(7), by: photos)
///     }
public final class GeoPackageWriter: GeoPackageSnapshot, FeatureWriting {
  /// What changed in a layer.
  private struct Touched {
    var grown = Envelope.empty
    var mayHaveShrunk = false
  }

  private var touched: [LayerID: Touched] = [:]
  /// What the store's observers are told once it is committed.
  private(set) var log = ChangeLog()
  /// Layers that were created or removed.
  private var replaced: Set<LayerID> = []
  /// The pyramids whose tiles changed, by the names that callers used.
  private var touchedPyramids: [LayerID: TilePyramid] = [:]
  /// The extents that ``finish()`` gave the layers whose rows changed.
  private(set) var extents: [LayerID: Envelope?] = [:]
  /// The nonlinear geometry types that are registered for a layer.
  private var curves: [LayerID: CurveTypes] = [:]

  /// What changes the layer that was changed last.
  private var last: FeatureEncoder?

  /// The encoder for a layer that can be changed.
  private func encoder(_ layer: LayerID) throws(FieldpackError) -> FeatureEncoder {
    if let last, last.catalogue == file.catalogueNumber, last.name == layer { return last }
    let table = try writable(layer)
    let encoder = FeatureEncoder(
      file: file, table: table, as: layer, catalogue: file.catalogueNumber)
    last = encoder.catalogue == nil ? nil : encoder
    return encoder
  }

  func table(_ layer: LayerID) throws(FieldpackError) -> LayerTable {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    return table
  }

  func writable(_ layer: LayerID) throws(FieldpackError) -> LayerTable {
    let table = try table(layer)
    guard !table.layer.isView, table.idSQL != nil else {
      throw FieldpackError(
        .readOnly, "layer '\(layer)' is a view and cannot be changed",
        location: .init(store: file.store, layer: layer))
    }
    try file.triggers?.check(table.table, store: file.store)
    guard table.lacksIndexTriggers else { return table }
    try LayerChange(file: file).createIndexTriggers(of: table)
    return try self.table(layer)
  }

  /// Tells the store's observers of a row that was changed by a statement of its own.
  func note(_ kind: ChangeLog.Kind, _ id: Int64, _ table: LayerTable) {
    log.note(kind, .integer(id), in: table.layer.id)
  }

  /// Tells the store's observers of a layer whose rows were changed one by one.
  func note(_ layer: LayerID) { log.note(layer) }

  // MARK: Features

  @discardableResult
  public func create(
    _ feature: Feature, in layer: LayerID
  ) throws(FieldpackError) -> FeatureID {
    let encoder = try encoder(layer)
    let table = encoder.table
    var values = try encoder.values(feature.attributes, of: feature.id)
    if let geometry = feature.geometry { values.append(try encoder.geometry(geometry)) }
    if let id = feature.id { values.append((table.idExpression, .integer(try number(id, table)))) }
    let names = values.map(\.0).sqlList
    let marks = values.map { _ in "?" }.sqlList
    let target = "INSERT INTO \(quoted(table.table))"
    let sql = values.isEmpty ? "\(target) DEFAULT VALUES" : "\(target) (\(names)) VALUES (\(marks))"
    if feature.id == nil { try file.checkFreeID(of: table) }
    let id = try file.changeRow(sql, values.map(\.1), of: table, feature: feature.id)
    grow(table, feature.geometry?.envelope)
    if let geometry = feature.geometry { try registerCurves(in: geometry, table) }
    log.note(.created, .integer(id), in: table.layer.id)
    return .integer(id)
  }

  @discardableResult
  public func upsert(
    _ feature: Feature, in layer: LayerID
  ) throws(FieldpackError) -> FeatureID {
    guard let id = feature.id, try exists(id, try writable(layer)) else {
      return try create(feature, in: layer)
    }
    try update(
      id, in: layer, set: feature.attributes,
      geometry: feature.geometry.map { .set($0) } ?? .keep)
    return id
  }

  private func exists(_ id: FeatureID, _ table: LayerTable) throws(FieldpackError) -> Bool {
    try file.integer(
      "SELECT 1 FROM \(quoted(table.table)) WHERE \(table.idExpression) = ?",
      [.integer(try number(id, table))]) != nil
  }

  public func update(
    _ id: FeatureID, in layer: LayerID, set attributes: Attributes = [:],
    geometry: GeometryUpdate = .keep
  ) throws(FieldpackError) {
    let encoder = try encoder(layer)
    var values = try encoder.values(attributes, of: id)
    var envelope: Envelope?
    if case .set(let new) = geometry, try !has(new, id, encoder) {
      try noteShrinking(encoder.table, id)
      values.append(try encoder.geometry(new))
      envelope = new?.envelope
    }
    guard !values.isEmpty else {
      guard try exists(id, encoder.table) else { throw missing(id, encoder.table) }
      return
    }
    let statement = try encoder.update(try number(id, encoder.table), values)
    do throws(FieldpackError) {
      try file.changeRow(statement, of: encoder.table, feature: id)
    } catch {
      guard try exists(id, encoder.table) else { throw missing(id, encoder.table) }
      throw error
    }
    if !encoder.isTouched || envelope != nil {
      grow(encoder.table, envelope)
      encoder.isTouched = true
    }
    if case .set(let new?) = geometry { try registerCurves(in: new, encoder.table) }
    log.note(.updated, id, in: encoder.layer)
  }

  /// Whether the feature has that geometry already, so that its blob can stay unchanged.
  private func has(
    _ geometry: Geometry?, _ id: FeatureID, _ encoder: FeatureEncoder
  ) throws(FieldpackError) -> Bool {
    let table = encoder.table
    guard let geometry, let column = table.schema.geometry else { return false }
    let stored = try file.rows(
      "SELECT \(quoted(column.name)) FROM \(quoted(table.table)) "
        + "WHERE \(table.idExpression) = ?", [.integer(try number(id, table))])
    guard case .blob(let blob)? = stored.first?.first else { return false }
    return encoder.isSound(blob, holding: geometry)
  }

  private func registerCurves(
    in geometry: Geometry, _ table: LayerTable
  ) throws(FieldpackError) {
    let known = curves[table.layer.id] ?? []
    let found = CurveTypes(in: geometry).subtracting(known)
    guard !found.isEmpty else { return }
    try found.register(in: file, for: table)
    curves[table.layer.id] = known.union(found)
  }

  public func delete(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) {
    let table = try writable(layer)
    let number = try number(id, table)
    guard try exists(id, table) else { throw missing(id, table) }
    try noteShrinking(table, id)
    try RowLeftovers(file: file).deleting(number, of: table.table, id: table.idExpression) {
      () throws(FieldpackError) in
      try file.changeRow(
        "DELETE FROM \(quoted(table.table)) WHERE \(table.idExpression) = ?", [.integer(number)],
        of: table, feature: id)
    }
    log.note(.deleted, id, in: table.layer.id)
  }

  private func number(
    _ id: FeatureID, _ table: @autoclosure () -> LayerTable
  ) throws(FieldpackError) -> Int64 {
    if case .integer(let number) = id { return number }
    let table = table()
    throw FieldpackError(
      .notFound, "layer '\(table.layer.id)' has no feature '\(id)': its ids are integers",
      location: .init(store: file.store, layer: table.layer.id, feature: id))
  }

  private func missing(_ id: FeatureID, _ table: LayerTable) -> FieldpackError {
    FieldpackError(
      .notFound, "layer '\(table.layer.id)' of store '\(file.store)' has no feature \(id)",
      location: .init(store: file.store, layer: table.layer.id, feature: id))
  }

  // MARK: Extents

  func grow(_ table: LayerTable, _ envelope: Envelope?) {
    if let envelope {
      touched[table.layer.id, default: Touched()].grown.formUnion(envelope)
    } else if touched[table.layer.id] == nil {
      touched[table.layer.id] = Touched()
    }
  }

  /// Notes that rows of a layer changed, and that its extent must contain `envelope`.
  func touch(_ table: LayerTable, growing envelope: Envelope? = nil) {
    grow(table, envelope)
    log.note(table.layer.id)
  }

  /// Notes whether a geometry that is removed touches the border of the extent, which may then
  /// shrink.
  func noteShrinking(_ table: LayerTable, _ id: FeatureID) throws(FieldpackError) {
    var entry = touched[table.layer.id] ?? Touched()
    defer { touched[table.layer.id] = entry }
    guard !entry.mayHaveShrunk, let geometry = table.schema.geometry else { return }
    let g = quoted(geometry.name)
    let row = try file.rows(
      "SELECT ST_MinX(\(g)), ST_MinY(\(g)), ST_MaxX(\(g)), ST_MaxY(\(g)) "
        + "FROM \(quoted(table.table)) WHERE \(table.idExpression) = ?",
      [.integer(try number(id, table))]
    ).first?.compactMap(\.realValue)
    guard let row, row.count == 4 else { return }
    guard let extent = table.layer.envelope else {
      entry.mayHaveShrunk = true
      return
    }
    entry.mayHaveShrunk =
      row[0] <= extent.minX || row[1] <= extent.minY || row[2] >= extent.maxX
      || row[3] >= extent.maxY
  }

  /// The layers whose rows changed, as the catalogue spells them. Ask before ``finish()``.
  var changedLayers: Set<LayerID> { replaced.union(touched.keys) }

  /// Updates `gpkg_contents`; to be called last before the commit.
  func finish() throws(FieldpackError) {
    let catalogue = try file.catalogue()
    for (id, change) in touched {
      guard let table = catalogue.layer(id) else { continue }
      try file.checkIndex(of: table)
      let extent = try extent(of: table, after: change)
      try ContentsTable(file: file).update(table, extent: extent)
      extents[id] = .some(extent)
    }
    touched = [:]
    for pyramid in touchedPyramids.values {
      try ContentsTable(file: file).touch(pyramid.name.rawValue)
    }
    touchedPyramids = [:]
  }

  /// The catalogue's extent with the change added. Where it may have shrunk or was wrong, it is
  /// computed.
  private func extent(
    of table: LayerTable, after change: Touched
  ) throws(FieldpackError) -> Envelope? {
    let layer = LayerExtent(file: file, table: table)
    guard !change.mayHaveShrunk, var extent = table.layer.envelope else {
      return try layer.computed()
    }
    extent.formUnion(change.grown)
    return try layer.indexAgrees(extent) == false ? layer.computed() : extent
  }

  // MARK: Tiles

  /// A pyramid that takes tiles; read once per transaction.
  func writablePyramid(_ name: LayerID) throws(FieldpackError) -> TilePyramid {
    if let known = touchedPyramids[name] { return known }
    let pyramid = try TileTables(file: file).writable(name)
    touchedPyramids[name] = pyramid
    return pyramid
  }

  /// Forgets a pyramid. To be called when the pyramid is removed.
  func forgetPyramid(_ name: LayerID) {
    let name = SQLName(name.rawValue)
    touchedPyramids = touchedPyramids.filter { SQLName($0.key.rawValue) != name }
  }

  // MARK: Layers

  public func createLayer(_ schema: Schema) throws(FieldpackError) {
    try createLayer(schema, rules: [])
  }

  public func addColumns(
    _ columns: [ColumnDefinition], to layer: LayerID
  ) throws(FieldpackError) {
    let table = try writable(layer)
    try whole { () throws(FieldpackError) in
      try LayerCreation(file: file).addColumns(columns, to: table)
    }
    log.note(table.layer.id)
  }

  public func renameLayer(_ layer: LayerID, to name: LayerID) throws(FieldpackError) {
    let table = try writable(layer)
    try LayerCreation(file: file).checkName(name)
    if SQLName(name.rawValue) != SQLName(table.table), try file.hasTable(name.rawValue) {
      throw FieldpackError(
        .cannotCreate, "layer '\(name)' exists already",
        location: .init(store: file.store, layer: name))
    }
    try whole { () throws(FieldpackError) in
      try LayerChange(file: file).rename(table, to: name)
    }
    replaced.formUnion([table.layer.id, name])
    log.note(table.layer.id)
    log.note(name)
    touched[name] = touched.removeValue(forKey: table.layer.id) ?? Touched()
    curves[table.layer.id] = nil
  }

  public func removeLayer(_ layer: LayerID) throws(FieldpackError) {
    let table = try table(layer)
    try whole { () throws(FieldpackError) in try LayerChange(file: file).remove(table) }
    replaced.insert(table.layer.id)
    log.note(table.layer.id)
    (touched[table.layer.id], curves[table.layer.id]) = (nil, nil)
  }

  /// Runs several statements that happen together or not at all, even where the caller continues
  /// after the error.
  package func whole<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R {
    defer { file.forgetCatalogue() }
    return try undoable(body)
  }

  /// The same for statements that change no row of the catalogue, which is not read again then.
  package func wholeRows<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R {
    do throws(FieldpackError) { return try undoable(body) } catch {
      file.forgetCatalogue()
      throw error
    }
  }

  private func undoable<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R {
    let before = (mark: log.mark, touched: touched, curves: curves)
    do throws(FieldpackError) { return try file.connection.savepoint(body) } catch {
      log.forget(since: before.mark)
      (touched, curves) = (before.touched, before.curves)
      throw error
    }
  }
}
