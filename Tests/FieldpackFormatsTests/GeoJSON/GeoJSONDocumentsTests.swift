import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackFormats

@Suite struct GeoJSONDocumentsTests {
  private func feature(_ name: Int) -> String {
    #"{"type":"Feature","geometry":{"type":"Point","coordinates":[\#(name),0]},"#
      + #""properties":{"n":\#(name)}}"#
  }

  @Test func `documents may stand one after the other in any way`() throws {
    let (a, b, c) = (feature(1), feature(2), feature(3))
    let texts = [
      #"{"type":"FeatureCollection","features":[\#(a),\#(b),\#(c)]}"#,
      "\(a)\n\(b)\n\(c)\n", "\(a)\r\n\r\n\(b)\r\n\(c)", "\(a)\(b) \(c)",
      "\u{1E}\(a)\n\u{1E}\(b)\n\u{1E}\(c)\n", "\u{FEFF}\(a)\n\(b)\n\(c)", "\(a),\n\(b),\n\(c)",
      #"{"features":[\#(a),\#(b)],"name":"x","type":"FeatureCollection"}"# + "\n\(c)",
      "{\"remark\":true}\n\(a)\n\(b)\n\(c)",
    ]
    for text in texts {
      let reading = try GeoJSONReading(text)
      #expect(reading.recorder.column("n") == [1, 2, 3], "\(text)")
      #expect(reading.geometryType == "POINT")
    }
  }

  @Test func `a file that breaks off gives the features before that, where errors are skipped`()
    throws
  {
    let (a, b, c) = (feature(1), feature(2), feature(3))
    let start = #"{"type":"FeatureCollection","features":["#
    let texts = [
      "\(start)\(a),\(b),\(c.dropLast(9))", "\(start)\(a),\(b)", "\(start)\(a),\(b),",
      "\(start)\(a),\(b),{\"type\":,\(c)]}", "\(start)\(a),\(b)]",
    ]
    for text in texts {
      let error = #expect(throws: FieldpackError.self) { try GeoJSONReading(text) }
      #expect(error?.code == .invalidData)
      let reading = try GeoJSONReading(text) { $0.skipsErrors = true }
      #expect(reading.recorder.column("n") == [1, 2], "\(text)")
      #expect(reading.result.skipped.count == 1)
    }
    let reading = try GeoJSONReading(texts[0]) { $0.skipsErrors = true }
    #expect(
      reading.result.skipped.listed == [
        SkippedFeature(
          location: .init(layer: "x"),
          position: FilePosition(
            file: reading.result.skipped.listed[0].position?.file, byteOffset: 294, feature: 3),
          reason: "':' expected, not the end of the text: nothing is read from there on")
      ])
  }

  @Test func `what errors can be skipped says so`() throws {
    let bad = #"{"type":"Feature","properties":null,"geometry":{"type":"Point"}}"#
    for text in [bad, #"{"type":"FeatureCollection","features":[\#(feature(1))"#] {
      var reader = GeoJSONReader(try GeoJSONReading.input(text).0, options: .init(layer: "x"))
      let error = #expect(throws: FieldpackError.self) { try reader.assume() }
      #expect(error?.advice == .skipErrors)
    }
    var reader = GeoJSONReader(try GeoJSONReading.input("{\"a\":").0, options: .init(layer: "x"))
    let error = #expect(throws: FieldpackError.self) { try reader.assume() }
    #expect(error?.advice == nil)
  }

  @Test func `members stand in any order`() throws {
    let texts = [
      #"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#,
      #"{"coordinates":[[[0,0],[1,0],[1,1],[0,0]]],"bbox":[9,"x"],"type":"Polygon"}"#,
      #"{"geometry":{"coordinates":[[[0,0],[1,0],[1,1],[0,0]]],"type":"Polygon"},"id":null,"#
        + #""properties":null,"type":"Feature"}"#,
      #"{"geometries":[{"coordinates":[[[0,0],[1,0],[1,1],[0,0]]],"type":"Polygon"}],"#
        + #""type":"GeometryCollection"}"#,
    ]
    let ring = CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 1, 0, 1, 1, 0, 0])
    for (index, text) in texts.enumerated() {
      let polygon = Geometry.polygon([ring], .xy)
      let expected = index == 3 ? .geometryCollection([polygon], .xy) : polygon
      #expect(try GeoJSONReading(text).rows.map(\.geometry) == [expected], "\(text)")
    }
  }

  @Test func `the old crs member is heeded wherever it stands`() throws {
    let cases: [(String, SRS)] = [
      (#"{"type":"name","properties":{"name":"EPSG:25833"}}"#, SRS("EPSG", 25833)),
      (#"{"properties":{"name":"urn:ogc:def:crs:EPSG::3857"},"type":"name"}"#, SRS("EPSG", 3857)),
      (#"{"type":"name","properties":{"name":"urn:x-ogc:def:crs:EPSG:3857"}}"#, SRS("EPSG", 3857)),
      (#"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}"#, .wgs84),
      (
        #"{"type":"name","properties":{"name":"http://www.opengis.net/def/crs/EPSG/0/2180"}}"#,
        SRS("EPSG", 2180)
      ),
      (#"{"type":"EPSG","properties":{"code":4258}}"#, SRS("EPSG", 4258)),
      ("null", .wgs84),
    ]
    for (crs, srs) in cases {
      let texts = [
        #"{"type":"FeatureCollection","crs":\#(crs),"features":[\#(feature(1))]}"#,
        #"{"type":"FeatureCollection","features":[\#(feature(1))],"crs":\#(crs)}"#,
        #"{"type":"Feature","crs":\#(crs),"properties":null,"geometry":null}"#,
        #"{"type":"Point","coordinates":[1,2],"crs":\#(crs)}"#,
      ]
      for text in texts { #expect(try GeoJSONReading(text).schema.geometry?.srs == srs, "\(text)") }
    }
  }

  @Test func `an SRS that is unknown or second is an error unless the caller names one`() throws {
    func named(_ name: String) -> String {
      #"{"type":"Feature","geometry":null,"properties":{},"#
        + #""crs":{"type":"name","properties":{"name":"\#(name)"}}}"#
    }
    let cases = [
      (named("MARS"), "the coordinate reference system 'MARS' is not known"),
      (named("EPSG:1") + named("EPSG:2"), "two coordinate reference systems, EPSG:1 and EPSG:2"),
    ]
    for (text, message) in cases {
      #expect { try GeoJSONReading(text) } throws: { "\($0)".contains(message) }
      let reading = try GeoJSONReading(text) { $0.sourceSRS = SRS("EPSG", 3857) }
      #expect(reading.schema.geometry?.srs == SRS("EPSG", 3857))
    }
  }

  @Test func `a broken line is skipped on request`() throws {
    let broken = [
      #"{"type":"Feature","properties":{"n":2"#, #"{"type":"Feature",}"#, "{\"a\":\"\u{1}\"}",
      #"{"type":"Topology"}"#, "null", #"{"type":"Feature","properties":{"n":01}}"#,
    ]
    for line in broken {
      for separator in ["", "\u{1E}"] {
        let text = [feature(1), line, feature(3)].map { separator + $0 }.joined(separator: "\n")
        #expect(throws: FieldpackError.self) { try GeoJSONReading(text) }
        let reading = try GeoJSONReading(text) { $0.skipsErrors = true }
        #expect(reading.recorder.column("n") == [1, 3], "\(line)")
        #expect(reading.result.skipped.listed.map(\.position?.feature) == [2])
      }
    }
    let pretty = "{\n\"type\": \"Feature\",\n\"properties\": tru\n}"
    #expect(throws: FieldpackError.self) { try GeoJSONReading(pretty) { $0.skipsErrors = true } }
  }

  @Test func `skipped features leave no trace`() throws {
    let bad = #"{"type":"Feature","id":7,"geometry":{"type":"Point"},"properties":{"bad":"x"}}"#
    let reading = try GeoJSONReading("\(feature(1))\n\(bad)\n\(feature(3))") {
      $0.skipsErrors = true
    }
    #expect(reading.columns == ["n INTEGER"])
    #expect(reading.rows.map(\.id) == [1, 2])
    #expect(reading.result.counts == ["x": 2])
    #expect(reading.result.skipped.count == 1)
  }

  @Test func `a text cut anywhere is an error and never a trap`() throws {
    let text = Array(
      (#"{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:4326"}},"#
        + #""features":[{"type":"Feature","id":1,"geometry":{"type":"GeometryCollection","#
        + #""geometries":[{"type":"MultiPolygon","coordinates":[[[[0,0,1],[1,0],[1,1],[0,0]]]]}]},"#
        + #""properties":{"a":"é","b":[1,{"c":null}],"d":-1.5e3,"e":true}}]}"#).utf8)
    for length in 0..<text.count {
      #expect(throws: FieldpackError.self) {
        try GeoJSONReading(String(decoding: text[..<length], as: UTF8.self))
      }
    }
    #expect(try GeoJSONReading(String(decoding: text, as: UTF8.self)).rows.count == 1)
  }

  @Test func `nesting of any kind ends at a cap`() {
    let nested = String(repeating: "[", count: 100_000)
    let texts = [
      #"{"type":"Polygon","coordinates":\#(nested)"#,
      #"{"type":"Feature","properties":{"a":\#(nested)"#,
      #"{"type":"Feature","bbox":\#(nested)"#,
      String(
        repeating: #"{"type":"GeometryCollection","geometries":["#, count: 100_000),
    ]
    for text in texts { #expect(throws: FieldpackError.self) { try GeoJSONReading(text) } }
    let levels = { (count: Int) in
      String(repeating: #"{"type":"GeometryCollection","geometries":["#, count: count)
        + String(repeating: "]}", count: count)
    }
    #expect(throws: Never.self) { try GeoJSONReading(levels(32)) }
    #expect { try GeoJSONReading(levels(33)) } throws: {
      "\($0)".contains("nested more than 32 deep")
    }
  }

  @Test func `the caller can stop a read`() throws {
    let features = String(repeating: feature(1) + "\n", count: 30_000)
    #expect {
      try GeoJSONReading(features) {
        $0.progress = { bytes throws(FieldpackError) in
          if bytes > 1 << 20 { throw FieldpackError(.interrupted, "stopped") }
        }
      }
    } throws: { ($0 as? FieldpackError)?.code == .interrupted }
  }
}
