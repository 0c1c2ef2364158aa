import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

@Suite struct KMLReaderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func read(
    _ body: String, _ change: (inout ReadOptions) -> Void = { _ in }
  ) throws -> GPXReading {
    let text =
      "<kml xmlns=\"http://www.opengis.net/kml/2.2\" "
      + "xmlns:gx=\"http://www.google.com/kml/ext/2.2\">\n\(body)</kml>"
    return try read(bytes: Array(text.utf8), change)
  }

  private func read(
    bytes: [UInt8], _ change: (inout ReadOptions) -> Void = { _ in }
  ) throws -> GPXReading {
    let file = folder.file("\(UUID().uuidString).kml")
    try Data(bytes).write(to: file)
    var options = ReadOptions(layer: "file")
    change(&options)
    return try GPXReading(
      KMLReader(try ByteInput(path: file.path, name: "x.kml"), options: options))
  }

  private func geometry(_ elements: String) throws -> String? {
    let reading = try read("<Placemark>\(elements)</Placemark>")
    return reading.features("file").first?.geometry.map { WKT.text(of: $0) }
  }

  private func point(_ place: String, _ more: String = "") -> String {
    "<Placemark>\(more)<Point><coordinates>\(place)</coordinates></Point></Placemark>\n"
  }

  @Test func `folders are layers in their order`() throws {
    let reading = try read(
      """
      <Document><name>Walk</name>
      <Folder><name> The
        wells </name>\(point("1,2"))</Folder>
      <Folder>\(point("3,4"))<Folder><name>the wells</name>\(point("5,6"))</Folder></Folder>
      <Folder><name>empty</name></Folder>
      \(point("7,8"))</Document>
      """)
    #expect(
      reading.result.layers.map(\.schema.layer) == [
        "Walk", "The wells", "Layer1", "the wells (#2)",
      ])
    #expect(reading.result.counts.values.allSatisfy { $0 == 1 })
    #expect(reading.features("the wells (#2)").map(\.geometry) == [.point(x: 5, y: 6)])
  }

  @Test func `only the layers asked for are read`() throws {
    let body =
      "<Document><name>a</name>\(point("1,2"))<Folder><name>b</name>\(point("x"))</Folder></Document>"
    let reading = try read(body) {
      $0.only = ["a"]
      $0.prefixesLayers = true
      $0.skipsErrors = true
    }
    #expect(reading.result.layers.map(\.schema.layer) == ["file_a"])
  }

  /// Elements of a placemark, and the geometry they make.
  static let shapes: [(String, String?)] = [
    ("<Point><coordinates> 1,2 </coordinates></Point>", "POINT (1 2)"),
    ("<Point><coordinates>1,2,3,9</coordinates></Point>", "POINT Z (1 2 3)"),
    (
      "<LineString><coordinates>1, 2 ,3\n4,5</coordinates></LineString>",
      "LINESTRING Z (1 2 3,4 5 0)"
    ),
    (
      "<LineString><coordinates>1,2,0,3,4,0</coordinates></LineString>",
      "LINESTRING Z (1 2 0,3 4 0)"
    ),
    (
      "<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 4,0 4,4</coordinates></LinearRing>"
        + "</outerBoundaryIs><innerBoundaryIs><LinearRing><coordinates>1,1 2,1 2,2 1,1"
        + "</coordinates></LinearRing></innerBoundaryIs></Polygon>",
      "POLYGON ((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1))"
    ),
    ("<LinearRing><coordinates>0,0 4,0 0,0</coordinates></LinearRing>", "LINESTRING (0 0,4 0,0 0)"),
    (
      "<MultiGeometry><Point><coordinates>1,2</coordinates></Point><Point><coordinates>3,4"
        + "</coordinates></Point></MultiGeometry>", "MULTIPOINT ((1 2),(3 4))"
    ),
    (
      "<MultiGeometry><Point><coordinates>1,2</coordinates></Point><MultiGeometry><LineString>"
        + "<coordinates>3,4 5,6</coordinates></LineString></MultiGeometry></MultiGeometry>",
      "GEOMETRYCOLLECTION (POINT (1 2),MULTILINESTRING ((3 4,5 6)))"
    ),
    (
      "<Model><Location><longitude>1</longitude><latitude>2</latitude><altitude>3</altitude>"
        + "</Location></Model>", "POINT Z (1 2 3)"
    ),
    (
      "<gx:Track><when>1970-01-01T00:00:01Z</when><when>1970-01-01T00:00:02.5Z</when>"
        + "<gx:coord>1 2 3</gx:coord><gx:coord>4 5 6</gx:coord></gx:Track>",
      "LINESTRING ZM (1 2 3 1,4 5 6 2.5)"
    ),
    ("<Point><coordinates/></Point>", nil), ("<MultiGeometry/>", nil), ("<Polygon/>", nil),
  ]

  @Test(arguments: shapes)
  func `geometries are read`(elements: String, wkt: String?) throws {
    #expect(try geometry(elements) == wkt)
  }

  @Test func `a layer of single and multi geometries is of the multi type`() throws {
    let line = "<LineString><coordinates>1,2 3,4</coordinates></LineString>"
    let reading = try read(
      "<Document><Placemark>\(line)</Placemark>"
        + "<Placemark><MultiGeometry>\(line)\(line)</MultiGeometry></Placemark></Document>")
    #expect(reading.schema("file")?.geometry?.type == .multiLineString)
    #expect(
      reading.features("file").map { $0.geometry?.type } == [.multiLineString, .multiLineString])
  }

  @Test func `extended data are typed by their schema`() throws {
    let reading = try read(
      """
      <Document><Schema name="s" id="s1"><SimpleField type="int" name="n"/>
      <SimpleField type="double" name="d"/><SimpleField type="bool" name="b"/>
      <SimpleField type="string" name="Name"/><SimpleField type="int" name="bad"/></Schema>
      <Placemark id="p1"><name>one</name><visibility>1</visibility><ExtendedData>
      <Data name="free"><value>07</value></Data><SchemaData schemaUrl="#s1">
      <SimpleData name="n">7</SimpleData><SimpleData name="d">1</SimpleData>
      <SimpleData name="b">true</SimpleData><SimpleData name="Name">two</SimpleData>
      <SimpleData name="bad">x1</SimpleData></SchemaData></ExtendedData></Placemark></Document>
      """)
    #expect(
      reading.columns("file") == [
        "id TEXT", "Name TEXT", "visibility INTEGER", "free TEXT", "n INTEGER", "d REAL",
        "b BOOLEAN", "Name_2 TEXT", "bad TEXT",
      ])
    #expect(
      reading.features("file").first?.attributes == [
        "id": "p1", "Name": "one", "visibility": 1, "free": "07", "n": 7, "d": .real(1), "b": true,
        "Name_2": "two", "bad": "x1",
      ])
    #expect(
      reading.result.notes.map(\.description) == [
        "layer 'file': the data 'Name' are in column 'Name_2'"
      ])
  }

  @Test func `times are typed where all are whole`() throws {
    let reading = try read(
      "<Document>"
        + point("1,2", "<TimeStamp><when>2007-01-14T21:05:02Z</when></TimeStamp>")
        + point("1,2", "<TimeSpan><begin>2007</begin><end>2007-01-14</end></TimeSpan>")
        + "</Document>")
    #expect(reading.columns("file") == ["timestamp DATETIME", "begin TEXT", "end DATE"])
    #expect(reading.values("file", "begin") == [.null, "2007"])
  }

  @Test func `a style map stands in a placemark, and a style in its pair`() throws {
    let style = "<Style><IconStyle><color>ff112233</color></IconStyle></Style>"
    let pair = "<Pair><key>normal</key>\(style)</Pair>"
    let reading = try read(
      "<Document><StyleMap id=\"m\">\(pair)</StyleMap>"
        + point("1,2", "<StyleMap>\(pair)</StyleMap>") + point("1,2", "<styleUrl>#m</styleUrl>")
        + point("1,2", "<StyleMap><Pair><key>normal</key><styleUrl>#m</styleUrl></Pair></StyleMap>")
        + "</Document>")
    #expect(
      reading.features("file").map(\.attributes)
        == Array(repeating: ["marker-color": "#332211"], count: 3))
  }

  @Test(arguments: [true, false])
  func `colours of styles are columns, wherever the styles stand`(comesFirst: Bool) throws {
    let styles = """
      <Style id="a"><LineStyle><color>7f0000ff</color><width>2.5</width></LineStyle>
      <PolyStyle><color>#ff00ff00</color><fill>0</fill></PolyStyle></Style>
      <StyleMap id="m"><Pair><key>normal</key><styleUrl>#a</styleUrl></Pair>
      <Pair><key>highlight</key><Style><LineStyle><color>00000000</color></LineStyle></Style></Pair>
      </StyleMap>
      """
    let ring = "<LinearRing><coordinates>0,0 1,0 1,1</coordinates></LinearRing>"
    let places = """
      <Placemark><styleUrl>#m</styleUrl><Polygon><outerBoundaryIs>\(ring)</outerBoundaryIs></Polygon>
      </Placemark>
      <Placemark><styleUrl>#m</styleUrl><Style><LineStyle><color>ffff0000</color></LineStyle></Style>
      \(ring)</Placemark>
      \(point("1,2", "<Style><IconStyle><color>ff112233</color></IconStyle></Style>"))
      """
    let reading = try read("<Document>\(comesFirst ? styles + places : places + styles)</Document>")
    #expect(
      reading.features("file").map(\.attributes) == [
        [
          "stroke": "#ff0000", "stroke-opacity": 0.498, "stroke-width": 2.5, "fill": "#00ff00",
          "fill-opacity": .real(0),
        ], ["stroke": "#0000ff", "stroke-opacity": .real(1), "stroke-width": 2.5],
        ["marker-color": "#332211"],
      ])
  }

  @Test func `what is not read is counted`() throws {
    let reading = try read(
      "<Document><NetworkLink><Link><href>http://example.com/</href></Link></NetworkLink>"
        + "<ScreenOverlay/><NetworkLinkControl><Update/></NetworkLinkControl>"
        + point("1,2", "<styleUrl>#none</styleUrl>") + "</Document>")
    #expect(
      reading.result.notes.map(\.description) == [
        "1 network links are not followed",
        "1 overlays and tours without a place on the map are left out",
        "1 features name a style that is not in the file",
      ])
  }

  // MARK: Errors

  @Test(arguments: [
    ("1,x", "the coordinates have 'x' in the place of a number"),
    ("1", "the coordinates have the end in the place of a latitude"),
    ("1,1e999", "the coordinates have '1e999' in the place of a number"),
  ])
  func `bad coordinates are an error with the line`(place: String, message: String) throws {
    let body = "<Document>\n\(point("1,2"))\(point(place))</Document>"
    let error = try #require(throws: FieldpackError.self) { try read(body) }
    #expect(error.message == message)
    #expect(error.position == FilePosition(file: "x.kml", line: 4))
    let reading = try read(body) { $0.skipsErrors = true }
    #expect(reading.features("file").count == 1)
    #expect(reading.result.skipped.listed.map(\.reason) == [message])
  }

  static let hostile: [(String, String)] = [
    ("<gpx/>", "not a KML file: its root element is 'gpx'"), ("", "the file is empty"),
    (
      "<!DOCTYPE kml [<!ENTITY a \"aa\">]><kml>&a;</kml>",
      "the document declares an entity, which is refused"
    ),
    (
      "<kml><Placemark>" + String(repeating: "<MultiGeometry>", count: 40)
        + String(repeating: "</MultiGeometry>", count: 40) + "</Placemark></kml>",
      "geometries nest deeper than 32"
    ),
  ]

  @Test(arguments: hostile)
  func `hostile files are refused`(text: String, message: String) throws {
    let error = try #require(throws: FieldpackError.self) { try read(bytes: Array(text.utf8)) }
    #expect(error.message == message)
  }

  @Test func `a damaged file is an error or a result`() throws {
    let text = """
      <kml><Document><Style id="a"><LineStyle><color>7f0000ff</color></LineStyle></Style><Folder>
      <name>f</name><Placemark><styleUrl>#a</styleUrl><gx:Track><when>2007</when><gx:coord>1 2 3
      </gx:coord></gx:Track></Placemark></Folder></Document></kml>
      """
    let bytes = Array(text.utf8)
    for index in bytes.indices {
      #expect(throws: FieldpackError.self) { try read(bytes: Array(bytes[..<index])) }
      var changed = bytes
      changed[index] ^= 0x15
      do { _ = try read(bytes: changed) } catch is FieldpackError {}
    }
  }
}
