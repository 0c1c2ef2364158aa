import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection

/// Makes rows of a layer from the features of answers.
final class FeatureShape {
  let schema: Schema
  private let type: WFSCapabilities.FeatureType
  private let geometries: GMLGeometryReader
  private let columns: [String: Int]
  private let transformations = TransformationCache()
  /// The features so far without an id of their own.
  private var nameless: Int64 = 0

  /// - Parameter asked: the name of the reference system in the request.
  init(
    _ description: FeatureTypeDescription, of type: WFSCapabilities.FeatureType,
    axes: AxisOrders, asked: SRSName?
  ) {
    schema = description.schema
    self.type = type
    geometries = GMLGeometryReader(axes: axes, asked: asked)
    var columns: [String: Int] = [:]
    for (index, column) in schema.columns.enumerated() { columns[column.name] = index }
    self.columns = columns
  }

  /// The row of a feature in GML.
  func row(_ feature: XMLTree) throws(FieldpackError) -> ValueRow {
    var values = [Value](repeating: .null, count: schema.columns.count)
    var geometry: Geometry?
    let given =
      feature.attributes.first { $0.name.local == "id" && $0.name.namespace != nil }
      ?? feature.attributes.first { $0.name.local == "fid" || $0.name.local == "id" }
    let id = id(given?.value)
    do throws(FieldpackError) {
      for child in feature.children {
        if child.name.local == schema.geometry?.name {
          try geometries.refuseReference(child)
          guard let element = child.children.first else { continue }
          geometry = try placed(geometries.read(element))
        } else if let index = columns[child.name.local] {
          values[index] = AttributeText.value(child, of: schema.columns[index].type)
        }
      }
    } catch { throw error.adding(location: .init(layer: schema.layer, feature: id)) }
    return row(id, values, geometry)
  }

  /// The row of a feature in GeoJSON, whose positions are longitude and latitude.
  func row(_ feature: GeoJSONFeature) -> ValueRow {
    var values = [Value](repeating: .null, count: schema.columns.count)
    for element in feature.attributes.elements {
      guard let index = columns[element.name] else { continue }
      values[index] = AttributeText.value(element.value, of: schema.columns[index].type)
    }
    var geometry: Geometry?
    if schema.geometry != nil, case .set(let given) = feature.geometry { geometry = given }
    return row(id(feature.id?.description), values, geometry)
  }

  private func row(_ id: FeatureID, _ values: [Value], _ geometry: Geometry?) -> ValueRow {
    var geometry = geometry
    // A schema that promises several geometries may find single ones.
    if let given = geometry, let type = schema.geometry?.type, given.type.multi == type {
      geometry = given.promotedToMulti()
    }
    return ValueRow(
      id: id, values, wkb: geometry.map { WKB.bytes(of: $0) }, envelope: geometry?.envelope)
  }

  /// A geometry in the layer's reference system.
  private func placed(
    _ reading: GMLGeometryReader.Reading
  ) throws(FieldpackError) -> Geometry {
    guard let srs = reading.name?.srs, let own = schema.geometry?.srs, srs != own,
      !own.isUndefined
    else { return reading.geometry }
    do throws(ProjectionError) {
      return try transformations.transformation(from: SRSReference(srs), to: SRSReference(own))
        .transform(reading.geometry)
    } catch { throw FieldpackError(error) }
  }

  // MARK: Ids

  /// Whether all features so far have ids of their own.
  var hasIDs: Bool { nameless == 0 }

  /// The id of a feature; one without an id gets the next number.
  private func id(_ given: String?) -> FeatureID {
    guard let given, !given.isEmpty else {
      nameless += 1
      return .integer(nameless)
    }
    return Self.id(given, in: type)
  }

  /// The id that a text of a service means: what stands behind the layer's name and a dot, else the
  /// whole text.
  static func id(_ text: String, in type: WFSCapabilities.FeatureType) -> FeatureID {
    for prefix in [type.localName, type.name] where text.hasPrefix(prefix + ".") {
      let rest = String(text.dropFirst(prefix.count + 1))
      if !rest.isEmpty { return FeatureID(rest) }
    }
    return FeatureID(text)
  }

  /// The texts that a service may have for an id, the likeliest first.
  static func texts(of id: FeatureID, in type: WFSCapabilities.FeatureType) -> [String] {
    let text = id.description
    return ["\(type.localName).\(text)", text]
  }
}
