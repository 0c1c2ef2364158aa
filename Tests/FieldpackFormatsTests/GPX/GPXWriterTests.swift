import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

/// What writing layers as GPX gave.
struct GPXWriting {
  var text: String
  var skipped: [SkippedFeature]
  var notes: [String]

  init(_ layers: [(Schema, [Feature])], skipsErrors: Bool = false) throws {
    let output = ByteOutput()
    var options = GPXWriter.Options()
    options.skipsErrors = skipsErrors
    var writer = GPXWriter(output, options: options)
    for (schema, features) in layers {
      try writer.begin(schema)
      for feature in features {
        try writer.feature(ValueRow(feature, id: feature.id ?? 0, schema: schema))
      }
    }
    try writer.finish()
    text = String(decoding: output.buffer, as: UTF8.self)
    skipped = writer.skipped
    notes = writer.notes
  }

  init(_ reading: GPXReading) throws {
    try self.init(
      reading.result.layers.map { ($0.schema, reading.features($0.schema.layer)) })
  }

  /// The lines between the root's tags.
  var body: [String] {
    Array(text.split(separator: "\n").map(String.init).dropFirst(2).dropLast())
  }

  /// What `xmllint` has against the text, nothing where it is valid.
  func complaints() throws -> String {
    let folder = try TemporaryFolder()
    let url = try folder.write(text, to: "out.gpx")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Self.xmllint)
    process.arguments = [
      "--noout", "--nonet", "--schema", SharedData.url("real/gpx-schema/gpx.xsd").path, url.path,
    ]
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = pipe
    try process.run()
    let said = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? "" : String(decoding: said, as: UTF8.self)
  }

  static let xmllint = "/usr/bin/xmllint"
  static var canValidate: Bool {
    SharedData.isPresent && FileManager.default.isExecutableFile(atPath: xmllint)
  }
  static let cannotValidate = "xmllint or the data folder is absent: the schema is not checked"
}

@Suite struct GPXWriterTests {
  static func text(_ names: [String]) -> [ColumnDefinition] {
    names.map { ColumnDefinition($0, .text()) }
  }

  @Test func `a document has the root of GPX 1.1`() throws {
    #expect(
      try GPXWriting([]).text == """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="Fieldpack" xmlns="http://www.topografix.com/GPX/1/1" \
        xmlns:fieldpack="https://fieldpack.dev/gpx/1">
        </gpx>

        """)
  }

  @Test func `points are waypoints, their attributes elements in the schema's order`() throws {
    let schema = Schema(
      layer: "wells", geometry: GeometryColumn(),
      columns: [
        ColumnDefinition("Depth (m)", .double), ColumnDefinition("SAT", .integer),
        ColumnDefinition("Name", .text()), ColumnDefinition("time", .dateTime),
        ColumnDefinition("ele", .double), ColumnDefinition("link1_href", .text()),
        ColumnDefinition("link1_text", .text()), ColumnDefinition("dry", .boolean),
      ])
    let time = try #require(Instant("2024-05-01T10:00:00.250Z"))
    let features = [
      Feature(
        id: 1, geometry: .point(Position(x: 180, y: -1e-9, z: 7), .xyz),
        attributes: [
          "Depth (m)": 2.5, "SAT": 4, "Name": "A<&>\u{1}\"", "time": .dateTime(time),
          "ele": 500.0, "link1_href": "http://x/?a&b", "link1_text": "t", "dry": true,
        ]),
      Feature(
        id: 2,
        geometry: .multiPoint(
          [Position(x: 1, y: 2, z: 3, m: 0), Position(x: 3, y: 4, z: .nan, m: 1.5)], .xyzm),
        attributes: ["SAT": -1]),
      Feature(id: 3, geometry: nil),
    ]
    let writing = try GPXWriting([(schema, features)])
    #expect(
      writing.body == [
        "<wpt lat=\"-0.000000001\" lon=\"-180\"><ele>500</ele><time>2024-05-01T10:00:00.250Z</time>"
          + "<name>A&lt;&amp;&gt;\u{FFFD}\"</name><link href=\"http://x/?a&amp;b\"><text>t</text>"
          + "</link><sat>4</sat><extensions>"
          + "<fieldpack:Depth__m_ name=\"Depth (m)\">2.5</fieldpack:Depth__m_>"
          + "<fieldpack:dry>true</fieldpack:dry></extensions></wpt>",
        "<wpt lat=\"2\" lon=\"1\"><ele>3</ele><time>1970-01-01T00:00:00Z</time>"
          + "<extensions><fieldpack:sat>-1</fieldpack:sat></extensions></wpt>",
        "<wpt lat=\"4\" lon=\"3\"><time>1970-01-01T00:00:01.500Z</time>"
          + "<extensions><fieldpack:sat>-1</fieldpack:sat></extensions></wpt>",
      ])
    #expect(writing.notes == ["layer 'wells': 1 features without geometry are left out"])
  }

  @Test func `lines are tracks with elevation and time, routes in their layer, in GPX's order`()
    throws
  {
    let line = Geometry.lineString(
      CoordinateSequence(dimensions: .xyzm, ordinates: [1, 2, 3, 10, 4, 5, 6, 20]))
    let lines = Geometry.multiLineString(
      [
        CoordinateSequence(dimensions: .xy, ordinates: [1, 2, 3, 4]), CoordinateSequence(),
        CoordinateSequence(dimensions: .xy, ordinates: [5, 6]),
      ], .xy)
    let schema = { (name: String) in
      Schema(
        layer: LayerID(name), geometry: GeometryColumn(), columns: Self.text(["name", "number"]))
    }
    let writing = try GPXWriting([
      (schema("paths"), [Feature(id: 1, geometry: line, attributes: ["number": "7"])]),
      (schema("routes"), [Feature(id: 1, geometry: lines, attributes: ["name": "R"])]),
      (
        schema("more"),
        [
          Feature(id: 1, geometry: lines, attributes: ["name": "M", "number": "x"]),
          Feature(id: 2, geometry: .point(x: 1, y: 1)),
        ]
      ),
    ])
    #expect(
      writing.body == [
        "<wpt lat=\"1\" lon=\"1\"></wpt>",
        "<rte><name>R</name>", "<rtept lat=\"2\" lon=\"1\"></rtept>",
        "<rtept lat=\"4\" lon=\"3\"></rtept>", "<rtept lat=\"6\" lon=\"5\"></rtept>", "</rte>",
        "<trk><number>7</number>", "<trkseg>",
        "<trkpt lat=\"2\" lon=\"1\"><ele>3</ele><time>1970-01-01T00:00:10Z</time></trkpt>",
        "<trkpt lat=\"5\" lon=\"4\"><ele>6</ele><time>1970-01-01T00:00:20Z</time></trkpt>",
        "</trkseg>", "</trk>",
        "<trk><name>M</name><extensions><fieldpack:number>x</fieldpack:number></extensions>",
        "<trkseg>", "<trkpt lat=\"2\" lon=\"1\"></trkpt>", "<trkpt lat=\"4\" lon=\"3\"></trkpt>",
        "</trkseg>", "<trkseg>", "<trkpt lat=\"6\" lon=\"5\"></trkpt>", "</trkseg>", "</trk>",
      ])
  }

  static let pointSchema = Schema(
    layer: "x_track_points", geometry: GeometryColumn(type: .point),
    columns: ["track_fid", "track_seg_id", "track_seg_point_id"].map {
      ColumnDefinition($0, .integer)
    } + [ColumnDefinition("hdop", .double)])

  static func point(_ x: Double, _ track: Int64, _ segment: Int64, _ number: Int64) -> Feature {
    Feature(
      id: 0, geometry: .point(x: x, y: 0),
      attributes: [
        "track_fid": .integer(track), "track_seg_id": .integer(segment),
        "track_seg_point_id": .integer(number),
      ])
  }

  @Test func `a track and its points are one, whatever comes first`() throws {
    let tracks = Schema(
      layer: "x_tracks", geometry: GeometryColumn(type: .multiLineString),
      columns: Self.text(["name"]))
    let line = CoordinateSequence(dimensions: .xy, ordinates: [8, 8, 9, 9])
    let rows = [
      Feature(id: 5, geometry: .multiLineString([line], .xy), attributes: ["name": "five"]),
      Feature(id: 6, geometry: .multiLineString([line], .xy), attributes: ["name": "six"]),
      Feature(id: 7, geometry: .multiLineString([], .xy), attributes: ["name": "seven"]),
    ]
    let points = [
      Self.point(1, 5, 1, 0), Self.point(2, 5, 1, 1), Self.point(3, 99, 0, 0),
      Self.point(0, 5, 0, 0), Self.point(2.5, 5, 1, 2),
    ]
    let expected = [
      "<trk><name>five</name>", "<trkseg>", "<trkpt lat=\"0\" lon=\"0\"></trkpt>", "</trkseg>",
      "<trkseg>", "<trkpt lat=\"0\" lon=\"1\"></trkpt>", "<trkpt lat=\"0\" lon=\"2\"></trkpt>",
      "<trkpt lat=\"0\" lon=\"2.5\"></trkpt>", "</trkseg>", "</trk>",
      "<trk><name>six</name>", "<trkseg>", "<trkpt lat=\"8\" lon=\"8\"></trkpt>",
      "<trkpt lat=\"9\" lon=\"9\"></trkpt>", "</trkseg>", "</trk>",
      "<trk><name>seven</name>", "</trk>",
      "<trk>", "<trkseg>", "<trkpt lat=\"0\" lon=\"3\"></trkpt>", "</trkseg>", "</trk>",
    ]
    #expect(try GPXWriting([(tracks, rows), (Self.pointSchema, points)]).body == expected)
    #expect(try GPXWriting([(Self.pointSchema, points), (tracks, rows)]).body == expected)
  }

  @Test func `segments without points come back, with the points' layer and without it`() throws {
    let body = [
      "<trk><name>A</name>", "<trkseg>", "</trkseg>", "<trkseg>",
      "<trkpt lat=\"1\" lon=\"2\"></trkpt>", "<trkpt lat=\"3\" lon=\"2\"></trkpt>", "</trkseg>",
      "<trkseg>", "</trkseg>", "<trkseg>", "<trkpt lat=\"5\" lon=\"2\"></trkpt>", "</trkseg>",
      "<trkseg>", "</trkseg>", "</trk>",
      "<trk><name>B</name>", "<trkseg>", "</trkseg>", "</trk>",
      "<trk><name>C</name>", "</trk>",
    ]
    let text = "<gpx xmlns=\"http://www.topografix.com/GPX/1/1\">\(body.joined())</gpx>"
    #expect(try GPXWriting(try readGPX(text)).body == body)
    #expect(try GPXWriting(try readGPX(text) { $0.only = ["tracks"] }).body == body)
  }

  @Test func `extensions are written back, with edits, and nothing twice`() throws {
    let xml = """
      <extensions xmlns:g="urn:g" xmlns="http://www.topografix.com/GPX/1/1"><g:tp>\
      <g:hr>120</g:hr><g:cad>80.0</g:cad><g:at>2024-05-01T12:00:00+02:00</g:at><g:no>1</g:no>\
      </g:tp><power a="1">&lt;5</power></extensions>
      """
    let schema = Schema(
      layer: "w", geometry: GeometryColumn(),
      columns: [
        ColumnDefinition("g_hr", .integer), ColumnDefinition("g_cad", .double),
        ColumnDefinition("g_at", .dateTime), ColumnDefinition("g_no", .integer),
        ColumnDefinition("power", .text()), ColumnDefinition("extensions", .text()),
        ColumnDefinition("new", .integer),
      ])
    let time = try #require(Instant("2024-05-01T10:00:00Z"))
    let feature = Feature(
      id: 1, geometry: .point(x: 0, y: 0),
      attributes: [
        "g_hr": 130, "g_cad": 80.0, "g_at": .dateTime(time), "power": "<5",
        "extensions": .text(xml), "new": 1,
      ])
    #expect(
      try GPXWriting([(schema, [feature])]).body == [
        "<wpt lat=\"0\" lon=\"0\"><extensions><g:tp xmlns:g=\"urn:g\"><g:hr>130</g:hr>"
          + "<g:cad>80.0</g:cad><g:at>2024-05-01T12:00:00+02:00</g:at></g:tp>"
          + "<plain:power xmlns:plain=\"https://fieldpack.dev/gpx/1/plain\" a=\"1\">&lt;5</plain:power>"
          + "<fieldpack:new>1</fieldpack:new>"
          + "</extensions></wpt>"
      ])
    let broken = Feature(
      id: 1, geometry: .point(x: 0, y: 0), attributes: ["extensions": "<extensions><a>"])
    #expect(
      try GPXWriting([(schema, [broken])]).body == [
        "<wpt lat=\"0\" lon=\"0\"><extensions><fieldpack:extensions>&lt;extensions&gt;&lt;a&gt;"
          + "</fieldpack:extensions></extensions></wpt>"
      ])
  }

  static let refused: [(Geometry, FieldpackError.Code)] = [
    (
      .polygon([CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 1, 0, 1, 1, 0, 0])], .xy),
      .unsupported
    ),
    (.geometryCollection([.point(x: 0, y: 0)], .xy), .unsupported),
    (.point(x: 0, y: 91), .invalidData), (.point(x: -180.5, y: 0), .invalidData),
    (.point(Position(x: .infinity, y: 0), .xy), .invalidData),
    (
      .lineString(CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 500_000, 0])), .invalidData
    ),
  ]

  @Test(arguments: refused.indices) func `what GPX cannot hold is an error, or skipped`(
    index: Int
  ) throws {
    let (geometry, code) = Self.refused[index]
    let schema = Schema(layer: "a", geometry: GeometryColumn())
    let features = [
      Feature(id: 4, geometry: geometry), Feature(id: 5, geometry: .point(x: 1, y: 1)),
    ]
    let error = #expect(throws: FieldpackError.self) { try GPXWriting([(schema, features)]) }
    #expect(error?.code == code)
    #expect(error?.location == .init(layer: "a", feature: 4))
    let writing = try GPXWriting([(schema, features)], skipsErrors: true)
    #expect(writing.body == ["<wpt lat=\"1\" lon=\"1\"></wpt>"])
    #expect(writing.skipped.map(\.location) == [.init(layer: "a", feature: 4)])
  }

  @Test func `a layer without geometry is an error`() throws {
    let error = #expect(throws: FieldpackError.self) { try GPXWriting([(Schema(layer: "a"), [])]) }
    #expect(error?.code == .unsupported)
  }

  @Test func `an elevation that is none stays beside one that is`() throws {
    let first = try readGPX(
      """
      <gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">
      <wpt lat="1" lon="2"><ele>abc</ele><ele>1</ele></wpt></gpx>
      """)
    let written = try GPXWriting(first)
    #expect(
      written.body == [
        "<wpt lat=\"1\" lon=\"2\"><ele>1</ele><extensions><fieldpack:ele>abc</fieldpack:ele>"
          + "</extensions></wpt>"
      ])
    let again = try readGPX(written.text)
    #expect(again.features("waypoints") == first.features("waypoints"))
    #expect(try GPXWriting(again).text == written.text)
  }
}
