package import FieldpackCore
import FieldpackFormats
package import FieldpackGeometry

/// Inserts one feature by a transaction of version 1.0.0, as the Exchange backend of SpatialConnect
/// takes it.
///
/// Geometries are GML 2 with longitude before latitude, in WGS 84.
package struct WFSInsert: Sendable {
  /// The layer's name, without the prefix of its namespace.
  package var layer: String
  /// The namespace of the layer, such as `http://www.geonode.org/`.
  package var namespace: String
  package var geometryColumn: String
  package var geometry: Geometry?
  package var attributes: Attributes

  package init(
    layer: String, namespace: String, geometryColumn: String = "wkb_geometry",
    geometry: Geometry?, attributes: Attributes
  ) {
    self.layer = layer
    self.namespace = namespace
    self.geometryColumn = geometryColumn
    self.geometry = geometry
    self.attributes = attributes
  }

  private static let gml = "http://www.opengis.net/gml"
  private static let wfs = "http://www.opengis.net/wfs"

  /// The request.
  package var document: [UInt8] {
    var xml = XMLWriter(
      namespaces: [("wfs", Self.wfs), ("gml", Self.gml), ("layer", namespace)], declaration: true)
    xml.start(XMLQName("Transaction", in: Self.wfs))
    xml.attribute("service", "WFS")
    xml.attribute("version", WFSVersion.wfs10.rawValue)
    xml.start(XMLQName("Insert", in: Self.wfs))
    xml.start(XMLQName(layer, in: namespace))
    if let geometry {
      xml.start(XMLQName(geometryColumn, in: namespace))
      write(geometry.linearized(), to: &xml, isOuter: true)
      xml.end()
    }
    for element in attributes.elements where !element.value.isNull {
      xml.element(XMLQName(element.name, in: namespace), element.value.plainText)
    }
    xml.end()
    xml.end()
    xml.end()
    return xml.takeBytes()
  }

  private func write(_ geometry: Geometry, to xml: inout XMLWriter, isOuter: Bool) {
    func start(_ local: String) {
      xml.start(XMLQName(local, in: Self.gml))
      if isOuter { xml.attribute("srsName", "http://www.opengis.net/gml/srs/epsg.xml#4326") }
    }
    func gather(_ local: String, _ member: String, _ parts: [Geometry]) {
      start(local)
      for part in parts {
        xml.start(XMLQName(member, in: Self.gml))
        write(part, to: &xml, isOuter: false)
        xml.end()
      }
      xml.end()
    }
    switch geometry {
    case .point(let position, _):
      start("Point")
      coordinates(position.map { [$0] } ?? [], to: &xml)
      xml.end()
    case .lineString(let line), .circularString(let line):
      start("LineString")
      coordinates(Array(line), to: &xml)
      xml.end()
    case .polygon(let rings, _):
      start("Polygon")
      for (index, ring) in rings.enumerated() {
        xml.start(XMLQName(index == 0 ? "outerBoundaryIs" : "innerBoundaryIs", in: Self.gml))
        xml.start(XMLQName("LinearRing", in: Self.gml))
        coordinates(Array(ring), to: &xml)
        xml.end()
        xml.end()
      }
      xml.end()
    case .multiPoint(let points, let dimensions):
      gather("MultiPoint", "pointMember", points.map { .point($0, dimensions) })
    case .multiLineString(let lines, _):
      gather("MultiLineString", "lineStringMember", lines.map { .lineString($0) })
    case .multiPolygon(let polygons, let dimensions):
      gather("MultiPolygon", "polygonMember", polygons.map { .polygon($0, dimensions) })
    case .geometryCollection(let members, _), .composite(_, let members, _):
      gather("MultiGeometry", "geometryMember", members)
    }
  }

  private func coordinates(_ positions: [Position], to xml: inout XMLWriter) {
    var bytes: [UInt8] = []
    for position in positions {
      if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
      NumberText.append(position.x, to: &bytes)
      bytes.append(UInt8(ascii: ","))
      NumberText.append(position.y, to: &bytes)
    }
    xml.start(XMLQName("coordinates", in: Self.gml))
    xml.attribute("decimal", ".")
    xml.attribute("cs", ",")
    xml.attribute("ts", " ")
    xml.text(String(decoding: bytes, as: UTF8.self))
    xml.end()
  }

  /// The id that the service gave the feature, such as `wells.7`.
  ///
  /// - Throws: what the service reports; `.invalidData` for an answer that is none.
  package static func id(in answer: [UInt8]) throws(FieldpackError) -> String {
    let root = try XMLTree(answer)
    if ExceptionReport.isOne(root) { throw ExceptionReport.error(root) }
    let result = root.child("TransactionResult")
    if let status = result?.child("Status"), status.child("SUCCESS") == nil {
      let text = ExceptionReport.shown(result?.child("Message")?.text ?? "")
      let locator = result?.child("Locator")?.text
      throw FieldpackError(
        .unavailable, .exception(code: "FAILED", locator: locator, text: text),
        "the service has not taken the feature: \(text.isEmpty ? "no reason given" : text)")
    }
    guard root.name.local == "WFS_TransactionResponse", result != nil,
      let id = root.child("InsertResult")?.child("FeatureId")?["fid"]
    else {
      throw FieldpackError(
        .invalidData, .otherDocument, "the answer to an insert names no feature")
    }
    return id
  }
}
