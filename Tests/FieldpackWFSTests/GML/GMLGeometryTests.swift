import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import Testing

@testable import FieldpackWFS

@Suite struct GMLGeometryTests {
  private func read(_ inner: String, asked: String? = nil) throws -> Geometry {
    let root = try XMLTree(
      Array("<a xmlns:gml=\"http://www.opengis.net/gml/3.2\" xmlns:xlink=\"x\">\(inner)</a>".utf8))
    let reader = GMLGeometryReader(axes: AxisOrders(), asked: asked.flatMap { SRSName($0) })
    return try reader.read(root.children[0]).geometry
  }

  @Test(arguments: [
    ("<gml:Point><gml:pos>1 2</gml:pos></gml:Point>", "POINT (1 2)"),
    ("<gml:Point><gml:pos>1 2 3</gml:pos></gml:Point>", "POINT Z (1 2 3)"),
    ("<gml:Point><gml:coordinates>1,2</gml:coordinates></gml:Point>", "POINT (1 2)"),
    (
      "<gml:LineString><gml:coordinates cs=\" \" ts=\";\" decimal=\",\">1,5 2;3 4</gml:coordinates>"
        + "</gml:LineString>", "LINESTRING (1.5 2,3 4)"
    ),
    (
      "<gml:LineString><gml:posList srsDimension=\"3\">1 2 3 4 5 6</gml:posList></gml:LineString>",
      "LINESTRING Z (1 2 3,4 5 6)"
    ),
    (
      "<gml:LineString srsDimension=\"3\"><gml:posList>1 2 3 4 5 6</gml:posList></gml:LineString>",
      "LINESTRING Z (1 2 3,4 5 6)"
    ),
    (
      "<gml:Curve><gml:segments><gml:LineStringSegment><gml:posList>0 0 1 1</gml:posList>"
        + "</gml:LineStringSegment><gml:LineStringSegment><gml:pos>1 1</gml:pos><gml:pos>2 0"
        + "</gml:pos></gml:LineStringSegment></gml:segments></gml:Curve>",
      "LINESTRING (0 0,1 1,2 0)"
    ),
    (
      "<gml:Polygon><gml:interior><gml:LinearRing><gml:posList>1 1 2 1 1 2 1 1</gml:posList>"
        + "</gml:LinearRing></gml:interior><gml:exterior><gml:LinearRing><gml:posList>0 0 9 0 0 9 0 0"
        + "</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon>",
      "POLYGON ((0 0,9 0,0 9,0 0),(1 1,2 1,1 2,1 1))"
    ),
    (
      "<gml:Surface><gml:patches><gml:PolygonPatch><gml:exterior><gml:Ring><gml:curveMember>"
        + "<gml:LineString><gml:posList>0 0 9 0 0 9</gml:posList></gml:LineString></gml:curveMember>"
        + "<gml:curveMember><gml:LineString><gml:posList>0 9 0 0</gml:posList></gml:LineString>"
        + "</gml:curveMember></gml:Ring></gml:exterior></gml:PolygonPatch></gml:patches>"
        + "</gml:Surface>", "POLYGON ((0 0,9 0,0 9,0 0))"
    ),
    (
      "<gml:MultiPoint><gml:pointMember><gml:Point><gml:pos>1 2</gml:pos></gml:Point>"
        + "</gml:pointMember><gml:pointMembers><gml:Point><gml:pos>3 4</gml:pos></gml:Point>"
        + "</gml:pointMembers></gml:MultiPoint>", "MULTIPOINT ((1 2),(3 4))"
    ),
    (
      "<gml:MultiSurface><gml:surfaceMember><gml:Polygon><gml:outerBoundaryIs><gml:LinearRing>"
        + "<gml:coordinates>0,0 1,0 0,1 0,0</gml:coordinates></gml:LinearRing>"
        + "</gml:outerBoundaryIs></gml:Polygon></gml:surfaceMember></gml:MultiSurface>",
      "MULTIPOLYGON (((0 0,1 0,0 1,0 0)))"
    ),
    (
      "<gml:MultiCurve><gml:curveMember><gml:LineString><gml:posList>0 0 1 1</gml:posList>"
        + "</gml:LineString></gml:curveMember></gml:MultiCurve>", "MULTILINESTRING ((0 0,1 1))"
    ),
    (
      "<gml:MultiGeometry><gml:geometryMember><gml:Point><gml:pos>1 2</gml:pos></gml:Point>"
        + "</gml:geometryMember><gml:geometryMembers><gml:LineString><gml:posList>0 0 1 1"
        + "</gml:posList></gml:LineString></gml:geometryMembers></gml:MultiGeometry>",
      "GEOMETRYCOLLECTION (POINT (1 2),LINESTRING (0 0,1 1))"
    ),
    (
      "<gml:OrientableCurve orientation=\"-\"><gml:baseCurve><gml:LineString><gml:posList>0 0 1 1"
        + "</gml:posList></gml:LineString></gml:baseCurve></gml:OrientableCurve>",
      "LINESTRING (1 1,0 0)"
    ),
    ("<gml:Point/>", "POINT EMPTY"),
  ])
  func `are read`(gml: String, wkt: String) throws {
    #expect(try WKT.text(of: read(gml)) == wkt)
  }

  @Test(arguments: [
    ("urn:ogc:def:crs:EPSG::4326", nil, "POINT (2 1)"),
    ("urn:x-ogc:def:crs:EPSG:6.11.2:4326", nil, "POINT (2 1)"),
    ("http://www.opengis.net/def/crs/EPSG/0/4326", nil, "POINT (2 1)"),
    ("http://www.opengis.net/gml/srs/epsg.xml#4326", "urn:ogc:def:crs:EPSG::4326", "POINT (1 2)"),
    ("EPSG:4326", nil, "POINT (1 2)"), ("EPSG:4326", "EPSG:4326", "POINT (1 2)"),
    // MapServer answers so in version 1.1.0.
    ("EPSG:4326", "urn:ogc:def:crs:EPSG::4326", "POINT (2 1)"),
    ("urn:ogc:def:crs:EPSG::25833", nil, "POINT (1 2)"),
    ("urn:ogc:def:crs:EPSG::31467", nil, "POINT (2 1)"),
    ("urn:ogc:def:crs:OGC:1.3:CRS84", nil, "POINT (1 2)"),
    ("", "urn:ogc:def:crs:EPSG::4326", "POINT (2 1)"), ("", nil, "POINT (1 2)"),
  ])
  func `have their axes in the order of their name`(
    name: String, asked: String?, wkt: String
  ) throws {
    let gml = "<gml:Point srsName=\"\(name)\"><gml:pos>1 2</gml:pos></gml:Point>"
    #expect(try WKT.text(of: read(gml, asked: asked)) == wkt)
  }

  @Test func `arcs and circles become lines that lie on them`() throws {
    let segments = [
      "<gml:Arc><gml:posList>1 0 0 1 -1 0</gml:posList></gml:Arc>",
      "<gml:Circle><gml:posList>1 0 0 1 -1 0</gml:posList></gml:Circle>",
      "<gml:CircleByCenterPoint><gml:pos>0 0</gml:pos><gml:radius uom=\"m\">1</gml:radius>"
        + "</gml:CircleByCenterPoint>",
      "<gml:ArcByCenterPoint><gml:pos>0 0</gml:pos><gml:radius uom=\"m\">1</gml:radius>"
        + "<gml:startAngle>0</gml:startAngle><gml:endAngle>180</gml:endAngle>"
        + "</gml:ArcByCenterPoint>",
    ]
    var lengths: [Double] = []
    for segment in segments {
      let line = try read("<gml:Curve><gml:segments>\(segment)</gml:segments></gml:Curve>")
      guard case .lineString(let positions) = line else {
        Issue.record("no line: \(line)")
        continue
      }
      for position in positions {
        #expect(abs(position.x * position.x + position.y * position.y - 1) < 1e-12)
      }
      lengths.append((PlanarMeasures(line).length * 1000 / .pi).rounded() / 1000)
    }
    #expect(lengths == [1, 2, 2, 1])
  }

  @Test(arguments: [
    "<gml:Point><gml:pos>1</gml:pos></gml:Point>", "<gml:Point><gml:pos>1 x</gml:pos></gml:Point>",
    "<gml:LineString><gml:posList>1 2 3 4 5</gml:posList></gml:LineString>",
    "<gml:Point><gml:pos>1 nan</gml:pos></gml:Point>",
    "<gml:Solid/>", "<gml:Point srsName=\"moon\"><gml:pos>1 2</gml:pos></gml:Point>",
    "<gml:MultiPoint><gml:pointMember xlink:href=\"#p\"/></gml:MultiPoint>",
    String(repeating: "<gml:MultiGeometry><gml:geometryMember>", count: 40) + "<gml:Point/>"
      + String(repeating: "</gml:geometryMember></gml:MultiGeometry>", count: 40),
    "<gml:Curve><gml:segments><gml:Circle><gml:posList>0 0 1 1 2 2</gml:posList></gml:Circle>"
      + "</gml:segments></gml:Curve>",
  ])
  func `what is no geometry is refused`(gml: String) throws {
    let error = #expect(throws: FieldpackError.self) { try read(gml) }
    #expect(error?.code == .invalidData)
  }

  @Test(arguments: [
    "POINT (1 2)", "POINT Z (1 2 3)", "LINESTRING (0 0,1 1)",
    "POLYGON ((0 0,9 0,0 9,0 0),(1 1,2 1,1 2,1 1))",
    "MULTIPOINT ((1 2),(3 4))", "MULTILINESTRING ((0 0,1 1))",
    "MULTIPOLYGON (((0 0,1 0,0 1,0 0)))", "GEOMETRYCOLLECTION (POINT (1 2))",
  ])
  func `come back as they were written`(wkt: String) throws {
    let name = try #require(SRSName("urn:ogc:def:crs:EPSG::4326"))
    for version in [WFSVersion.wfs11, .wfs20] {
      let writer = GMLGeometryWriter(version: version, name: name, isNorthFirst: true)
      var xml = XMLWriter()
      writer.write(try WKT.read(wkt), to: &xml, id: "g")
      let text = String(decoding: xml.takeBytes(), as: UTF8.self)
      #expect(try WKT.text(of: read(text)) == wkt)
    }
  }
}
