import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection

/// Takes features between GeoJSON, which is in WGS 84, and one layer.
struct GeoJSONEdge {
  let schema: Schema

  /// The geometries in the layer's SRS, promoted where the layer holds the Multi kind.
  func geometries(
    _ updates: [GeometryUpdate], in store: any Store
  ) async throws(FieldpackError) -> [GeometryUpdate] {
    let given = updates.compactMap { update -> Geometry? in
      guard case .set(let geometry) = update else { return nil }
      return geometry
    }
    let layer = LayerGeometries(store: store, schema: schema)
    var moved = try await layer.intoLayer(given)[...]
    return updates.map { update in
      guard case .set(.some) = update, let geometry = moved.popFirst() else { return update }
      return .set(promoted(geometry))
    }
  }

  private func promoted(_ geometry: Geometry) -> Geometry {
    guard let column = schema.geometry?.type, !column.accepts(geometry.type),
      let multi = geometry.type.multi, column.accepts(multi)
    else { return geometry }
    return geometry.promotedToMulti()
  }

  /// The members as the layer's columns take them: blobs are Base64 in GeoJSON.
  func attributes(_ given: Attributes) throws(FieldpackError) -> Attributes {
    var elements = given.elements
    if schema.idIsAttribute { elements.removeAll { $0.name == schema.idColumn } }
    for (index, element) in elements.enumerated() {
      guard let column = schema.columnIndex(element.name), case .text(let text) = element.value,
        case .blob = schema.columns[column].type
      else { continue }
      guard let bytes = Base64.decode(text.utf8) else {
        throw FieldpackError(
          .invalidData, "column '\(element.name)' holds bytes, and its text is not Base64",
          location: .init(layer: schema.layer))
      }
      elements[index].value = .blob(bytes)
    }
    return Attributes(elements)
  }

  /// A feature to create.
  func feature(
    _ given: GeoJSONFeature, _ geometry: GeometryUpdate, _ notes: inout [String]
  ) throws(FieldpackError) -> Feature {
    var feature = Feature(attributes: try attributes(given.attributes))
    if case .set(let geometry) = geometry { feature.geometry = geometry }
    if schema.idIsAttribute, given.id == nil, let name = schema.idColumn,
      case .integer(let id)? = given.attributes[name]
    {
      feature.id = .integer(id)
    }
    if let id = given.id { take(id, into: &feature, given, &notes) }
    return feature
  }

  private func take(
    _ id: FeatureID, into feature: inout Feature, _ given: GeoJSONFeature,
    _ notes: inout [String]
  ) {
    if let column = schema.columns.first(where: \.isSourceID), given.key == nil {
      if feature.attributes[column.name] == nil {
        feature.attributes[column.name] = .text(id.description)
      }
    } else if case .integer = id {
      feature.id = id
    } else {
      let position = given.position.description
      notes.append("\(position): its id has no place in layer '\(schema.layer)' and is not kept")
    }
  }
}

/// Geometries on their way between WGS 84 and the SRS of a layer.
struct LayerGeometries {
  let store: any Store
  let schema: Schema

  func intoLayer(_ geometries: [Geometry]) async throws(FieldpackError) -> [Geometry] {
    if let store = store.geoPackage {
      return try await store.transformed(geometries, from: .wgs84, to: schema.layer)
    }
    return try Self.transformed(geometries, from: .wgs84, to: schema.geometry?.srs ?? .wgs84)
  }

  func fromLayer(_ geometries: [Geometry]) async throws(FieldpackError) -> [Geometry] {
    if let store = store.geoPackage {
      return try await store.transformed(geometries, of: schema.layer, to: .wgs84)
    }
    return try Self.transformed(geometries, from: schema.geometry?.srs ?? .wgs84, to: .wgs84)
  }

  private static func transformed(
    _ geometries: [Geometry], from source: SRS, to target: SRS
  ) throws(FieldpackError) -> [Geometry] {
    guard source != target, !source.isUndefined, !target.isUndefined else { return geometries }
    do throws(ProjectionError) {
      let transformation = try CoordinateTransformation(from: source, to: target)
      var moved: [Geometry] = []
      for geometry in geometries { moved.append(try transformation.transform(geometry)) }
      return moved
    } catch {
      throw FieldpackError(.invalidData, error.message, underlying: error)
    }
  }
}
