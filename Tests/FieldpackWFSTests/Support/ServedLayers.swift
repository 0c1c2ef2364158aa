import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import FoundationEssentials

@testable import FieldpackFormats
@testable import FieldpackWFS

/// A Web Feature Service made from features in memory, shaped as GeoServer's answers are.
final class ServedLayers: Sendable {
  struct Options: Sendable {
    var version = WFSVersion.wfs20
    /// Put before the names of layers, as `survey:`.
    var prefix = ""
    var offersJSON = false
    var refusesJSON = false
    /// Refuses every condition.
    var refusesFilters = false
    var pages = true
    /// The most features of an answer.
    var cap = Int.max
    /// What the service says of its pages.
    var ignoresStart = false
    /// How many features more than there are the service says match.
    var lie = 0
    var takesChanges = false
    /// Tells a failed change in the answer to a transaction, and counts all of them.
    var complains = false
    /// Names the new features of a transaction from the last to the first, with the handles of inserts.
    var reversesHandles = false
    /// Whether `numberMatched` is `unknown`.
    var hidesMatched = false
    /// Whether pages name no next one.
    var hidesNext = false
  }

  let schemas: [Schema]
  let options: Options
  let held: Locked<[LayerID: [Feature]]>
  var features: [LayerID: [Feature]] { held.withLock { $0 } }

  init(_ schemas: [Schema], _ features: [LayerID: [Feature]], _ options: Options) {
    (self.schemas, self.options) = (schemas, options)
    held = Locked(features)
  }

  /// Serves the layers; the server goes with the value.
  func serve() throws -> LoopbackServer {
    try LoopbackServer { [self] request in answer(request) }
  }

  func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Reply {
    let asked = Asked(request)
    switch asked["request"] {
    case "GetCapabilities": return xml(capabilities())
    case "DescribeFeatureType": return xml(description(asked.typeName))
    case "GetFeature": return getFeature(asked)
    case "Transaction": return transact(request.body)
    default: return report("OperationNotSupported", "request", "no such request")
    }
  }

  func xml(_ text: String) -> LoopbackServer.Reply {
    .text(200, text, fields: [["Content-Type", "text/xml"]])
  }

  func report(_ code: String, _ locator: String, _ text: String) -> LoopbackServer.Reply {
    xml(
      """
      <ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1" version="2.0.0">
      <ows:Exception exceptionCode="\(code)" locator="\(locator)">
      <ows:ExceptionText>\(text)</ows:ExceptionText></ows:Exception></ows:ExceptionReport>
      """)
  }

  // MARK: Descriptions

  var isNew: Bool { options.version == .wfs20 }

  private func capabilities() -> String {
    let system = isNew ? "DefaultCRS" : "DefaultSRS"
    let types = schemas.map { schema in
      let geometries = (features[schema.layer] ?? []).compactMap(\.geometry?.envelope)
      var box = geometries.first
      for other in geometries { box?.formUnion(other) }
      let srs = schema.geometry.map { "urn:ogc:def:crs:\($0.srs.organization)::\($0.srs.code)" }
      let extent = box.map {
        """
        <ows:WGS84BoundingBox><ows:LowerCorner>\($0.minX) \($0.minY)</ows:LowerCorner>
        <ows:UpperCorner>\($0.maxX) \($0.maxY)</ows:UpperCorner></ows:WGS84BoundingBox>
        """
      }
      return """
        <FeatureType><Name>\(options.prefix)\(schema.layer)</Name>
        <Title>The \(schema.layer)</Title>
        \(srs.map { "<\(system)>\($0)</\(system)>" } ?? "<NoCRS/>")\(extent ?? "")</FeatureType>
        """
    }
    let json = options.offersJSON ? "<ows:Value>application/json</ows:Value>" : ""
    return """
      <wfs:WFS_Capabilities xmlns="\(options.version.namespace)"
       xmlns:wfs="\(options.version.namespace)" xmlns:ows="http://www.opengis.net/ows/1.1"
       xmlns:survey="urn:survey" xmlns:fes="\(options.version.fes)"
       version="\(options.version.rawValue)"><ows:OperationsMetadata>
      <ows:Operation name="GetFeature"><ows:Parameter name="outputFormat"><ows:AllowedValues>
      <ows:Value>text/xml; subtype=gml/3.2</ows:Value>\(json)</ows:AllowedValues></ows:Parameter>
      </ows:Operation>\(options.takesChanges ? "<ows:Operation name=\"Transaction\"/>" : "")
      <ows:Constraint name="ImplementsResultPaging"><ows:NoValues/>
      <ows:DefaultValue>\(options.pages ? "TRUE" : "FALSE")</ows:DefaultValue></ows:Constraint>
      </ows:OperationsMetadata><FeatureTypeList>\(types.joined())</FeatureTypeList>
      \(operators)</wfs:WFS_Capabilities>
      """
  }

  private var operators: String {
    let spatial = ["BBOX", "Intersects"].map { "<fes:SpatialOperator name=\"\($0)\"/>" }
    let names =
      isNew
      ? [
        "EqualTo", "NotEqualTo", "LessThan", "LessThanOrEqualTo", "GreaterThan",
        "GreaterThanOrEqualTo", "Like", "Between", "Null",
      ].map { "<fes:ComparisonOperator name=\"PropertyIs\($0)\"/>" }
      : [
        "EqualTo", "NotEqualTo", "LessThan", "LessThanEqualTo", "GreaterThan",
        "GreaterThanEqualTo", "Like", "Between", "NullCheck",
      ].map { "<fes:ComparisonOperator>\($0)</fes:ComparisonOperator>" }
    return """
      <fes:Filter_Capabilities><fes:Spatial_Capabilities><fes:SpatialOperators>
      \(spatial.joined())</fes:SpatialOperators></fes:Spatial_Capabilities>
      <fes:Scalar_Capabilities><fes:LogicalOperators/><fes:ComparisonOperators>
      \(names.joined())</fes:ComparisonOperators></fes:Scalar_Capabilities>
      </fes:Filter_Capabilities>
      """
  }

  /// The descriptions of layers whose names are separated by commas.
  private func description(_ names: String) -> String {
    let types = names.split(separator: ",").compactMap { schema(String($0)) }.map(type)
    return """
      <schema xmlns="http://www.w3.org/2001/XMLSchema" xmlns:survey="urn:survey"
       xmlns:gml="\(options.version.gml)" targetNamespace="urn:survey">
      \(types.joined())</schema>
      """
  }

  private func type(_ schema: Schema) -> String {
    let columns = schema.columns.map { column in
      let type =
        switch column.type {
        case .integer: "long"
        case .double: "double"
        case .dateTime: "dateTime"
        case .date: "date"
        case .boolean: "boolean"
        default: "string"
        }
      return "<element name=\"\(column.name)\" minOccurs=\"0\" nillable=\"true\" type=\"\(type)\"/>"
    }
    let geometry = schema.geometry.map {
      "<element name=\"\($0.name)\" minOccurs=\"0\" type=\"gml:GeometryPropertyType\"/>"
    }
    return """
      <complexType name="\(schema.layer)Type"><complexContent>
      <extension base="gml:AbstractFeatureType"><sequence>
      \(geometry ?? "")\(columns.joined())
      </sequence></extension></complexContent></complexType>
      <element name="\(schema.layer)" type="survey:\(schema.layer)Type"/>
      """
  }

  func schema(_ name: String) -> Schema? {
    schemas.first { options.prefix + $0.layer.rawValue == name }
  }

  // MARK: Features

  private func getFeature(_ asked: Asked) -> LoopbackServer.Reply {
    guard let schema = schema(asked.typeName) else {
      return report("InvalidParameterValue", "typeName", "no such layer")
    }
    let isJSON = asked["outputformat"]?.contains("json") ?? false
    if isJSON, options.refusesJSON {
      return report("InvalidParameterValue", "outputFormat", "no JSON today")
    }
    if options.refusesFilters, asked.filter != nil {
      return report("OperationProcessingFailed", "", "a filter is too hard")
    }
    var found = features[schema.layer] ?? []
    if let filter = asked.filter {
      let test = ServedFilter(schema)
      found = found.filter { test.passes(filter, $0) ?? false }
    }
    if let box = asked.box {
      found = found.filter { $0.geometry?.envelope?.intersects(box) ?? false }
    }
    if let ids = asked["resourceid"] ?? asked["featureid"] {
      let wanted = ids.split(separator: ",").map(String.init)
      found = found.filter { wanted.contains("\(schema.layer).\($0.id!)") }
    }
    let matched = options.hidesMatched ? "unknown" : String(found.count + options.lie)
    if asked["resulttype"] == "hits" {
      return xml(
        collection([], schema, matched: String(found.count), returned: isNew ? 0 : found.count))
    }
    let start = options.ignoresStart ? 0 : Int(asked["startindex"] ?? "") ?? 0
    let count = min(Int(asked["count"] ?? asked["maxfeatures"] ?? "") ?? .max, options.cap)
    let page = Array(found.dropFirst(start).prefix(count))
    if isJSON { return json(page, schema, matched: matched) }
    let hasNext = !options.hidesNext && found.count > start + page.count
    return xml(
      collection(page, schema, matched: matched, returned: page.count, hasNext: hasNext))
  }

  private func collection(
    _ page: [Feature], _ schema: Schema, matched: String, returned: Int, hasNext: Bool = false
  ) -> String {
    let srs = schema.geometry?.srs ?? .wgs84
    let name = SRSName("urn:ogc:def:crs:\(srs.organization)::\(srs.code)")!
    let geometries = GMLGeometryWriter(
      version: options.version, name: name,
      isNorthFirst: AxisOrders().isNorthFirst(name, asked: nil))
    let wfs = options.version.namespace
    let gml = options.version.gml
    var xml = XMLWriter(namespaces: [("wfs", wfs), ("gml", gml), ("survey", "urn:survey")])
    xml.start(XMLQName("FeatureCollection", in: wfs))
    if isNew {
      xml.attribute("numberMatched", matched)
      xml.attribute("numberReturned", String(returned))
      // Never followed: it would lead to another server.
      if hasNext { xml.attribute("next", "http://127.0.0.1:1/elsewhere") }
    } else {
      xml.attribute("numberOfFeatures", String(returned))
    }
    if !isNew { xml.start(XMLQName("featureMembers", in: gml)) }
    for feature in page {
      if isNew { xml.start(XMLQName("member", in: wfs)) }
      xml.start(XMLQName(schema.layer.rawValue, in: "urn:survey"))
      xml.attribute(XMLQName("id", in: gml), "\(schema.layer).\(feature.id!)")
      if let column = schema.geometry, let geometry = feature.geometry {
        xml.start(XMLQName(column.name, in: "urn:survey"))
        geometries.write(geometry, to: &xml, id: "g")
        xml.end()
      }
      for element in feature.attributes.elements where !element.value.isNull {
        xml.element(XMLQName(element.name, in: "urn:survey"), element.value.plainText)
      }
      xml.end()
      if isNew { xml.end() }
    }
    if !isNew { xml.end() }
    xml.end()
    return String(decoding: xml.takeBytes(), as: UTF8.self)
  }

  private func json(
    _ page: [Feature], _ schema: Schema, matched: String
  ) -> LoopbackServer.Reply {
    let features = page.map { feature in
      let properties = feature.attributes.elements.map { element in
        let value =
          switch element.value {
          case .null: "null"
          case .text, .dateTime, .date: "\"\(element.value.plainText)\""
          default: element.value.plainText
          }
        return "\"\(element.name)\":\(value)"
      }
      let geometry = (try? feature.geometry?.geoJSON()) ?? "null"
      return """
        {"type":"Feature","id":"\(schema.layer).\(feature.id!)","geometry":\(geometry),
         "geometry_name":"geom","properties":{\(properties.joined(separator: ","))}}
        """
    }
    let text = """
      {"type":"FeatureCollection","features":[\(features.joined(separator: ","))],
      "totalFeatures":\(matched == "unknown" ? "\"unknown\"" : matched),
      "crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::4326"}}}
      """
    return .text(200, text, fields: [["Content-Type", "application/json"]])
  }
}

/// The parameters of a request, from its address or its document.
struct Asked {
  private var parameters: [String: String] = [:]
  var filter: XMLTree?

  init(_ request: LoopbackServer.Request) {
    let query = request.target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      parameters[parts[0].lowercased()] = Self.decoded(parts.count > 1 ? parts[1] : "")
    }
    if let text = parameters["filter"] {
      filter = (try? XMLTree(Array(text.utf8)))?.children.first
    }
    guard !request.body.isEmpty, let root = try? XMLTree(request.body) else { return }
    parameters["request"] = root.name.local
    for attribute in root.attributes {
      parameters[attribute.name.local.lowercased()] = attribute.value
    }
    guard let query = root.child("Query") else { return }
    for attribute in query.attributes {
      parameters[attribute.name.local.lowercased()] = attribute.value
    }
    filter = query.child("Filter")?.children.first
  }

  subscript(name: String) -> String? { parameters[name] }

  var typeName: String { self["typenames"] ?? self["typename"] ?? "" }

  /// The box, which is in the authority's order.
  var box: Envelope? {
    guard let parts = self["bbox"]?.split(separator: ","), parts.count == 5 else { return nil }
    let numbers = parts.prefix(4).compactMap { Double($0) }
    return Envelope(minX: numbers[1], minY: numbers[0], maxX: numbers[3], maxY: numbers[2])
  }

  private static func decoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.popFirst(), let low = rest.popFirst() {
        bytes.append(UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16) ?? 0)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Tests features as a careless service does: texts ignoring case, and NULL as an empty text.
struct ServedFilter {
  let schema: Schema

  init(_ schema: Schema) { self.schema = schema }

  func passes(_ element: XMLTree, _ feature: Feature) -> Bool? {
    let parts = element.children
    switch element.name.local {
    case "And": return parts.allSatisfy { passes($0, feature) ?? false }
    case "Or": return parts.contains { passes($0, feature) ?? false }
    case "Not": return !(passes(parts[0], feature) ?? false)
    case "PropertyIsNull": return value(parts[0], feature) == nil
    case "BBOX", "Intersects":
      guard let box = box(parts[1]) else { return nil }
      return feature.geometry?.envelope?.intersects(box)
    case "PropertyIsLike":
      guard let text = value(parts[0], feature)?.lowercased() else { return false }
      return LikePattern(parts[1].text.lowercased()).matches(text)
    case "PropertyIsBetween":
      guard let value = value(parts[0], feature) else { return false }
      return order(value, parts[1].children[0].text) >= 0
        && order(value, parts[2].children[0].text) <= 0
    default:
      let order = order(value(parts[0], feature) ?? "", parts[1].text)
      return switch element.name.local {
      case "PropertyIsEqualTo": order == 0
      case "PropertyIsNotEqualTo": order != 0
      case "PropertyIsLessThan": order < 0
      case "PropertyIsGreaterThan": order > 0
      case "PropertyIsLessThanOrEqualTo": order <= 0
      default: order >= 0
      }
    }
  }

  private func value(_ property: XMLTree, _ feature: Feature) -> String? {
    guard let value = feature.attributes[property.text], !value.isNull else { return nil }
    return value.plainText
  }

  private func order(_ a: String, _ b: String) -> Int {
    if let a = Double(a), let b = Double(b) { return a < b ? -1 : a == b ? 0 : 1 }
    let (a, b) = (a.lowercased(), b.lowercased())
    return a < b ? -1 : a == b ? 0 : 1
  }

  private func box(_ element: XMLTree) -> Envelope? {
    let reader = GMLGeometryReader(axes: AxisOrders(), asked: nil)
    return try? reader.read(element).geometry.envelope
  }
}
