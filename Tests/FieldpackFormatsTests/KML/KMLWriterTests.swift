import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

@Suite(.programs) struct KMLWriterTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func input(_ text: String) throws -> ByteInput {
    try ByteInput(path: folder.write(text, to: "x.kml").path)
  }

  /// What the writer makes of a KML text that is read.
  private func written(_ text: String) throws -> String {
    var reader = KMLReader(try input(text), options: ReadOptions(layer: "file"))
    let layers = try GPXReading(reader).result.layers
    let output = ByteOutput()
    var writer = KMLWriter(output)
    _ = try reader.read(as: layers, into: &writer)
    try writer.finish()
    return String(decoding: output.buffer, as: UTF8.self)
  }

  private static let text = """
    <?xml version="1.0" encoding="UTF-8"?>
    <kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
    <Document>
    <Document>
    <name>wells &amp; more</name>
    <Schema name="wells &amp; more" id="layer1">
    <SimpleField type="int" name="depth"/>
    </Schema>
    <Placemark><name>a &lt; b</name><visibility>0</visibility><description>d</description>\
    <TimeStamp><when>2007-01-14T21:05:02.000Z</when></TimeStamp>\
    <Style><IconStyle><color>ff332211</color></IconStyle></Style>\
    <ExtendedData><SchemaData schemaUrl="#layer1"><SimpleData name="depth">7</SimpleData>\
    </SchemaData></ExtendedData>\
    <Point><altitudeMode>absolute</altitudeMode><coordinates>1.5,2,3</coordinates></Point></Placemark>
    <Placemark></Placemark>
    </Document>
    <Document>
    <name>fields</name>
    <Placemark><Style><LineStyle><color>7f0000ff</color><width>2.5</width></LineStyle>\
    <PolyStyle><fill>0</fill></PolyStyle></Style><Polygon><outerBoundaryIs><LinearRing>\
    <coordinates>0,0 4,0 4,4 0,0</coordinates></LinearRing></outerBoundaryIs><innerBoundaryIs>\
    <LinearRing><coordinates>1,1 2,2 2,1 1,1</coordinates></LinearRing></innerBoundaryIs></Polygon>\
    </Placemark>
    </Document>
    </Document>
    </kml>

    """

  @Test func `what is written is read and written the same`() throws {
    #expect(try written(Self.text) == Self.text)
  }

  @Test func `times of a track come back as times, and other measures are left out`() throws {
    let output = ByteOutput()
    var writer = KMLWriter(output)
    try writer.begin(
      Schema(layer: "w", geometry: GeometryColumn(type: .lineString, srs: .wgs84, m: .mandatory)))
    for wkt in [
      "LINESTRING M (1 2 1700000000, 3 4 1700000001.25)", "LINESTRING M (1 2 0, 3 4 120)",
      "LINESTRING M (1 2 1700000001, 3 4 1700000000)",
    ] {
      try writer.feature(ValueRow(id: 1, [], wkb: WKB.bytes(of: try WKT.read(wkt))))
    }
    try writer.finish()
    #expect(writer.notes == ["layer 'w': the m of its geometries is left out"])
    let text = String(decoding: output.buffer, as: UTF8.self)
    let track =
      "<gx:Track><when>2023-11-14T22:13:20Z</when><when>2023-11-14T22:13:21.250Z</when>"
      + "<gx:coord>1 2</gx:coord><gx:coord>3 4</gx:coord></gx:Track>"
    let line = "<LineString><coordinates>1,2 3,4</coordinates></LineString>"
    #expect(
      text.split(separator: "\n").filter { $0.hasPrefix("<Placemark>") } == [
        "<Placemark>\(track)</Placemark>",
        "<Placemark>\(line)</Placemark>", "<Placemark>\(line)</Placemark>",
      ])
    #expect(try written(text) == text)
  }

  @Test func `several tracks are one of several parts`() throws {
    let output = ByteOutput()
    var writer = KMLWriter(output)
    try writer.begin(
      Schema(
        layer: "w", geometry: GeometryColumn(type: .multiLineString, srs: .wgs84, m: .mandatory)))
    for wkt in [
      "MULTILINESTRING M ((1 2 1700000000, 3 4 1700000000), EMPTY)",
      "MULTILINESTRING M ((1 2 0, 3 4 120), (1 2 1700000000, 3 4 1700000000))",
    ] {
      try writer.feature(ValueRow(id: 1, [], wkb: WKB.bytes(of: try WKT.read(wkt))))
    }
    try writer.finish()
    let time = "<when>2023-11-14T22:13:20Z</when>"
    let track =
      "<gx:Track>\(time)\(time)<gx:coord>1 2</gx:coord><gx:coord>3 4</gx:coord></gx:Track>"
    let line = "<LineString><coordinates>1,2 3,4</coordinates></LineString>"
    #expect(
      String(decoding: output.buffer, as: UTF8.self).split(separator: "\n")
        .filter { $0.hasPrefix("<Placemark>") } == [
          "<Placemark><gx:MultiTrack>\(track)</gx:MultiTrack></Placemark>",
          "<Placemark><MultiGeometry>\(line)\(track)</MultiGeometry></Placemark>",
        ])
  }

  @Test func `rings get KML's orientation`() throws {
    let turned = Self.text.replacingOccurrences(of: "0,0 4,0 4,4 0,0", with: "0,0 4,4 4,0 0,0")
      .replacingOccurrences(of: "1,1 2,2 2,1 1,1", with: "1,1 2,1 2,2 1,1")
    #expect(turned != Self.text)
    #expect(try written(turned) == Self.text)
  }

  @Test func `layers that alternate are documents that follow each other`() throws {
    let output = ByteOutput()
    var encoder = KMLWriter(output).encoder()
    var writer = KMLWriter(output)
    for name: LayerID in ["a", "b"] {
      try writer.begin(Schema(layer: name))
      try encoder.begin(Schema(layer: name))
    }
    try writer.take(from: &encoder)
    try writer.finish()
    // Layers without features leave nothing.
    let text = String(decoding: output.buffer, as: UTF8.self)
    #expect(text.components(separatedBy: "<Document>").count == 2)
    #expect(try GPXReading(KMLReader(input(text), options: .init(layer: "x"))).result.layers == [])
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
  func `GDAL reads what is written`() throws {
    let file = try folder.write(Self.text, to: "ours.kml")
    let csv = try Programs.output(
      try #require(Programs.ogr2ogr),
      [
        "-f", "CSV", "/vsistdout/", file.path, "wells & more", "-select", "Name,depth", "-lco",
        "GEOMETRY=AS_WKT",
      ])
    // Versions of GDAL differ in the digits of whole numbers.
    let wells = csv.replacingOccurrences(of: "2.0", with: "2")
    #expect(wells == "WKT,Name,depth\n\"POINT Z (1.5 2 3)\",a < b,\"7\"\n,,\n")
  }
}
