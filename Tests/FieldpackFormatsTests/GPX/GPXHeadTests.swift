import FieldpackCore
import Foundation
import Testing

@testable import FieldpackFormats

@Suite struct GPXHeadTests {
  private func metadata(_ body: String, namespace: String? = nil) throws -> String? {
    let namespace = namespace ?? "\(GPXWriter.namespace)"
    return try readGPX(
      "<gpx xmlns=\"\(namespace)\">\(body)<wpt lat=\"1\" lon=\"2\"/></gpx>"
    ).result.gpxMetadata
  }

  @Test func `metadata are kept as they are, but for the bounds`() throws {
    let body = """
      <name>A &amp; B</name><author><name>me</name><email id="me" domain="a.b"/></author>\
      <copyright author="me"><year>2024</year></copyright><link href="https://a.b"/>\
      <keywords>x</keywords>
      """
    let bounds = #"<bounds minlat="1" minlon="1" maxlat="2" maxlon="2"><x/></bounds>"#
    #expect(
      try metadata("<metadata>\n\(body)\(bounds)</metadata>")
        == #"<metadata xmlns="http://www.topografix.com/GPX/1/1">\#(body)</metadata>"#)
    #expect(try metadata("<metadata>\(bounds)</metadata>") == nil)
    #expect(try metadata("<metadata/>") == nil)
    #expect(try metadata("") == nil)
  }

  @Test func `what GPX 1_0 says of itself becomes metadata`() throws {
    let found = try metadata(
      """
      <name>a</name><desc>b &lt; c</desc><author>me</author><email>me@a.b</email>
      <url>https://a.b?c=1&amp;d</url><urlname>site</urlname><time>2024-05-01T10:00:00Z</time>
      <keywords>x</keywords><bounds minlat="1" minlon="1" maxlat="2" maxlon="2"/>
      """, namespace: "http://www.topografix.com/GPX/1/0")
    #expect(
      found == """
        <metadata xmlns="http://www.topografix.com/GPX/1/1"><name>a</name><desc>b &lt; c</desc>\
        <author><name>me</name><email id="me" domain="a.b"/></author>\
        <link href="https://a.b?c=1&amp;d"><text>site</text></link>\
        <time>2024-05-01T10:00:00Z</time><keywords>x</keywords></metadata>
        """)
  }

  @Test func `metadata of more than a mebibyte are told and not kept`() throws {
    let name = String(repeating: "x", count: GPXHead.maximumLength + 1)
    let reading = try readGPX(
      "<gpx><metadata><name>\(name)</name></metadata><wpt lat='1' lon='1'/></gpx>")
    #expect(reading.result.gpxMetadata == nil)
    #expect(reading.result.notes == ["metadata of more than 1 MiB are not kept"])
  }

  @Test func `only an element metadata can stand in a GPX file`() {
    #expect(GPXWriter.takes(metadata: "<metadata><name>a</name></metadata>"))
    for text in ["", "metadata", "<metadata>", "<?xml version='1.0'?><metadata/>", "<gpx/>"] {
      #expect(!GPXWriter.takes(metadata: text))
    }
  }

  @Test func `waypoints in tracks are waypoints`() throws {
    let reading = try readGPX(
      """
      <gpx><trk><wpt lat="1" lon="2"><name>a</name></wpt><trkseg><trkpt lat="3" lon="4"/>\
      <wpt lat="5" lon="6"><name>b</name></wpt><trkpt lat="7" lon="8"/></trkseg></trk></gpx>
      """)
    #expect(reading.result.counts == ["waypoints": 2, "tracks": 1, "track_points": 2])
    #expect(reading.values("waypoints", "name") == ["a", "b"])
    #expect(reading.values("track_points", "track_seg_point_id") == [0, 1])
    let points = try readGPX(
      "<gpx><trk><wpt lat='1' lon='2'/><trkseg><trkpt lat='3' lon='4'/></trkseg></trk></gpx>"
    ) { $0.only = ["track_points"] }
    #expect(points.result.counts == ["track_points": 1])
  }
}
