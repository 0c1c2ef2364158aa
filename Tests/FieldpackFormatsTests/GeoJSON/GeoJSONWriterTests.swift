import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

extension ValueRow {
  /// A feature made of values and WKT.
  init(_ id: FeatureID, _ values: [Value] = [], _ wkt: String? = nil) {
    self.init(id: id, values, wkb: wkt.flatMap { try? WKT.read($0) }.map { WKB.bytes(of: $0) })
  }
}

@Suite struct GeoJSONWriterTests {
  private func write(
    _ columns: [ColumnDefinition] = [], _ rows: [ValueRow], srs: SRS = .wgs84,
    _ change: (inout GeoJSONWriter.Options) -> Void = { _ in }
  ) throws(FieldpackError) -> String {
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    change(&options)
    let output = ByteOutput()
    var writer = GeoJSONWriter(output, options: options)
    try writer.begin(Schema(layer: "wells", geometry: GeometryColumn(srs: srs), columns: columns))
    for row in rows { try writer.feature(row) }
    try writer.finish()
    return String(decoding: output.buffer, as: UTF8.self)
  }

  @Test func `values are written as their columns say`() throws {
    let cases: [(ColumnType, Value, String)] = [
      (.integer, .integer(.max), "9223372036854775807"), (.integer, nil, "null"),
      (.boolean, true, "true"), (.boolean, 0, "false"), (.boolean, 7, "7"),
      (.double, 1.0, "1.0"), (.double, 0.1, "0.1"), (.double, 1e300, "1e300"),
      (.double, .real(.nan), "null"), (.double, .real(-.infinity), "null"),
      (.double, 5, "5"), (.text(), "a\"\\\n\t\u{1}/é😀", #""a\"\\\n\t\u0001/é😀""#),
      (.json, #"{ "a" : [1,2.50, "x y"] }"#, #"{"a":[1,2.50,"x y"]}"#),
      (.json, "[1\n,2]", "[1,2]"), (.json, "{broken", #""{broken""#), (.json, "1 2", #""1 2""#),
      (.json, "", #""""#), (.blob(), .blob([0, 255, 16]), #""AP8Q""#),
      (.date, "2024-02-29", #""2024-02-29""#),
      (.dateTime, "2024-02-29T01:02:03.000Z", #""2024-02-29T01:02:03.000Z""#),
    ]
    for (type, value, text) in cases {
      let written = try write([ColumnDefinition("v", type)], [ValueRow(1, [value])])
      #expect(
        written == #"{"type":"Feature","id":1,"properties":{"v":\#(text)},"geometry":null}"# + "\n")
    }
  }

  @Test func `a character is escaped wherever it stands`() {
    let cases = [
      ("\"", #"\""#), ("\\", #"\\"#), ("\u{1F}", #"\u001f"#), ("\n", #"\n"#), ("é", "é"),
      ("\u{7F}", "\u{7F}"), (" ", " "), ("!", "!"), ("#", "#"), ("[", "["), ("]", "]"),
    ]
    for (character, escaped) in cases {
      for before in 0...17 {
        let (head, tail) = (String(repeating: "a", count: before), "0123456789")
        var bytes: [UInt8] = []
        let text = Array("\(head)\(character)\(tail)\(character)".utf8)
        text.withUnsafeBufferPointer { JSONText.append($0, escaping: .required, to: &bytes) }
        #expect(
          String(decoding: bytes, as: UTF8.self) == "\"\(head)\(escaped)\(tail)\(escaped)\"")
      }
    }
  }

  @Test func `text that is not UTF-8 is mended`() {
    var bytes: [UInt8] = []
    let broken: [UInt8] = [0x61, 0xFF, 0xC3, 0xA9, 0xED, 0xA0, 0x80, 0xF0, 0x9F]
    broken.withUnsafeBufferPointer { JSONText.append($0, escaping: .required, to: &bytes) }
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "\"a\u{FFFD}é\(String(repeating: "\u{FFFD}", count: 5))\"")
  }

  @Test func `geometries follow RFC 7946`() throws {
    let cases: [(String, String)] = [
      ("POINT (1 2)", #"{"type":"Point","coordinates":[1,2]}"#),
      ("POINT ZM (1.5 2 3 4)", #"{"type":"Point","coordinates":[1.5,2,3]}"#),
      ("POINT M (1 2 4)", #"{"type":"Point","coordinates":[1,2]}"#),
      ("POINT Z (1 2 NaN)", #"{"type":"Point","coordinates":[1,2]}"#),
      ("LINESTRING (0 0,1 1)", #"{"type":"LineString","coordinates":[[0,0],[1,1]]}"#),
      // A clockwise shell and a counterclockwise hole are turned.
      (
        "POLYGON ((0 0,0 4,4 4,0 0),(1 2,2 3,1 3,1 2))",
        #"{"type":"Polygon","coordinates":[[[0,0],[4,4],[0,4],[0,0]],[[1,2],[1,3],[2,3],[1,2]]]}"#
      ),
      (
        "POLYGON Z ((0 0 1,4 0 2,4 4 3,0 0 1))",
        #"{"type":"Polygon","coordinates":[[[0,0,1],[4,0,2],[4,4,3],[0,0,1]]]}"#
      ),
      ("POLYGON EMPTY", #"{"type":"Polygon","coordinates":[]}"#),
      ("MULTIPOINT ((1 2),EMPTY,(3 4))", #"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#),
      ("MULTIPOINT EMPTY", #"{"type":"MultiPoint","coordinates":[]}"#),
      (
        "MULTILINESTRING (EMPTY,(0 0,1 1),(2 2,3 3))",
        #"{"type":"MultiLineString","coordinates":[[[0,0],[1,1]],[[2,2],[3,3]]]}"#
      ),
      (
        "MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((5 5,5 6,6 6,5 5)))",
        #"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],"#
          + "[[[5,5],[6,6],[5,6],[5,5]]]]}"
      ),
      (
        "GEOMETRYCOLLECTION (POINT EMPTY,POINT (1 2),GEOMETRYCOLLECTION EMPTY,LINESTRING EMPTY)",
        #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},"#
          + #"{"type":"GeometryCollection","geometries":[]},{"type":"LineString","coordinates":[]}]}"#
      ),
      (
        "TIN (((0 0,1 0,1 1,0 0)))",
        #"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}"#
      ),
    ]
    for (wkt, expected) in cases {
      let written = try write([], [ValueRow(1, [], wkt)])
      #expect(
        written == #"{"type":"Feature","id":1,"properties":{},"geometry":\#(expected)}"# + "\n",
        "\(wkt)")
      #expect(try WKT.read(wkt).geoJSON() == expected)
    }
  }

  @Test func `an empty point is null, since readers warn of a Point without coordinates`() throws {
    let empty = ValueRow(1, [], "POINT EMPTY")
    #expect(
      try write([], [empty])
        == #"{"type":"Feature","id":1,"properties":{},"geometry":null}"# + "\n")
    let text = #"{"type":"Point","coordinates":[]}"#
    #expect(try WKT.read("POINT EMPTY").geoJSON() == text)
    #expect(try Geometry(geoJSON: text) == WKT.read("POINT EMPTY"))
  }

  @Test func `arcs become lines between their ends`() throws {
    let text = try WKT.read("CIRCULARSTRING (0 0,1 1,2 0)").geoJSON(decimals: 3)
    #expect(text.hasPrefix(#"{"type":"LineString","coordinates":[[0,0],"#))
    #expect(text.hasSuffix("[2,0]]}"))
    #expect(text.contains("[1,1]"))
  }

  @Test func `a coordinate that is not finite is an error or skipped`() throws {
    let rows = [
      ValueRow(1, [], "POINT (1 2)"), ValueRow(2, [], "LINESTRING (0 0,1 Infinity)"),
      ValueRow(3, [], "POINT (3 4)"),
    ]
    #expect {
      try write([], rows)
    } throws: {
      ($0 as? FieldpackError)?.message == "feature 2 cannot be written: a coordinate is not finite"
    }
    let written = try write([], rows) {
      $0.skipsErrors = true
      $0.layout = .collection
    }
    #expect(try GeoJSONReading(written).rows.map(\.id) == [1, 3])
  }

  @Test func `a collection has a feature a line, and boxes and crs on request`() throws {
    let rows = [
      ValueRow(1, [], "POINT (1.23456 2)"), ValueRow(2), ValueRow(3, [], "POINT Z (3 4 5)"),
    ]
    #expect(
      try write([], rows, srs: SRS("EPSG", 25833)) {
        $0.layout = .collection
        $0.writesBoundingBoxes = true
        $0.writesCRS = true
        $0.decimals = 2
      } == """
        {"type":"FeatureCollection","crs":{"type":"name","properties":{"name":\
        "urn:ogc:def:crs:EPSG::25833"}},"features":[
        {"type":"Feature","id":1,"properties":{},"geometry":{"type":"Point","coordinates":[1.23,2]},\
        "bbox":[1.23,2,1.23,2]},
        {"type":"Feature","id":2,"properties":{},"geometry":null},
        {"type":"Feature","id":3,"properties":{},"geometry":{"type":"Point","coordinates":[3,4,5]},\
        "bbox":[3,4,5,3,4,5]}
        ],"bbox":[1.23,2,5,3,4,5]}

        """)
    #expect(
      try write([], []) { $0.layout = .collection }
        == "{\"type\":\"FeatureCollection\",\"features\":[]}\n")
    #expect(
      try write([], [ValueRow(1)]) { $0.layout = .sequence }
        == "\u{1E}{\"type\":\"Feature\",\"id\":1,\"properties\":{},\"geometry\":null}\n")
  }

  @Test func `the id is the source's, the feature's or the key tuple`() throws {
    var source = ColumnDefinition("id_2", .text())
    source.isSourceID = true
    let columns = [source, ColumnDefinition("id", .integer)]
    let rows = [ValueRow(4, ["x\"", 1]), ValueRow(5, [nil, 2])]
    #expect(
      try write(columns, rows) == """
        {"type":"Feature","id":"x\\"","properties":{"id":1},"geometry":null}
        {"type":"Feature","properties":{"id":2},"geometry":null}

        """)
    let key = KeyTuple(store: "s", layer: "wells", feature: 4).description
    #expect(
      try write(columns, [rows[0]]) { $0.keyStore = "s" }
        == #"{"type":"Feature","id":"\#(key)","properties":{"id":1},"geometry":null}"# + "\n")
  }

  @Test func `SpatialConnect's metadata is given back or made`() throws {
    let metadata = ColumnDefinition("metadata", .json, description: GeoJSONReader.metadataTitle)
    let rows = [ValueRow(1, [#"{"client":"c"}"#]), ValueRow(2, [nil])]
    #expect(
      try write([metadata], rows) {
        $0.spatialConnect = .init(
          store: "st", client: "me", createdAt: Instant(milliseconds: 1_489_572_000_999))
      } == """
        {"type":"Feature","id":"1","properties":{},"metadata":{"client":"c"},"geometry":null}
        {"type":"Feature","id":"2","properties":{},"metadata":{"created_at":\
        "2017-03-15 10:00:00 GMT","client":"me","storeId":"st","layerId":"wells"},"geometry":null}

        """)
    #expect(
      try write([metadata], [rows[0]])
        == #"{"type":"Feature","id":1,"properties":{"metadata":{"client":"c"}},"geometry":null}"#
        + "\n")
  }

  @Test func `a second layer is refused`() {
    var writer = GeoJSONWriter(ByteOutput())
    #expect(throws: FieldpackError.self) {
      try writer.begin(Schema(layer: "a"))
      try writer.begin(Schema(layer: "b"))
    }
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `what is read, written and read again is the same`() throws {
    let folders = [
      "real/geojson/good", "real/geojson/real", "spatialconnect/ios-sdk", "real/geojson/orb",
    ]
    for folder in folders {
      for file in SharedData.files(in: folder, extensions: ["geojson", "json"]) {
        let input = try ByteInput(path: file.path)
        // The largest would only take time.
        guard input.size < 600_000 else { continue }
        let first = try GeoJSONReading(input, ReadOptions(layer: "x"))
        for layout in [GeoJSONWriter.Layout.collection, .sequence] {
          // A sequence has no place for the SRS.
          guard layout == .collection || first.schema.geometry?.srs == .wgs84 else { continue }
          let again = try GeoJSONReading(rewrite(file, first, layout))
          #expect(again.schema == first.schema, "\(file.lastPathComponent)")
          #expect(again.rows.count == first.rows.count)
          let isSame = zip(again.rows, first.rows).allSatisfy { a, b in
            a.values == b.values && a.geometry?.rightHandRule() == b.geometry?.rightHandRule()
              && a.envelope == b.envelope
          }
          #expect(isSame, "\(file.lastPathComponent)")
        }
      }
    }
  }

  private func rewrite(
    _ file: URL, _ first: GeoJSONReading, _ layout: GeoJSONWriter.Layout
  ) throws -> String {
    var options = GeoJSONWriter.Options()
    options.layout = layout
    options.writesCRS = true
    let output = ByteOutput()
    var writer = GeoJSONWriter(output, options: options)
    var reader = GeoJSONReader(try ByteInput(path: file.path), options: ReadOptions(layer: "x"))
    _ = try reader.read(as: first.result.layers, into: &writer)
    try writer.finish()
    return String(decoding: output.buffer, as: UTF8.self)
  }
}
