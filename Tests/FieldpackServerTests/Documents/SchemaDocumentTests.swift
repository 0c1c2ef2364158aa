import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

/// Part 5 and the queryables of Part 3.
@Suite(.programs) struct SchemaDocumentTests {
  /// The properties of the layer of wells, and which of the documents have them.
  private static let properties: [(name: String, isIn: String, json: String)] = [
    (
      "fid", "qso",
      #"{"title":"Feature id","type":"integer","readOnly":true,"x-ogc-role":"id","x-ogc-propertySeq":1}"#
    ),
    (
      "geom", "qs",
      #"{"title":"Geometry","format":"geometry-point","x-ogc-role":"primary-geometry","#
        + #""x-ogc-propertySeq":2}"#
    ),
    ("name", "qso", #"{"type":"string","maxLength":40,"title":"Name","x-ogc-propertySeq":3}"#),
    (
      "depth", "qso",
      #"{"type":"number","minimum":0,"exclusiveMaximum":500,"#
        + #""description":"In metres. Allowed: at least 0.0 and below 500.0.","x-ogc-propertySeq":4}"#
    ),
    (
      "state", "qso",
      #"{"type":"string","enum":["new","known"],"description":"Allowed: one of 'new', 'known'.","#
        + #""x-ogc-propertySeq":5}"#
    ),
    (
      "visits", "qso",
      #"{"type":"integer","minimum":0,"maximum":9,"#
        + #""description":"Allowed: at least 0.0 and at most 9.0.","x-ogc-propertySeq":6}"#
    ),
    (
      "grade", "qso",
      #"{"type":"integer","enum":[1,2],"description":"Allowed: one of '1', '2'.","x-ogc-propertySeq":7}"#
    ),
    ("dry", "qso", #"{"type":"boolean","x-ogc-propertySeq":8}"#),
    ("drilled", "qso", #"{"type":"string","format":"date","x-ogc-propertySeq":9}"#),
    (
      "seen", "qso",
      #"{"type":"string","format":"date-time","x-ogc-role":"primary-instant","x-ogc-propertySeq":10}"#
    ),
    (
      "tags", "qs",
      #"{"type":["object","array","string","number","boolean"],"x-ogc-propertySeq":11}"#
    ),
    (
      "photo", "s",
      #"{"type":"string","contentEncoding":"base64","contentMediaType":"image/jpeg","x-ogc-propertySeq":12}"#
    ),
    ("label", "qso", #"{"type":"string","readOnly":true,"x-ogc-propertySeq":13}"#),
    ("price", "qso", #"{"type":"number","x-ogc-propertySeq":14}"#),
  ]

  @Test(arguments: [
    ("queryables", "q", ServerDocuments.Name.queryables("wells")),
    ("schema", "s", .schema("wells")),
    ("sortables", "o", .sortables("wells")),
  ])
  func `schemas are those of Part 5`(
    last: String, letter: String, name: ServerDocuments.Name
  ) throws {
    let listed = Self.properties.filter { $0.isIn.contains(letter) }
      .map { #""\#($0.name)":\#($0.json)"# }.joined(separator: ",")
    let required = letter == "s" ? #""required":["name"],"# : ""
    let expected =
      #"{"$schema":"https://json-schema.org/draft/2020-12/schema","#
      + #""$id":"https://example.org/field/collections/wells/\#(last)","type":"object","#
      + #""title":"Wells","description":"Wells of the district.","properties":{\#(listed)},"#
      + required + #""additionalProperties":false}"#
    #expect(try SampleLayers.documents().json(name).text == expected)
  }

  @Test(arguments: GeometryType.allCases)
  func `every type of geometry has a format of Part 5`(type: GeometryType) throws {
    let layer = ServedLayer(
      Layer(schema: Schema(layer: "x", geometry: GeometryColumn("g", type: type)), kind: .features))
    let geometry = try SampleLayers.documents([layer]).json(.schema("x"))["properties"]?["g"]
    let formats = [
      "point", "multipoint", "linestring", "multilinestring", "polygon", "multipolygon",
      "geometrycollection", "any",
    ].map { "geometry-" + $0 }
    #expect(geometry?["type"] == nil)
    #expect(formats.contains(geometry?["format"]?.string ?? ""), "\(type)")
  }

  @Test func `attributes come before an id or a geometry of their name`() throws {
    let layer = ServedLayer(
      Layer(
        schema: Schema(
          layer: "x", geometry: GeometryColumn("geom"),
          columns: [ColumnDefinition("fid", .text()), ColumnDefinition("geom", .double)]),
        kind: .features))
    let json = try SampleLayers.documents([layer]).json(.schema("x"))["properties"]
    #expect(
      json?.text == #"{"fid":{"type":"string","x-ogc-propertySeq":1},"#
        + #""geom":{"type":"number","x-ogc-propertySeq":2}}"#)
  }

  @Test func `the primary instant is the first of instants, else of dates`() {
    func instant(_ columns: ColumnDefinition...) -> String? {
      ServedLayer(Layer(schema: Schema(layer: "x", columns: columns), kind: .attributes))
        .instantColumn?.name
    }
    #expect(instant(.init("a", .date), .init("b", .dateTime), .init("c", .dateTime)) == "b")
    #expect(instant(.init("a", .text()), .init("b", .date)) == "b")
    #expect(instant(.init("a", .text())) == nil)
  }

  @Test(
    .enabled(
      if: Programs.jsonschemaPython != nil, Comment(rawValue: Programs.noJSONSchemaPython)))
  func `schemas are valid, and features are valid by them`() async throws {
    let documents = SampleLayers.documents()
    var lines: [String] = []
    for layer in documents.layers {
      for name in [
        ServerDocuments.Name.queryables(layer.id), .schema(layer.id), .sortables(layer.id),
      ] {
        lines.append(try documents.json(name).text)
      }
    }
    let right =
      #"{"fid":1,"name":"Alte Furt","depth":499.5,"state":"new","visits":9,"grade":2,"#
      + #""dry":false,"drilled":"1999-12-31","seen":"2024-01-31T08:00:00Z","tags":["a",{"b":1}],"#
      + #""photo":"/9j/","label":"A","price":1.5}"#
    let wrong = [
      #"{"name":"x","depth":500}"#, #"{"name":"x","state":"old"}"#, #"{"name":"x","visits":10}"#,
      #"{"name":"x","grade":3}"#, #"{"name":"x","other":1}"#, #"{"depth":1}"#,
      #"{"name":"\#(String(repeating: "x", count: 41))"}"#, #"{"name":"x","dry":1}"#,
    ]
    let input = (lines + ["", lines[1], right] + wrong).joined(separator: "\n")
    let python = try #require(Programs.jsonschemaPython)
    let result = try await Program.run(python, ["-c", Self.validator], input: Data(input.utf8))
    #expect(result.status == 0 && result.output == "15 schemas, 1 right, 8 wrong\n", "\(result)")
  }

  private static let validator = """
    import json, sys
    from jsonschema import Draft202012Validator
    schemas, features = (part.split("\\n") for part in sys.stdin.read().split("\\n\\n"))
    for text in schemas: Draft202012Validator.check_schema(json.loads(text))
    judge = Draft202012Validator(json.loads(features[0]))
    verdicts = [judge.is_valid(json.loads(text)) for text in features[1:]]
    print(f"{len(schemas)} schemas, {sum(verdicts)} right, {verdicts.count(False)} wrong")
    """
}
