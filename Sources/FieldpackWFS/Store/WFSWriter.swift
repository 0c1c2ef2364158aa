import FieldpackCore
import FieldpackGeometry

/// A change that a service is asked for.
struct WFSChange: Sendable {
  enum Kind: Sendable {
    /// The id is the one that the feature has until the service gives its own.
    case insert(FeatureID)
    /// The text of the id as the service has it.
    case update(String)
    case delete(String)
  }

  var kind: Kind
  var type: WFSCapabilities.FeatureType
  var description: FeatureTypeDescription
  /// The values that are set.
  var attributes: Attributes = [:]
  var geometry = GeometryUpdate.keep
}

/// Gathers the changes of a transaction, which are sent together. It is used on one thread.
final class WFSWriter: FeatureWriting {
  private let store: WFSStore
  private let snapshot: WFSSnapshot
  private(set) var changes: [WFSChange] = []
  private var number = 0

  init(_ store: WFSStore) {
    self.store = store
    snapshot = WFSSnapshot(store: store)
  }

  // MARK: Changes

  func create(_ feature: Feature, in layer: LayerID) throws(FieldpackError) -> FeatureID {
    if let id = feature.id {
      throw FieldpackError(
        .unsupported, "the service chooses the ids of new features, so \(id) cannot be asked for",
        location: .init(store: store.id, layer: layer, feature: id))
    }
    let (type, description) = try self.type(layer)
    number += 1
    let id = FeatureID.text("new-\(number)")
    let change = WFSChange(
      kind: .insert(id), type: type, description: description,
      attributes: try checked(feature.attributes, description.schema),
      geometry: .set(try checked(feature.geometry, type, description.schema)))
    changes.append(change)
    return id
  }

  func upsert(_ feature: Feature, in layer: LayerID) throws(FieldpackError) -> FeatureID {
    guard let id = feature.id, try self.feature(id, in: layer) != nil else {
      return try create(feature, in: layer)
    }
    let geometry = feature.geometry.map { GeometryUpdate.set($0) } ?? .keep
    try update(id, in: layer, set: feature.attributes, geometry: geometry)
    return id
  }

  func update(
    _ id: FeatureID, in layer: LayerID, set attributes: Attributes, geometry: GeometryUpdate
  ) throws(FieldpackError) {
    let (type, description) = try self.type(layer)
    let values = try checked(attributes, description.schema)
    var geometry = geometry
    if case .set(let given) = geometry {
      geometry = .set(try checked(given, type, description.schema))
    }
    if let index = indexOfNew(id, in: type) {
      for element in values.elements { changes[index].attributes[element.name] = element.value }
      if geometry != .keep { changes[index].geometry = geometry }
      return
    }
    let text = try known(id, in: layer, type)
    guard !values.isEmpty || geometry != .keep else { return }
    changes.append(
      WFSChange(
        kind: .update(text), type: type, description: description, attributes: values,
        geometry: geometry))
  }

  func delete(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) {
    let (type, description) = try self.type(layer)
    if let index = indexOfNew(id, in: type) {
      changes.remove(at: index)
      return
    }
    let text = try known(id, in: layer, type)
    changes.append(WFSChange(kind: .delete(text), type: type, description: description))
  }

  func createLayer(_ schema: Schema) throws(FieldpackError) { throw layersStay }
  func addColumns(
    _ columns: [ColumnDefinition], to layer: LayerID
  ) throws(FieldpackError) { throw layersStay }
  func renameLayer(_ layer: LayerID, to name: LayerID) throws(FieldpackError) { throw layersStay }
  func removeLayer(_ layer: LayerID) throws(FieldpackError) { throw layersStay }

  private var layersStay: FieldpackError {
    FieldpackError(
      .unsupported, "a Web Feature Service changes features, and not its layers",
      location: .init(store: store.id))
  }

  // MARK: What the service has

  func layers() throws(FieldpackError) -> [Layer] { try snapshot.layers() }
  func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError) {
    try snapshot.scan(query, into: &sink)
  }
  func count(_ query: Query) throws(FieldpackError) -> Int { try snapshot.count(query) }
  func feature(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) -> Feature? {
    try snapshot.feature(id, in: layer)
  }

  private func type(
    _ layer: LayerID
  ) throws(FieldpackError) -> (WFSCapabilities.FeatureType, FeatureTypeDescription) {
    try SystemThread.waiting { [store] () async throws(FieldpackError) in
      let plan = try await store.plan(Query(layer))
      return (plan.layers[0].type, plan.layers[0].description)
    }
  }

  private func indexOfNew(_ id: FeatureID, in type: WFSCapabilities.FeatureType) -> Int? {
    changes.firstIndex { change in
      if case .insert(let new) = change.kind {
        new == id && change.type.name == type.name
      } else {
        false
      }
    }
  }

  /// The text of the id of a feature that the service has and that is not deleted already.
  private func known(
    _ id: FeatureID, in layer: LayerID, _ type: WFSCapabilities.FeatureType
  ) throws(FieldpackError) -> String {
    let text = try SystemThread.waiting { [store] () async throws(FieldpackError) in
      try await store.found(id, in: layer)?.text
    }
    let isDeleted = changes.contains { change in
      if case .delete(let deleted) = change.kind {
        deleted == text && change.type.name == type.name
      } else {
        false
      }
    }
    guard let text, !isDeleted else {
      throw FieldpackError(
        .notFound, "layer '\(layer)' of store '\(store.id)' has no feature \(id)",
        location: .init(store: store.id, layer: layer, feature: id))
    }
    return text
  }

  // MARK: Values

  /// The values under the names of the layer's columns, as their types hold them.
  private func checked(
    _ attributes: Attributes, _ schema: Schema
  ) throws(FieldpackError) -> Attributes {
    var values: Attributes = [:]
    for element in attributes.elements {
      guard let index = schema.columnIndex(element.name) else {
        throw schema.unknownColumn(element.name)
      }
      let column = schema.columns[index]
      guard let value = column.type.taking(element.value) else {
        throw FieldpackError(
          .invalidData,
          "column '\(column.name)' of layer '\(schema.layer)' does not hold "
            + "'\(element.value.plainText)'", location: .init(store: store.id, layer: schema.layer))
      }
      values[column.name] = value
    }
    return values
  }

  private func checked(
    _ geometry: Geometry?, _ featureType: WFSCapabilities.FeatureType, _ schema: Schema
  ) throws(FieldpackError) -> Geometry? {
    guard let geometry else { return nil }
    let type = try schema.geometryColumn().type
    guard featureType.srs != nil else {
      throw FieldpackError(
        .unsupported,
        "the reference system of layer '\(schema.layer)' is not known, so no geometry can be written",
        location: .init(store: store.id, layer: schema.layer))
    }
    if geometry.type.multi == type { return geometry.promotedToMulti() }
    guard type == .geometry || type.accepts(geometry.linearized().type) else {
      throw FieldpackError(
        .invalidData, "layer '\(schema.layer)' holds \(type.name), and no \(geometry.type.name)",
        location: .init(store: store.id, layer: schema.layer))
    }
    return geometry
  }
}

extension ColumnType {
  /// The value as a column of this type holds it; `nil` where it does not.
  fileprivate func taking(_ value: Value) -> Value? {
    guard let converted = value.converted(to: self) else { return nil }
    switch (self, converted) {
    case (_, .null): return .null
    case (.tinyInt, .integer(let number)), (.smallInt, .integer(let number)),
      (.mediumInt, .integer(let number)), (.integer, .integer(let number)):
      return integers.contains(number) ? converted : nil
    case (.float, .integer), (.float, .real), (.double, .integer), (.double, .real):
      return converted
    case (.boolean, .boolean), (.text, .text), (.json, .text), (.blob, .blob): return converted
    case (.boolean, .integer(let number)):
      return number == 0 || number == 1 ? .boolean(number == 1) : nil
    case (.date, .date), (.dateTime, .dateTime): return converted
    case (.date, .text(let text)): return CalendarDate(text).map { .date($0) }
    case (.dateTime, .text(let text)): return Instant(text).map { .dateTime($0) }
    case (.other, _): return converted
    default: return nil
    }
  }
}
