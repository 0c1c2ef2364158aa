import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import Testing

@Suite struct GPXReaderTests {
  static func gpx(_ body: String) -> String {
    """
    <?xml version="1.0"?>
    <gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1" \
    xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1">
    \(body)
    </gpx>
    """
  }

  @Test func `a waypoint has its columns, Z from ele and M from time`() throws {
    let reading = try readGPX(
      Self.gpx(
        """
        <wpt lat="48.5" lon="11.25"><ele>500.5</ele><time>2024-05-01T12:00:00.25+02:00</time>
        <name>A &amp; B</name><link href="http://x/?a&amp;b"><text>t</text></link>
        <sat>07</sat><dgpsid></dgpsid></wpt>
        """))
    #expect(
      reading.columns("waypoints") == [
        "ele REAL", "time DATETIME", "name TEXT", "link1_href TEXT", "link1_text TEXT",
        "sat INTEGER",
      ])
    let time = try #require(Instant("2024-05-01T10:00:00.25Z"))
    #expect(
      reading.features("waypoints") == [
        Feature(
          id: 1,
          geometry: .point(Position(x: 11.25, y: 48.5, z: 500.5, m: 1_714_557_600.25), .xyzm),
          attributes: [
            "ele": 500.5, "time": .dateTime(time), "name": "A & B",
            "link1_href": "http://x/?a&b", "link1_text": "t", "sat": 7,
          ])
      ])
    #expect(reading.schema("waypoints")?.geometry?.z == .mandatory)
    #expect(reading.schema("waypoints")?.geometry?.m == .mandatory)
  }

  @Test(arguments: [
    ["waypoints"], ["tracks"], ["track_points"], ["tracks", "track_points"], ["routes"],
    ["route_points"], [],
  ])
  func `reads the layers asked for as if there were no others`(only: [String]) throws {
    let text = Self.gpx(
      """
      <wpt lat="1" lon="2"><name>W</name></wpt>
      <rte><name>R</name><rtept lat="1" lon="2"><ele>3</ele></rtept><rtept lat="2" lon="2"/></rte>
      <trk><name>T</name><trkseg>
      <trkpt lat="1" lon="2"><ele>3</ele><time>2024-05-01T10:00:00Z</time><name>P</name></trkpt>
      <trkpt lat="2" lon="2"><ele>4</ele><ele>5</ele><time>2024-05-01T10:00:01Z</time></trkpt>
      </trkseg></trk>
      <trk><trkseg><trkpt lat="3" lon="4"/></trkseg></trk>
      """)
    let all = try readGPX(text)
    let some = try readGPX(text) { $0.only = Set(only) }
    #expect(Set(some.result.layers.map(\.schema.layer.rawValue)) == Set(only))
    for layer in only.map({ LayerID($0) }) {
      #expect(some.features(layer) == all.features(layer))
      #expect(some.schema(layer) == all.schema(layer))
    }
  }

  static let track = gpx(
    """
    <trk><name>T</name><number>3</number>
    <trkseg><trkpt lat="1" lon="2"><ele>3</ele></trkpt><trkpt lat="4" lon="5"><ele>6</ele></trkpt></trkseg>
    <trkseg></trkseg>
    <trkseg><trkpt lat="7" lon="8"><ele>9</ele></trkpt></trkseg></trk>
    <trk/>
    <rte><rtept lat="1" lon="1"/><rtept lat="2" lon="2"><time>1970-01-01T00:00:01Z</time></rtept></rte>
    """)

  @Test func `a track is a multilinestring of its segments, and its points name their place`()
    throws
  {
    let reading = try readGPX(Self.track)
    let first = CoordinateSequence(dimensions: .xyz, ordinates: [2, 1, 3, 5, 4, 6])
    let last = CoordinateSequence(dimensions: .xyz, ordinates: [8, 7, 9])
    #expect(
      reading.features("tracks").map(\.geometry) == [
        .multiLineString([first, CoordinateSequence(dimensions: .xyz), last], .xyz),
        .multiLineString([], .xyz),
      ])
    #expect(reading.values("tracks", "name") == ["T", .null])
    #expect(reading.values("track_points", "track_fid") == [1, 1, 1])
    #expect(reading.values("track_points", "track_seg_id") == [0, 0, 2])
    #expect(reading.values("track_points", "track_seg_point_id") == [0, 1, 0])
    #expect(reading.values("track_points", "ele") == [3.0, 6.0, 9.0])
  }

  @Test func `a route without times everywhere has no M, its points have what they have`() throws {
    let reading = try readGPX(Self.track)
    #expect(
      reading.features("routes").map(\.geometry) == [
        .lineString(CoordinateSequence(dimensions: .xy, ordinates: [1, 1, 2, 2]))
      ])
    #expect(
      reading.features("route_points").map(\.geometry) == [
        .point(Position(x: 1, y: 1), .xy), .point(Position(x: 2, y: 2, m: 1), .xym),
      ])
    #expect(reading.schema("route_points")?.geometry?.m == .optional)
    #expect(reading.values("route_points", "route_point_id") == [0, 1])
    #expect(
      reading.result.layers.map(\.schema.layer) == [
        "routes", "tracks", "route_points", "track_points",
      ])
  }

  @Test func `layers take a prefix`() throws {
    let reading = try readGPX(Self.track) {
      $0.layer = "x"
      $0.prefixesLayers = true
    }
    #expect(
      reading.result.layers.map(\.schema.layer) == [
        "x_routes", "x_tracks", "x_route_points", "x_track_points",
      ])
  }

  @Test func `times without a zone, and numbers that are none, keep their text`() throws {
    let reading = try readGPX(
      Self.gpx(
        """
        <wpt lat="1" lon="1"><ele>1.50</ele><time>2024-05-01T10:00:00</time></wpt>
        <wpt lat="1" lon="1"><ele>high</ele><time>2024-05-01T10:00:00Z</time></wpt>
        """))
    #expect(reading.columns("waypoints") == ["ele TEXT", "time TEXT"])
    #expect(reading.values("waypoints", "ele") == ["1.50", "high"])
    #expect(
      reading.values("waypoints", "time") == ["2024-05-01T10:00:00", "2024-05-01T10:00:00Z"])
    #expect(
      reading.features("waypoints").map(\.geometry) == [
        .point(Position(x: 1, y: 1, z: 1.5, m: 1_714_557_600), .xyzm),
        .point(Position(x: 1, y: 1, m: 1_714_557_600), .xym),
      ])
  }

  @Test func `leaves of extensions are columns, the element itself is kept`() throws {
    let reading = try readGPX(
      Self.gpx(
        """
        <trk><trkseg><trkpt lat="1" lon="1"><extensions><gpxtpx:TrackPointExtension a="&lt;">\
        <gpxtpx:hr>120</gpxtpx:hr><gpxtpx:hr>121</gpxtpx:hr><foo xmlns="urn:f">0.5</foo><n/>\
        </gpxtpx:TrackPointExtension><name>x</name></extensions></trkpt></trkseg></trk>
        """))
    #expect(
      reading.columns("track_points").dropFirst(3) == [
        "gpxtpx_hr INTEGER", "foo REAL", "name_2 TEXT", "extensions TEXT",
      ])
    #expect(
      reading.values("track_points", "extensions") == [
        """
        <extensions xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1" \
        xmlns="http://www.topografix.com/GPX/1/1"><gpxtpx:TrackPointExtension a="&lt;">\
        <gpxtpx:hr>120</gpxtpx:hr><gpxtpx:hr>121</gpxtpx:hr><foo xmlns="urn:f">0.5</foo><n/>\
        </gpxtpx:TrackPointExtension><name>x</name></extensions>
        """
      ])
    #expect(reading.values("track_points", "gpxtpx_hr") == [120])
    #expect(
      reading.result.notes == [
        "layer 'track_points': the extension 'name' is in column 'name_2'"
      ])
  }

  @Test func `GPX 1.0 gives url, speed, course and foreign elements`() throws {
    let reading = try readGPX(
      """
      <gpx version="1.0" xmlns="http://www.topografix.com/GPX/1/0"><wpt lat="1" lon="1">
      <url>http://x</url><urlname>X</urlname></wpt>
      <trk><trkseg><trkpt lat="1" lon="1"><course>90</course><speed>2.5</speed>
      <t:temp xmlns:t="urn:t">20</t:temp></trkpt></trkseg></trk></gpx>
      """)
    #expect(reading.columns("waypoints") == ["link1_href TEXT", "link1_text TEXT"])
    #expect(
      reading.columns("track_points").dropFirst(3) == [
        "speed REAL", "course REAL", "t_temp INTEGER", "extensions TEXT",
      ])
    #expect(
      reading.values("track_points", "extensions") == [
        #"<extensions><t:temp xmlns:t="urn:t">20</t:temp></extensions>"#
      ])
  }

  @Test func `a prefix that nothing declares is read, and declared in what is kept`() throws {
    let reading = try readGPX(
      "<gpx><wpt lat='1' lon='1'><extensions><q:a>1</q:a></extensions></wpt></gpx>")
    #expect(
      reading.values("waypoints", "extensions") == [
        #"<extensions xmlns:q="urn:undeclared:q"><q:a>1</q:a></extensions>"#
      ])
    #expect(reading.values("waypoints", "q_a") == [1])
  }

  @Test func `what the head did not show takes a second pass`() throws {
    let many = String(repeating: "<wpt lat='1' lon='1'/>\n", count: 30_000)
    let reading = try readGPX("<gpx>\(many)<wpt lat='2' lon='2'><name>late</name></wpt></gpx>")
    #expect(reading.passes == 2)
    #expect(reading.result.counts == ["waypoints": 30_001])
    #expect(reading.features("waypoints").last?.attributes == ["name": "late"])
  }

  @Test func `a point that the head's end cuts takes no second pass`() throws {
    let name = String(repeating: "x", count: 1000)
    let point = "<wpt lat='1' lon='2'><name>\(name)</name><ele>3</ele></wpt>"
    let reading = try readGPX(Self.gpx(String(repeating: point, count: 1000)))
    #expect(reading.passes == 1)
    #expect(reading.schema("waypoints")?.geometry?.z == .mandatory)
  }

  @Test func `points keep their values wherever the file is cut in pieces`() throws {
    let points = (0..<8000).map { number in
      "<trkpt lat='\(number % 90)' lon='\(number % 180)'><ele>\(number)</ele>"
        + "<name>point \(number)</name><sym>s\(number % 7)</sym></trkpt>"
    }
    let reading = try readGPX(Self.gpx("<trk><trkseg>\(points.joined())</trkseg></trk>"))
    let features = reading.features("track_points")
    #expect(features.count == points.count)
    for (number, feature) in features.enumerated() {
      let expected: Attributes = [
        "track_fid": 1, "track_seg_id": 0, "track_seg_point_id": .integer(Int64(number)),
        "ele": .real(Double(number)), "name": .text("point \(number)"),
        "sym": .text("s\(number % 7)"),
      ]
      #expect(feature.attributes == expected)
    }
  }

  @Test func `every layer is announced, with or without features`() throws {
    var reader = try GPXReader(
      gpxInput("<gpx><wpt lat='1' lon='1'/></gpx>"), options: ReadOptions(layer: "t"))
    let other = FileLayer(schema: Schema(layer: "tracks"))
    var collector = GPXCollector()
    _ = try reader.read(as: reader.assume() + [other], into: &collector)
    #expect(collector.begins == ["waypoints", "tracks", "waypoints"])
  }

  @Test func `skipped points leave the track whole otherwise`() throws {
    let reading = try readGPX(
      Self.gpx(
        """
        <trk><trkseg><trkpt lat="1" lon="1"/><trkpt lat="nan" lon="1"><name>x</name></trkpt>
        <trkpt lat="2" lon="180.5"/><trkpt lat=" 3 " lon="+3e0"/></trkseg></trk>
        """)
    ) {
      $0.skipsErrors = true
      $0.skippedLimit = 1
    }
    #expect(reading.result.skipped.count == 2)
    #expect(
      reading.result.skipped.listed.map(\.reason) == [
        "lat 'nan' of trkpt is not a number from -90 to 90"
      ])
    #expect(
      reading.features("tracks").map(\.geometry) == [
        .multiLineString(
          [CoordinateSequence(dimensions: .xy, ordinates: [1, 1, 3, 3])], .xy)
      ])
    #expect(reading.values("track_points", "track_seg_point_id") == [0, 1])
  }

  @Test func `a file that breaks off gives what is whole before that, where errors are skipped`()
    throws
  {
    let text = Self.gpx(
      """
      <wpt lat="1" lon="2"/><trk><name>a</name><trkseg><trkpt lat="1" lon="1"/>
      <trkpt lat="2" lon="2"/><trkpt lat="3" lon="3"><ele>4</ele>
      """)
    let cut = text.replacing("</gpx>", with: "")
    let error = #expect(throws: FieldpackError.self) { try readGPX(cut) }
    #expect(error?.advice == .skipErrors)
    let reading = try readGPX(cut) { $0.skipsErrors = true }
    #expect(reading.result.counts == ["waypoints": 1, "tracks": 1, "track_points": 2])
    #expect(
      reading.features("tracks").map(\.geometry) == [
        .multiLineString(
          [CoordinateSequence(dimensions: .xy, ordinates: [1, 1, 2, 2])], .xy)
      ])
    #expect(reading.values("tracks", "name") == ["a"])
    #expect(reading.result.skipped.count == 1)
    #expect(
      reading.result.skipped.listed[0].reason.hasSuffix(": nothing is read from there on") == true)
  }

  @Test func `a bad point says that errors can be skipped`() {
    let error = #expect(throws: FieldpackError.self) {
      try readGPX(Self.gpx(#"<wpt lat="91" lon="1"/>"#))
    }
    #expect(error?.advice == .skipErrors)
  }

  @Test func `line ends of CDATA are those of any text`() throws {
    let long = String(repeating: "x", count: 299)
    for lines in ["a\r\nb\r\rc\nd", "\(long)\r\n\(long)\r\n", "\r\n"] {
      let reading = try readGPX(
        Self.gpx(#"<wpt lat="1" lon="1"><name>n<![CDATA[\#(lines)]]>e</name></wpt>"#))
      let expected = lines.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
      #expect(reading.values("waypoints", "name") == [.text("n\(expected)e")])
    }
  }

  @Test func `the id column is refused`() throws {
    #expect(throws: FieldpackError.self) { try readGPX("<gpx/>") { $0.idColumn = "name" } }
  }
}
