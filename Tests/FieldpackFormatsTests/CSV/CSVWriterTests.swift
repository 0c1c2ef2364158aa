import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct CSVWriterTests {
  static let schema = Schema(
    layer: "wells", geometry: GeometryColumn(type: .point),
    columns: [
      ColumnDefinition("name", .text()), ColumnDefinition("depth", .double),
      ColumnDefinition("n", .integer), ColumnDefinition("dry", .boolean),
      ColumnDefinition("raw", .blob()), ColumnDefinition("seen", .dateTime),
    ])

  static let features: [Feature] = [
    Feature(
      id: 7, geometry: .point(x: 11.5, y: -0.25),
      attributes: [
        "name": "A, \"B\"\n", "depth": 5.0, "n": 9_223_372_036_854_775_807, "dry": true,
        "raw": .blob([1, 2, 255]), "seen": .text("2024-05-01T10:00:00.000Z"),
      ]),
    Feature(
      id: "x y", geometry: nil,
      attributes: ["name": "", "depth": .real(.infinity), "n": -1, "dry": false]),
    Feature(id: 9, geometry: .point(nil, .xy), attributes: ["name": "=1+1", "depth": 1e-9]),
  ]

  static func write(
    _ features: [Feature], _ schema: Schema, _ change: (inout CSVWriter.Options) -> Void = { _ in }
  ) throws -> (text: String, skipped: [SkippedFeature]) {
    let output = ByteOutput()
    var options = CSVWriter.Options()
    change(&options)
    var writer = CSVWriter(output, options: options)
    try writer.begin(schema)
    for feature in features {
      try writer.feature(ValueRow(feature, id: feature.id ?? 0, schema: schema))
    }
    return (String(decoding: output.buffer, as: UTF8.self), writer.skipped)
  }

  @Test func `names with another delimiter come back`() throws {
    let names = ["lon;l^at;fid;d;", "tab\there"]
    let schema = Schema(
      layer: "odd", idColumn: "fid", columns: names.map { ColumnDefinition($0, .text()) })
    let feature = Feature(id: 1, attributes: [names[0]: "7;on;l;f;d", names[1]: "a"])
    let text = try Self.write([feature], schema).text
    #expect(text == "fid,\"lon;l^at;fid;d;\",\"tab\there\"\r\n1,7;on;l;f;d,a\r\n")
    #expect(try readCSV(text).schema("test")?.columns.map(\.name) == ["fid"] + names)
  }

  @Test func `writes a header, quotes where needed and WKT`() throws {
    #expect(
      try Self.write(Self.features, Self.schema).text
        == [
          "fid,name,depth,n,dry,raw,seen,wkt",
          "7,\"A, \"\"B\"\"\n\",5.0,9223372036854775807,true,AQL/,2024-05-01T10:00:00.000Z,POINT (11.5 -0.25)",
          "x y,\"\",Infinity,-1,false,,,",
          "9,=1+1,1e-9,,,,,POINT EMPTY", "",
        ].joined(separator: "\r\n"))
  }

  @Test func `writes keys first, and x and y`() throws {
    let text = try Self.write(Self.features, Self.schema) {
      $0.keyStore = "survey"
      $0.geometry = .xy
      $0.delimiter = UInt8(ascii: ";")
      $0.decimals = 2
    }.text
    let key = KeyTuple(store: "survey", layer: "wells", feature: 9)
    let lines = text.components(separatedBy: "\r\n")
    #expect(lines.first == "key;fid;name;depth;n;dry;raw;seen;x;y")
    #expect(lines[1].hasSuffix(";2024-05-01T10:00:00.000Z;11.5;-0.25"))
    #expect(lines[3] == "\(key);9;=1+1;1e-9;;;;;;")
  }

  @Test func `what is no point has no x and y`() throws {
    let line = Feature(
      id: 1, geometry: .lineString(CoordinateSequence(dimensions: .xy, ordinates: [1, 2, 3, 4])))
    let schema = Schema(layer: "l", geometry: GeometryColumn())
    #expect(try Self.write([line], schema).text == "fid,wkt\r\n1,\"LINESTRING (1 2,3 4)\"\r\n")
    let error = #expect(throws: FieldpackError.self) {
      try Self.write([line], schema) { $0.geometry = .xy }
    }
    #expect(error?.code == .invalidData)
    let skipped = try Self.write([line, Self.features[0]], schema) {
      $0.geometry = .xy
      $0.skipsErrors = true
    }
    #expect(skipped.text == "fid,x,y\r\n7,11.5,-0.25\r\n")
    #expect(skipped.skipped.map(\.location) == [.init(layer: "l", feature: 1)])
  }

  @Test func `takes one layer`() throws {
    var writer = CSVWriter(ByteOutput())
    try writer.begin(Self.schema)
    try writer.begin(Self.schema)
    let error = #expect(throws: FieldpackError.self) { try writer.begin(Schema(layer: "b")) }
    #expect(error?.code == .invalidArgument)
  }

  @Test func `comes back as it went`() throws {
    let columns = Self.schema.columns.filter { $0.name != "raw" }
    let schema = Schema(layer: "test", geometry: GeometryColumn(type: .point), columns: columns)
    let time = try #require(Instant("2024-05-01T10:00:00Z"))
    let features = [
      Feature(
        id: 3, geometry: .point(Position(x: 1.5, y: 2, z: -3), .xyz),
        attributes: [
          "name": "a;b\r\n\"c\" ", "depth": 2.0, "n": 5, "dry": true, "seen": .dateTime(time),
        ]),
      Feature(id: 1, geometry: nil, attributes: ["name": "", "depth": -0.0, "dry": false]),
    ]
    let reading = try readCSV(try Self.write(features, schema).text) { $0.idColumn = "fid" }
    #expect(reading.features("test") == features)
    #expect(reading.columns("test") == columns.map { "\($0.name) \($0.type.sql)" })
  }

  @Test(arguments: [false, true])
  func `a number without a digit before its point comes back as one`(skipsErrors: Bool) throws {
    let first = try readCSV("id,x,y,r\n1,1e3,-25,.A\n.51,,,2") { $0.skipsErrors = skipsErrors }
    let schema = try #require(first.schema("test"))
    #expect(schema.columns.map(\.type) == [.double, .text()])
    let text = try Self.write(first.features("test"), schema).text
    #expect(text == "fid,id,r,wkt\r\n1,1.0,.A,POINT (1000 -25)\r\n2,0.51,2,\r\n")
    let again = try readCSV(text) { $0.idColumn = "fid" }
    #expect(again.schema("test")?.columns == schema.columns)
    #expect(again.features("test") == first.features("test"))
  }
}
