import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// Writes geometries as GML 3.1 or 3.2, with straight lines.
struct GMLGeometryWriter: Sendable {
  let version: WFSVersion
  /// The name that the geometries get, and the order of their axes.
  let name: SRSName
  let isNorthFirst: Bool

  var namespace: String { version.gml }

  /// GML 3.2 has no more lines and polygons in plural. With 3.1 some services read nothing else.
  private var isNew: Bool { version == .wfs20 }

  func write(_ geometry: Geometry, to xml: inout XMLWriter, id: String? = nil) {
    write(geometry.linearized(), to: &xml, isOuter: true, id: id)
  }

  private func qualified(_ local: String) -> XMLQName { XMLQName(local, in: namespace) }

  private func start(_ local: String, _ isOuter: Bool, _ id: String?, to xml: inout XMLWriter) {
    xml.start(qualified(local))
    if let id, isNew { xml.attribute(qualified("id"), id) }
    if isOuter { xml.attribute("srsName", name.text) }
  }

  private func write(
    _ geometry: Geometry, to xml: inout XMLWriter, isOuter: Bool, id: String?
  ) {
    func gather(_ local: String, _ member: String, _ parts: [Geometry]) {
      start(local, isOuter, id, to: &xml)
      for (index, part) in parts.enumerated() {
        xml.start(qualified(member))
        write(part, to: &xml, isOuter: false, id: id.map { "\($0).\(index + 1)" })
        xml.end()
      }
      xml.end()
    }
    switch geometry {
    case .point(let position, _):
      start("Point", isOuter, id, to: &xml)
      if let position { xml.element(qualified("pos"), text([position])) }
      xml.end()
    case .lineString(let line), .circularString(let line):
      start("LineString", isOuter, id, to: &xml)
      writeList(line, to: &xml)
      xml.end()
    case .polygon(let rings, _):
      start("Polygon", isOuter, id, to: &xml)
      for (index, ring) in rings.enumerated() {
        xml.start(qualified(index == 0 ? "exterior" : "interior"))
        xml.start(qualified("LinearRing"))
        writeList(ring, to: &xml)
        xml.end()
        xml.end()
      }
      xml.end()
    case .multiPoint(let points, let dimensions):
      gather("MultiPoint", "pointMember", points.map { .point($0, dimensions) })
    case .multiLineString(let lines, _):
      let names = isNew ? ("MultiCurve", "curveMember") : ("MultiLineString", "lineStringMember")
      gather(names.0, names.1, lines.map { .lineString($0) })
    case .multiPolygon(let polygons, let dimensions):
      let names = isNew ? ("MultiSurface", "surfaceMember") : ("MultiPolygon", "polygonMember")
      gather(names.0, names.1, polygons.map { .polygon($0, dimensions) })
    case .geometryCollection(let members, _), .composite(_, let members, _):
      gather("MultiGeometry", "geometryMember", members)
    }
  }

  private func writeList(_ line: CoordinateSequence, to xml: inout XMLWriter) {
    xml.start(qualified("posList"))
    if line.dimensions.hasZ { xml.attribute("srsDimension", "3") }
    xml.text(text(line))
    xml.end()
  }

  /// The ordinates in the order of the name's axes, in full digits; m is left out.
  func text(_ positions: some Sequence<Position>) -> String {
    var bytes: [UInt8] = []
    for position in positions {
      let ordinates = [
        isNorthFirst ? position.y : position.x, isNorthFirst ? position.x : position.y,
        position.z,
      ]
      for case let ordinate? in ordinates {
        if !bytes.isEmpty { bytes.append(0x20) }
        NumberText.append(ordinate, to: &bytes)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A box as an envelope of GML.
  func write(_ box: Envelope, to xml: inout XMLWriter) {
    xml.start(qualified("Envelope"))
    xml.attribute("srsName", name.text)
    xml.element(qualified("lowerCorner"), text([Position(x: box.minX, y: box.minY)]))
    xml.element(qualified("upperCorner"), text([Position(x: box.maxX, y: box.maxY)]))
    xml.end()
  }
}

extension WFSVersion {
  /// The namespace of GML that goes with the version.
  var gml: String {
    self == .wfs20 ? "http://www.opengis.net/gml/3.2" : "http://www.opengis.net/gml"
  }

  /// The namespace of filters.
  var fes: String {
    self == .wfs20 ? "http://www.opengis.net/fes/2.0" : "http://www.opengis.net/ogc"
  }
}
