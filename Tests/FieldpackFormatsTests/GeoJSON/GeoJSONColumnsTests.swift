import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackFormats

@Suite struct GeoJSONColumnsTests {
  /// A collection of features with these `properties`.
  private func collection(_ properties: [String]) -> String {
    let features = properties.map { #"{"type":"Feature","geometry":null,"properties":\#($0)}"# }
    return #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
  }

  private func values(_ texts: [String]) throws -> (type: String, stored: [Value]) {
    let reading = try GeoJSONReading(collection(texts.map { #"{"v":\#($0)}"# }))
    return (reading.columns.joined(), reading.recorder.column("v"))
  }

  @Test func `a column holds what all of its values are`() throws {
    let cases: [([String], String, [Value])] = [
      (["1", "-9223372036854775808"], "v INTEGER", [1, .integer(.min)]),
      (["9007199254740993", "null"], "v INTEGER", [9_007_199_254_740_993, nil]),
      (["1", "2.50"], "v REAL", [1.0, 2.5]),
      (["true", "false", "null"], "v BOOLEAN", [1, 0, nil]),
      (["true", "1.50"], "v TEXT", ["true", "1.50"]),
      (
        ["1e2", #""a""#, "12345678901234567890", "false"], "v TEXT",
        ["1e2", "a", "12345678901234567890", "false"]
      ),
      (["18446744073709551615"], "v REAL", [18_446_744_073_709_551_615.0]),
      (["1e999", "1"], "v TEXT", ["1e999", "1"]),
      (["null", "null"], "v TEXT", [nil, nil]),
      ([#"{ "a" : [1, 2.0 ] }"#, "null"], "v JSON", [#"{"a":[1,2.0]}"#, nil]),
      (["[]", #""x\"y""#, "1.0", "true"], "v JSON", ["[]", #""x\"y""#, "1.0", "true"]),
      ([#""2024-02-29""#, "null"], "v DATE", ["2024-02-29", nil]),
      ([#""2023-02-29""#], "v TEXT", ["2023-02-29"]),
      ([#""2024-02-29""#, #""x""#], "v TEXT", ["2024-02-29", "x"]),
      (
        [#""2024-02-29T23:30:00-01:00""#, #""1969-12-31 23:59:59.5Z""#], "v DATETIME",
        ["2024-03-01T00:30:00.000Z", "1969-12-31T23:59:59.500Z"]
      ),
      ([#""2024-02-29T23:30:00""#], "v TEXT", ["2024-02-29T23:30:00"]),
      ([#""2024-02-29T23:30:00.1234Z""#], "v TEXT", ["2024-02-29T23:30:00.1234Z"]),
      ([#""9999-12-31T23:59:59-01:00""#], "v TEXT", ["9999-12-31T23:59:59-01:00"]),
      (
        [#""2024-02-29T23:30:00Z""#, #""2024-02-29""#], "v TEXT",
        ["2024-02-29T23:30:00Z", "2024-02-29"]
      ),
      ([#""a\u0000b""#], "v TEXT", ["a\0b"]),
    ]
    for (texts, type, stored) in cases {
      let found = try values(texts)
      #expect(found.type == type, "\(texts)")
      #expect(found.stored == stored, "\(texts)")
    }
  }

  @Test func `columns stand in the order of first appearance`() throws {
    let reading = try GeoJSONReading(
      collection([#"{"b":1,"a":2}"#, #"{"a":3,"c":true,"b":null}"#, "null", "{}", #"{"c":false}"#]))
    #expect(reading.columns == ["b INTEGER", "a INTEGER", "c BOOLEAN"])
    #expect(
      reading.rows.map(\.values) == [
        [1, 2, nil], [nil, 3, 1], [nil, nil, nil], [nil, nil, nil], [nil, nil, 0],
      ])
    #expect(reading.rows.map(\.id) == [1, 2, 3, 4, 5])
  }

  @Test func `names that differ by case or are taken get a number`() throws {
    let reading = try GeoJSONReading(
      collection([#"{"Name":1,"name":2,"NAME":3,"FID":4,"geom":5,"":6,"a\u0000b":7,"name_2":8}"#]))
    #expect(
      reading.schema.columns.map(\.name)
        == ["Name", "name_2", "NAME_3", "FID_2", "geom_2", "property", "a_b", "name_2_2"])
    #expect(reading.rows[0].values == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(
      reading.result.notes.first == "property 'name' is column 'name_2'"
        && reading.result.notes.count == 7)
  }

  @Test func `of members with one name the last counts`() throws {
    let reading = try GeoJSONReading(
      #"{"type":"Feature","id":1,"id":2,"properties":{"z":0},"geometry":{"type":"Point","#
        + #""coordinates":[1,2]},"properties":{"a":"x","a":2},"geometry":{"type":"Point","#
        + #""coordinates":[1,2],"coordinates":[3,4]}}"#)
    #expect(reading.columns == ["a INTEGER"])
    #expect(reading.rows.map(\.values) == [[2]])
    #expect(reading.rows.map(\.id) == [2])
    #expect(reading.rows[0].geometry == .point(x: 3, y: 4))
  }

  @Test func `a surprise behind the head costs a second pass and nothing else`() throws {
    var properties = Array(repeating: #"{"v":1}"#, count: 1200)
    properties.append(#"{"v":"x","w":2}"#)
    let reading = try GeoJSONReading(collection(properties))
    #expect(reading.passes == 2)
    #expect(reading.columns == ["v TEXT", "w INTEGER"])
    #expect(reading.rows.first?.values == ["1", nil])
    #expect(reading.rows.last?.values == ["x", 2])
  }

  @Test func `too many properties are refused`() {
    let members = (0..<2000).map { #""p\#($0)":1"# }.joined(separator: ",")
    #expect {
      try GeoJSONReading(collection(["{\(members)}"]))
    } throws: { error in
      "\(error)".contains("more than 1990 different properties")
    }
  }

  @Test func `names and texts may hold anything`() throws {
    let long = String(repeating: "ä", count: 1000)
    let reading = try GeoJSONReading(
      collection([#"{"a\"b; DROP TABLE x":"';--","😀":"\ud83d\ude00","\#(long)":"\#(long)"}"#]))
    #expect(reading.schema.columns.map(\.name) == ["a\"b; DROP TABLE x", "😀", long])
    #expect(reading.rows[0].values == ["';--", "😀", .text(long)])
  }

  @Test func `SpatialConnect's metadata is a column of its own`() throws {
    let reading = try GeoJSONReading(
      #"{"type":"Feature","geometry":null,"properties":{"metadata":1},"#
        + #""metadata":{"client": "x", "storeId":"s"}}"#)
    #expect(reading.columns == ["metadata INTEGER", "metadata_2 JSON"])
    #expect(reading.schema.columns[1].description == GeoJSONReader.metadataTitle)
    #expect(reading.rows[0].values == [1, #"{"client":"x","storeId":"s"}"#])
  }

  @Test func `members of no meaning are named`() throws {
    let feature = #"{"type":"Feature","geometry":null,"properties":null,"tippecanoe":{"a":[1]}}"#
    let reading = try GeoJSONReading("\(feature)\n\(feature)")
    #expect(
      reading.result.notes
        == ["members of features that GeoJSON does not define are left out: tippecanoe (2)"])
  }
}
