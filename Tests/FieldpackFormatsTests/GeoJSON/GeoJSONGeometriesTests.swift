import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackFormats

@Suite struct GeoJSONGeometriesTests {
  /// The geometry as WKT-like text, or the error without its position.
  private func outcome(_ geometry: String) -> String {
    do {
      let reading = try GeoJSONReading(
        #"{"type":"Feature","properties":null,"geometry":\#(geometry)}"#)
      guard let found = reading.rows[0].geometry else { return "null" }
      return WKT.text(of: found)
    } catch {
      return (error as? FieldpackError)?.message ?? "\(error)"
    }
  }

  private func outcome(_ type: String, _ coordinates: String) -> String {
    outcome(#"{"type":"\#(type)","coordinates":\#(coordinates)}"#)
  }

  @Test func `coordinates are read as their type says`() {
    let cases: [(String, String, String)] = [
      ("Point", "[1,2]", "POINT (1 2)"), ("Point", "[1,2,3]", "POINT Z (1 2 3)"),
      ("Point", "[1,2,3,4,5]", "POINT Z (1 2 3)"), ("Point", "[-0.0,1e3]", "POINT (-0 1000)"),
      ("Point", "[]", "POINT EMPTY"), ("LineString", "[]", "LINESTRING EMPTY"),
      ("Polygon", "[]", "POLYGON EMPTY"), ("MultiPoint", "[]", "MULTIPOINT EMPTY"),
      ("MultiLineString", "[]", "MULTILINESTRING EMPTY"),
      ("MultiPolygon", "[]", "MULTIPOLYGON EMPTY"), ("Polygon", "[[]]", "POLYGON EMPTY"),
      ("MultiPolygon", "[[[]],[]]", "MULTIPOLYGON EMPTY"),
      ("LineString", "[[0,0],[1,1,5]]", "LINESTRING Z (0 0 0,1 1 5)"),
      ("MultiPoint", "[[0,0,1],[1,1]]", "MULTIPOINT Z ((0 0 1),(1 1 0))"),
      (
        "MultiLineString", "[[[0,0],[1,1]],[],[[2,2],[3,3]]]",
        "MULTILINESTRING ((0 0,1 1),(2 2,3 3))"
      ),
      (
        "Polygon", "[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,1],[2,2]]]",
        "POLYGON ((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1))"
      ),
      (
        "MultiPolygon", "[[[[0,0],[1,0],[1,1],[0,0]]],[],[[[5,5],[6,5],[6,6],[5,5]]]]",
        "MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))"
      ),
    ]
    for (type, coordinates, wkt) in cases {
      #expect(outcome(type, coordinates) == wkt, "\(type) \(coordinates)")
    }
  }

  @Test func `parts with too few positions are left out of geometries that have others`() throws {
    let square = "[[0,0],[9,0],[9,9],[0,0]]"
    let cases: [(String, String, String, Int)] = [
      (
        "MultiLineString", "[[[7,7]],[[0,0],[1,1]],[],[[8,8]],[[2,2],[3,3],[4,4]]]",
        "MULTILINESTRING ((0 0,1 1),(2 2,3 3,4 4))", 2
      ),
      (
        "MultiLineString", "[[[0,0],[1,1]],[[99,99,5]]]", "MULTILINESTRING Z ((0 0 0,1 1 0))", 1
      ),
      (
        "Polygon", "[\(square),[[1,1],[2,2],[1,1]],[[3,1],[4,1],[4,2]],[]]",
        "POLYGON ((0 0,9 0,9 9,0 0),(3 1,4 1,4 2,3 1))", 2
      ),
      (
        "MultiPolygon", "[[[[50,50],[60,60]],\(square)],[\(square),[[1,1]]],[],[[]],[\(square)]]",
        "MULTIPOLYGON (((0 0,9 0,9 9,0 0)),((0 0,9 0,9 9,0 0)))", 2
      ),
    ]
    for (type, coordinates, wkt, count) in cases {
      let reading = try GeoJSONReading(#"{"type":"\#(type)","coordinates":\#(coordinates)}"#)
      #expect(reading.rows[0].geometry.map { WKT.text(of: $0) } == wkt)
      #expect(
        reading.result.notes.contains(
          Note(
            "parts of geometries with too few positions are left out (RFC 7946 sections 3.1.4"
              + " and 3.1.6): \(count), the first of feature 1")))
      #expect(reading.rows[0].envelope == reading.rows[0].geometry?.envelope)
    }
  }

  @Test func `what RFC 7946 does not allow is named`() {
    let position = "a position has fewer than two numbers (RFC 7946 section 3.1.1)"
    let number = "a coordinate is not a number (RFC 7946 section 3.1.1)"
    let ring = "a ring has fewer than four positions (RFC 7946 section 3.1.6)"
    let line = "a line has fewer than two positions (RFC 7946 section 3.1.4)"
    let cases: [(String, String, String)] = [
      ("Point", "[1]", position), ("Point", "[1,null]", number), ("Point", #"[1,"2"]"#, number),
      ("Point", "[1,[2]]", number), ("Point", "[1,{}]", number), ("LineString", "[[0,0]]", line),
      ("MultiLineString", "[[[0,0]]]", line), ("Polygon", "[[[0,0],[1,1]]]", ring),
      ("Polygon", "[[[0,0],[1,1],[0,0]]]", ring),
      ("Polygon", "[[],[[0,0],[1,0],[1,1],[0,0]]]", ring),
      ("Point", "5", "coordinates are not an array (RFC 7946 section 3.1)"),
      ("LineString", "[[0,0],[]]", "a position has no numbers (RFC 7946 section 3.1.1)"),
      ("MultiPoint", "[[]]", "a position has no numbers (RFC 7946 section 3.1.1)"),
      ("LineString", "[[0,0],[[1,1]]]", "positions are nested at different depths"),
      ("LineString", "[[0,0],1]", "a position or array expected among the coordinates"),
      (
        "LineString", "[1,2]",
        "the coordinates are not nested as those of a LineString are (RFC 7946 section 3.1)"
      ),
      (
        "Point", "[[]]",
        "the coordinates are nested deeper than those of a Point (RFC 7946 section 3.1)"
      ),
      ("Point", "[1,1e999]", "a coordinate is beyond the range of numbers"),
      ("Circle", "[1,2]", "'Circle' is no geometry type of GeoJSON (RFC 7946 section 1.4)"),
      ("point", "[1,2]", "'point' is no geometry type of GeoJSON (RFC 7946 section 1.4)"),
      ("MultiPolygon", "[[[[[1,2]]]]]", "coordinates are nested too deeply (RFC 7946 section 3.1)"),
    ]
    for (type, coordinates, message) in cases {
      #expect(outcome(type, coordinates) == message, "\(type) \(coordinates)")
    }
    #expect(outcome("[]") == "a geometry is not an object (RFC 7946 section 3.1)")
    #expect(outcome("{}") == "a geometry has no type (RFC 7946 section 3)")
    #expect(
      outcome(#"{"type":"Point"}"#) == "a geometry has no coordinates (RFC 7946 section 3.1)")
    #expect(outcome("null") == "null")
  }

  @Test func `members of a collection share its dimensions`() {
    func collection(_ members: String) -> String {
      outcome(#"{"type":"GeometryCollection","geometries":[\#(members)]}"#)
    }
    let flat = #"{"type":"Point","coordinates":[1,2]}"#
    let high = #"{"type":"LineString","coordinates":[[1,2,3],[4,5,6]]}"#
    let empty = #"{"type":"Polygon","coordinates":[]}"#
    let inner = #"{"type":"GeometryCollection","geometries":[\#(high),\#(empty)]}"#
    #expect(collection("") == "GEOMETRYCOLLECTION EMPTY")
    #expect(collection(flat) == "GEOMETRYCOLLECTION (POINT (1 2))")
    #expect(
      collection("\(flat),\(inner),\(empty)")
        == "GEOMETRYCOLLECTION Z (POINT Z (1 2 0),GEOMETRYCOLLECTION Z "
        + "(LINESTRING Z (1 2 3,4 5 6),POLYGON Z EMPTY),POLYGON Z EMPTY)")
    #expect(collection("null") == "a geometry is not an object (RFC 7946 section 3.1)")
  }

  @Test func `the layer's type is that of all its geometries`() throws {
    let texts = [
      "Point": #"{"type":"Point","coordinates":[1,2]}"#,
      "MultiPoint": #"{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}"#,
      "Line": #"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#,
      "High": #"{"type":"Point","coordinates":[1,2,3]}"#,
    ]
    let cases: [([String], String)] = [
      (["Point"], "POINT"), (["Point", "MultiPoint"], "MULTIPOINT"),
      (["Point", "Line"], "GEOMETRY"), (["Point", "MultiPoint", "Line"], "GEOMETRY"),
      (["High"], "POINT Z"), (["High", "Point"], "POINT Z?"),
    ]
    for (names, type) in cases {
      let lines = names.compactMap { texts[$0] }.joined(separator: "\n")
      #expect(try GeoJSONReading(lines).geometryType == type)
    }
    let mixed = try GeoJSONReading(["Point", "MultiPoint"].compactMap { texts[$0] }.joined())
    #expect(
      mixed.rows.compactMap { $0.geometry.map { WKT.text(of: $0) } } == [
        "MULTIPOINT ((1 2))", "MULTIPOINT ((1 2),(3 4))",
      ])
  }
}
