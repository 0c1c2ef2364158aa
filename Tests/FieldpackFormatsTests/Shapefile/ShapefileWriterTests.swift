import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct ShapefileWriterTests {
  /// What was written, in memory.
  private struct Written {
    var bytes = ShapefileBytes()
    var skipped: [SkippedFeature] = []
    var notes: [String] = []
  }

  private static func write(
    _ schema: Schema, _ features: [Feature], skipsErrors: Bool = false
  ) throws -> Written {
    let (shapes, index, table) = (ByteOutput(), ByteOutput(), ByteOutput())
    var writer = ShapefileWriter(
      .init(shapes: shapes, index: index, table: table), skipsErrors: skipsErrors)
    try writer.begin(schema)
    for feature in features {
      try writer.feature(ValueRow(feature, id: try #require(feature.id), schema: schema))
    }
    try writer.finish()
    var written = Written(skipped: writer.skipped, notes: writer.notes)
    written.bytes.files = [
      "shp": shapes.buffer, "shx": index.buffer, "dbf": table.buffer,
      "cpg": Array("UTF-8".utf8), "prj": Array("EPSG:4326".utf8),
    ]
    return written
  }

  private static func layer(
    _ type: GeometryType, z: OrdinateRule = .prohibited, m: OrdinateRule = .prohibited,
    _ columns: [ColumnDefinition] = []
  ) -> Schema {
    Schema(layer: "test", geometry: GeometryColumn(type: type, z: z, m: m), columns: columns)
  }

  static let geometries: [(GeometryType, String)] = [
    (.point, "POINT (1 2)"), (.point, "POINT Z (1 2 3)"), (.point, "POINT M (1 2 3)"),
    (.point, "POINT ZM (1 2 3 4)"), (.multiPoint, "MULTIPOINT ((1 2),(3 4))"),
    (.multiPoint, "MULTIPOINT ZM ((1 2 3 4),(5 6 7 8))"), (.lineString, "LINESTRING (1 2,3 4)"),
    (.lineString, "LINESTRING Z (1 2 5,3 4 6)"), (.lineString, "LINESTRING M (1 2 5,3 4 6)"),
    (.multiLineString, "MULTILINESTRING ((1 2,3 4),(5 6,7 8,9 9))"),
    (.polygon, "POLYGON ((0 0,0 9,9 9,9 0,0 0),(1 1,2 1,2 2,1 2,1 1))"),
    (.polygon, "POLYGON ZM ((0 0 1 5,0 9 2 6,9 9 3 7,0 0 1 5))"),
    (.multiPolygon, "MULTIPOLYGON (((0 0,0 1,1 1,0 0)),((5 5,5 6,6 6,5 5)))"),
  ]

  @Test(arguments: geometries)
  func `every geometry comes back`(type: GeometryType, wkt: String) throws {
    let geometry = try WKT.read(wkt)
    let dimensions = geometry.dimensions
    let schema = Self.layer(
      type, z: dimensions.hasZ ? .mandatory : .prohibited,
      m: dimensions.hasM ? .mandatory : .prohibited)
    let features = [
      Feature(id: 3, geometry: geometry, attributes: [:]),
      Feature(id: 7, geometry: nil, attributes: [:]),
    ]
    let written = try Self.write(schema, features)
    let reading = try written.bytes.read()
    #expect(
      reading.features("test").map { $0.geometry.map { WKT.text(of: $0) } } == [
        WKT.text(of: geometry), nil,
      ])
    #expect(reading.features("test").map(\.id) == [3, 7])
    #expect(reading.schema("test")?.geometry == schema.geometry)
    #expect(written.notes == [])
  }

  @Test func `every kind of attribute comes back`() throws {
    let names = ["whole number", "r", "ok", "d", "t", "whole numbers", "whole Numbers 2"]
    let types: [ColumnType] = [.integer, .double, .boolean, .date, .text(), .mediumInt, .json]
    let schema = Self.layer(.point, zip(names, types).map { ColumnDefinition($0, $1) })
    let day = try #require(CalendarDate("2024-02-29"))
    let features = [
      Feature(
        id: 1, geometry: nil,
        attributes: [
          "whole number": .integer(.min), "r": -1.2345678901234567e-100, "ok": true,
          "d": .date(day), "t": "Grüße, 中", "whole numbers": 5, "whole Numbers 2": "{}",
        ]),
      Feature(id: 2, geometry: nil, attributes: ["t": ""]),
    ]
    let written = try Self.write(schema, features)
    #expect(
      written.notes == [
        "column 'whole number' is named 'whole numb'",
        "column 'whole numbers' is named 'whole nu_2'",
        "column 'whole Numbers 2' is named 'whole Nu_3'",
        "empty texts are NULL in a table of dBase: 1 of them",
      ])
    #expect(
      try written.bytes.read().features("test") == [
        Feature(
          id: 1, geometry: nil,
          attributes: [
            "whole numb": .integer(.min), "r": -1.2345678901234567e-100, "ok": true,
            "d": .date(day), "t": "Grüße, 中", "whole nu_2": 5, "whole Nu_3": "{}",
          ]),
        Feature(id: 2, geometry: nil, attributes: [:]),
      ])
  }

  @Test func `what a shapefile has no place for is an error, or told`() throws {
    let schema = Self.layer(.geometry, [ColumnDefinition("t", .text())])
    let long = String(repeating: "ä", count: 200)
    let features = [
      Feature(id: 1, geometry: .point(x: 0, y: 0), attributes: [:]),
      Feature(id: 2, geometry: try WKT.read("LINESTRING (0 0,1 1)"), attributes: [:]),
      Feature(id: 3, geometry: nil, attributes: ["t": .text(long)]),
    ]
    let mixed = #expect(throws: FieldpackError.self) { try Self.write(schema, features) }
    #expect(
      mixed?.message == "the geometry is a LINESTRING: a shapefile holds points, lines or polygons "
        + "alone, and this one holds points")
    #expect(mixed?.location.feature == 2)
    let wide = #expect(throws: FieldpackError.self) { try Self.write(schema, [features[2]]) }
    #expect(wide?.message == "the value of column 't' has 400 bytes, and dBase holds 254")
    let written = try Self.write(schema, features, skipsErrors: true)
    #expect(written.skipped.map(\.location.feature) == [2])
    #expect(written.notes == ["texts are cut to 254 bytes: 1 of them"])
    #expect(
      try written.bytes.read().values("test", "t") == [.null, .text(String(long.prefix(127)))])
  }

  @Test func `an outer ring runs clockwise however it came`() throws {
    let polygon = try WKT.read("POLYGON ((0 0,9 0,9 9,0 0),(5 1,5 2,6 2,5 1))")
    let written = try Self.write(
      Self.layer(.polygon), [Feature(id: 1, geometry: polygon, attributes: [:])])
    #expect(
      try written.bytes.read().features("test").map { $0.geometry.map { WKT.text(of: $0) } } == [
        "POLYGON ((0 0,9 9,9 0,0 0),(5 1,6 2,5 2,5 1))"
      ])
  }

  @Test func `an empty layer is a file without records`() throws {
    let written = try Self.write(Self.layer(.multiPolygon, z: .mandatory), [])
    let reading = try written.bytes.read()
    #expect(reading.features("test") == [])
    #expect(reading.schema("test")?.geometry?.type == .polygon)
    #expect((written.bytes.files["shp"] ?? nil)?.count == 100)
  }
}
