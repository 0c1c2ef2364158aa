import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct GPXRoundTripTests {
  static let names = GPXRealDataTests.good.map(\.0)

  // Its times without a zone are UTC after GPX 1.1, and written so.
  static let changed = ["gpxpy_gpx1.1_with_all_fields.gpx"]

  @Test(arguments: names.filter { !changed.contains($0) })
  func `a file of another tool comes back as it went`(name: String) throws {
    let first = try readGPX(SharedData.url("real/gpx/" + name))
    let again = try readGPX(try GPXWriting(first).text)
    #expect(GPXRealDataTests.layers(of: again) == GPXRealDataTests.layers(of: first))
    for layer in first.result.layers.map(\.schema.layer) {
      #expect(again.columns(layer) == first.columns(layer))
      let isEqual =
        again.features(layer).map(Self.plain) == first.features(layer).map(Self.plain)
      #expect(isEqual, "layer '\(layer)'")
    }
  }

  @Test func `times without a zone come back as UTC`() throws {
    let first = try readGPX(SharedData.url("real/gpx/" + Self.changed[0]))
    let again = try readGPX(try GPXWriting(first).text)
    #expect(first.values("track_points", "time") == ["2013-01-01T12:00:04"])
    let time = try #require(Instant("2013-01-01T12:00:04Z"))
    #expect(again.values("track_points", "time") == [.dateTime(time)])
  }

  /// Without the XML, whose namespaces are declared elsewhere.
  static func plain(_ feature: Feature) -> Feature {
    var feature = feature
    feature.attributes["extensions"] = nil
    return feature
  }

  @Test(
    .enabled(if: GPXWriting.canValidate, Comment(rawValue: GPXWriting.cannotValidate)),
    arguments: names) func `what is written is valid`(name: String) throws
  {
    let reading = try readGPX(SharedData.url("real/gpx/" + name))
    #expect(try GPXWriting(reading).complaints() == "")
  }

  /// Values that the schema does not allow where their column's name puts them.
  static let hostile: [(String, Value)] = [
    ("fix", "4d"), ("sat", -1), ("sat", 1.5), ("dgpsid", 1024), ("magvar", 360.0), ("ele", 1e300),
    ("ele", .real(.nan)), ("ele", .real(.leastNonzeroMagnitude)), ("hdop", "1e5"),
    ("geoidheight", "0x1"),
    ("time", "yesterday"), ("time", "2024-05-01"), ("time", "2024-05-01T24:00:00Z"),
    ("name", "\u{0}\u{8}\u{FFFE}]]>\r\n\t<&\"'"), ("desc", ""), ("link1_href", "http://["),
    ("link1_href", "a b"), ("link1_href", "%zz"), ("link1_href", "http://ü/?a&\"b\""),
    ("link1_href", ""), ("link1_text", "no href"), ("😀", "emoji"), ("1st", 1), ("a:b c", "x"),
    ("", "no name"), ("xml", "y"), ("größe", 2), ("a\"b; DROP TABLE x", "\u{202E}"),
    (
      "extensions",
      .text(
        "<extensions><name>x</name><gpx xmlns='http://www.topografix.com/GPX/1/1'/>"
          + "<a xmlns='' b:c='d'/><fieldpack:z xmlns:fieldpack='urn:f'/></extensions>")
    ),
    ("extensions", "<!DOCTYPE x [<!ENTITY a 'b'>]><extensions>&a;</extensions>"),
    ("extensions", "no XML"), ("blob", .blob([0, 1, 255])), ("flag", true),
  ]

  @Test(
    .enabled(if: GPXWriting.canValidate, Comment(rawValue: GPXWriting.cannotValidate)))
  func `whatever the values, what is written is valid`() throws {
    var layers: [(Schema, [Feature])] = []
    for (index, (name, value)) in Self.hostile.enumerated() {
      let type: ColumnType =
        switch value {
        case .integer: .integer
        case .real: .double
        case .blob: .blob()
        case .boolean: .boolean
        default: .text()
        }
      let schema = Schema(
        layer: LayerID("l\(index)"), geometry: GeometryColumn(),
        columns: [ColumnDefinition(name, type)])
      let point = Geometry.point(x: .leastNonzeroMagnitude, y: -1e-17)
      let line = Geometry.lineString(
        CoordinateSequence(
          dimensions: .xyzm, ordinates: [0, 0, 1e300, 1e300, 180, -90, -1e9, -1e9]))
      layers.append(
        (schema, [point, line].map { Feature(id: 1, geometry: $0, attributes: [name: value]) }))
    }
    let writing = try GPXWriting(layers)
    #expect(try writing.complaints() == "")
    let reading = try readGPX(writing.text)
    #expect(reading.result.counts["waypoints"] == Self.hostile.count)
    #expect(reading.values("waypoints", "größe").contains(2))
    #expect(reading.values("waypoints", "a\"b; DROP TABLE x").contains("\u{202E}"))
  }
}
