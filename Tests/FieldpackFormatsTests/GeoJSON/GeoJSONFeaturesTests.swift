import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackFormats

@Suite struct GeoJSONFeaturesTests {
  private func read(_ text: String) throws(FieldpackError) -> [GeoJSONFeature] {
    try GeoJSONFeatures.read(Array(text.utf8))
  }

  @Test func `absent, null and given are told apart`() throws {
    let features = try read(
      #"{"type":"FeatureCollection","features":[{"type":"Feature"},"#
        + #"{"type":"Feature","id":null,"geometry":null,"properties":null},"#
        + #"{"id":7,"properties":{"a":null,"b":true,"c":1,"d":1.0,"e":"x","f":{ "g":[ ]}},"#
        + #""geometry":{"coordinates":[1,2],"type":"Point"},"type":"Feature"}]}"#)
    #expect(features.map(\.id) == [nil, nil, 7])
    #expect(features.map(\.geometry) == [.keep, .set(nil), .set(.point(x: 1, y: 2))])
    #expect(
      features.map(\.attributes) == [
        [:], [:], ["a": nil, "b": true, "c": 1, "d": 1.0, "e": "x", "f": #"{"g":[]}"#],
      ])
    #expect(features.map(\.position.feature) == [1, 2, 3])
  }

  @Test func `an id may be a key tuple`() throws {
    let key = KeyTuple(store: "FORM_STORE", layer: "potholes", feature: 42)
    let features = try read(
      #"{"type":"Feature","id":"Rk9STV9TVE9SRQ==.cG90aG9sZXM=.NDI="}"# + "\n"
        + #"{"type":"Feature","id":"team.3"}"# + "\n" + #"{"type":"Feature","id":1.50}"#)
    #expect(features.map(\.key) == [key, nil, nil])
    #expect(features.map(\.id).dropFirst() == [.text("team.3"), .text("1.50")])
  }

  @Test func `a geometry alone is a feature`() throws {
    let features = try read(#"{"type":"Point","coordinates":[1,2,3]}"#)
    #expect(features.map(\.geometry) == [.set(try WKT.read("POINT Z (1 2 3)"))])
  }

  @Test func `what is no feature is an error with its place`() {
    let cases = [
      ("", "line 1:1, feature 1, byte 0: a GeoJSON object expected, not the end of the text"),
      ("[]", "line 1:1, feature 1, byte 0: a GeoJSON object expected, not '['"),
      ("{}", "line 1:1, feature 1, byte 0: this is no GeoJSON Feature"),
      (
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1]}}"#,
        "line 1:61, feature 1, byte 60: a position has fewer than two numbers"
          + " (RFC 7946 section 3.1.1)"
      ),
      (
        #"{"type":"FeatureCollection","features":[{"type":"Point","coordinates":[1,2]}]}"#,
        "line 1:41, feature 1, byte 40: this is no GeoJSON Feature"
      ),
    ]
    for (text, message) in cases {
      #expect { try read(text) } throws: { "\($0)" == message }
    }
  }

  @Test func `geometries are read from text and written as text`() throws {
    let text = #"{"type":"MultiPoint","coordinates":[[1,2],[3.5,-4]]}"#
    #expect(try Geometry(geoJSON: text).geoJSON() == text)
    for bad in ["null", "{}", text + "1", "", #"{"type":"Feature"}"#] {
      #expect(throws: FieldpackError.self) { try Geometry(geoJSON: bad) }
    }
  }
}
