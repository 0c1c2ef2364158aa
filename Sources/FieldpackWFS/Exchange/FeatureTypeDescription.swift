import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// The columns of a feature type, from the XML schema that a service has for it.
///
/// Only what services write for plain features is understood: elements with names of types, or with
/// restrictions of one. What is not understood is text.
struct FeatureTypeDescription: Sendable {
  var schema: Schema
  /// How many of the schema's columns stand before the geometry.
  private(set) var geometryIndex = 0
  /// The namespace of the elements of the columns.
  var namespace: String?
  /// Further geometries, which a layer cannot have.
  var otherGeometries: [String] = []

  private static let schemaNamespace = "http://www.w3.org/2001/XMLSchema"

  /// - Throws: `.invalidData` where the document does not describe the type.
  init(
    _ root: XMLTree, of type: WFSCapabilities.FeatureType
  ) throws(FieldpackError) {
    guard root.name.local == "schema", let members = Self.members(of: type.localName, in: root)
    else {
      throw FieldpackError(
        .invalidData, .otherDocument, "the service does not describe the layer '\(type.name)'")
    }
    namespace = root["targetNamespace"] ?? type.element.namespace
    schema = Schema(layer: LayerID(type.name))
    for element in members { add(element, srs: type.srs?.srs, root) }
    let taken = Set(
      schema.columns.map { $0.name.lowercased() }
        + [schema.geometry?.name.lowercased()].compactMap(\.self))
    schema.idColumn = "fid".numbered { !taken.contains($0) }
  }

  /// The elements of a feature, in order.
  private static func members(of name: String, in root: XMLTree) -> [XMLTree]? {
    let element = root.children("element").first { $0["name"] == name }
    var type = element?.child("complexType")
    if type == nil {
      let typeName = element?["type"].flatMap { root.qualifiedName($0)?.local }
      let wanted = typeName ?? name + "Type"
      type = root.children("complexType").first { $0["name"] == wanted }
    }
    guard let type else { return nil }
    let content = type.child("complexContent")?.child("extension") ?? type
    let sequence = content.child("sequence") ?? content.child("all")
    return sequence?.children("element") ?? []
  }

  private mutating func add(_ element: XMLTree, srs: SRS?, _ root: XMLTree) {
    guard let name = element["name"] else { return }
    let type = Self.type(of: element, in: root)
    if let geometry = type.flatMap(Self.geometry) {
      guard schema.geometry == nil else {
        otherGeometries.append(name)
        return
      }
      geometryIndex = schema.columns.count
      schema.geometry = GeometryColumn(
        name, type: geometry, srs: srs ?? .undefinedCartesian, z: .optional)
      return
    }
    let isNullable =
      element["nillable"] == "true" || element["minOccurs"] == "0"
    schema.columns.append(
      ColumnDefinition(name, Self.column(type, element), isNullable: isNullable))
  }

  /// The type of an element, or what its own type restricts.
  private static func type(of element: XMLTree, in root: XMLTree) -> XMLQName? {
    if let text = element["type"] {
      let local = text.split(separator: ":").last.map(String.init) ?? text
      let name = element.qualifiedName(text) ?? XMLQName(local)
      let own = root.children("simpleType").first { $0["name"] == name.local }
      guard let own, name.namespace != schemaNamespace else { return name }
      return base(of: own)
    }
    return element.child("simpleType").flatMap(base)
  }

  private static func base(of simple: XMLTree) -> XMLQName? {
    guard let restriction = simple.child("restriction"),
      let base = restriction["base"]
    else { return nil }
    return restriction.qualifiedName(base)
  }

  private static func geometry(_ type: XMLQName) -> GeometryType? {
    guard type.namespace?.hasPrefix("http://www.opengis.net/gml") ?? true else { return nil }
    return switch type.local {
    case "PointPropertyType": .point
    case "LineStringPropertyType", "CurvePropertyType": .lineString
    case "PolygonPropertyType", "SurfacePropertyType": .polygon
    case "MultiPointPropertyType": .multiPoint
    case "MultiLineStringPropertyType", "MultiCurvePropertyType": .multiLineString
    case "MultiPolygonPropertyType", "MultiSurfacePropertyType": .multiPolygon
    case "MultiGeometryPropertyType": .geometryCollection
    case "GeometryPropertyType", "GeometryAssociationType", "AbstractGeometryType",
      "GeometricPrimitivePropertyType", "GeometricAggregatePropertyType":
      .geometry
    default: nil
    }
  }

  private static func column(_ type: XMLQName?, _ element: XMLTree) -> ColumnType {
    switch type?.local {
    case "boolean": return .boolean
    case "byte": return .tinyInt
    case "short", "unsignedByte": return .smallInt
    case "int", "unsignedShort": return .mediumInt
    case "long", "integer", "unsignedInt", "unsignedLong", "nonNegativeInteger",
      "positiveInteger", "nonPositiveInteger", "negativeInteger":
      return .integer
    case "float": return .float
    case "double", "decimal", "MeasureType", "LengthType", "AngleType": return .double
    case "date": return .date
    case "dateTime", "TimeInstantType", "TimeInstantPropertyType": return .dateTime
    case "base64Binary": return .blob()
    default: return .text(maximumLength: maximumLength(element))
    }
  }

  private static func maximumLength(_ element: XMLTree) -> Int? {
    let facet = element.child("simpleType")?.child("restriction")?.child("maxLength")
    return facet?["value"].flatMap { Int($0) }
  }
}
