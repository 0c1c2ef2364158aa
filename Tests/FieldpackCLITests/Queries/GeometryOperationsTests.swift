import FieldpackTestSupport
import Foundation
import Testing

/// What is done to geometries on the way out, in all formats, and as GDAL does it.
@Suite(.programs) struct GeometryOperationsTests {
  private let folder: TemporaryFolder

  /// Polygons around a grid, one with a spike and one that crosses itself, and a wavy line each.
  init() async throws {
    folder = try TemporaryFolder()
    var areas: [String] = []
    var lines: [String] = []
    for n in 0..<60 {
      let (x, y) = (10 + Double(n % 10) * 0.01, 50 + Double(n / 10) * 0.01)
      let ring = (0...40).map { step -> String in
        let angle = Double(step % 40) / 40 * 2 * .pi
        let radius = 0.004 + 0.001 * sin(angle * 7)
        return "[\(x + radius * cos(angle)),\(y + radius * sin(angle))]"
      }
      areas.append(Self.feature(n + 1, "Polygon", "[[\(ring.joined(separator: ","))]]"))
      let line = (0...50).map { step -> String in
        "[\(x + Double(step) * 0.0004),\(y + 0.0002 * sin(Double(step)))]"
      }
      lines.append(Self.feature(n + 1, "LineString", "[\(line.joined(separator: ","))]"))
    }
    let bow = "[[[10,51],[10.01,51.01],[10.01,51],[10,51.01],[10,51]]]"
    areas.append(Self.feature(61, "Polygon", bow))
    _ = try folder.write(Self.collection(areas), to: "areas.geojson")
    _ = try folder.write(Self.collection(lines), to: "lines.geojson")
    let result = try await Tool.run(
      "import", "areas.geojson", "lines.geojson", "--into", "f.gpkg", folder: folder.url)
    #expect(result.status == 0, "\(result.error)")
    let metres = try await Tool.run(
      "transform", "f.gpkg", "--srs", "EPSG:32632", "--output", "m.gpkg", folder: folder.url)
    #expect(metres.status == 0, "\(metres.error)")
  }

  private static func feature(_ id: Int, _ type: String, _ coordinates: String) -> String {
    #"{"type":"Feature","id":\#(id),"properties":{"n":\#(id)},"#
      + #""geometry":{"type":"\#(type)","coordinates":\#(coordinates)}}"#
  }

  private static func collection(_ features: [String]) -> String {
    #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
  }

  private func tool(_ words: String...) async throws -> RunResult {
    let result = try await Tool.run(words, folder: folder.url)
    #expect(
      result.error.isEmpty || result.status != 0 || result.error.hasPrefix("note"),
      "\(result.error)")
    return result
  }

  /// Ids with areas and lengths, to nine digits.
  private func measures(_ file: String, _ layer: String) async throws -> [String] {
    let sql =
      "SELECT fid || ' ' || printf('%.9g', ST_Area(geom)) || ' ' || "
      + "printf('%.9g', ST_Length(geom)) || ' ' || ST_IsValid(geom) AS v FROM \"\(layer)\" "
      + "ORDER BY fid"
    return try await tool("sql", file, sql, "--format", "csv").output
      .components(separatedBy: "\r\n").dropFirst().filter { !$0.isEmpty }
  }

  private func ogr(_ words: String...) async throws {
    let result = try await Program.run("ogr2ogr", words, folder: folder.url)
    #expect(result.status == 0, "\(result.error)")
  }

  private static let box = ["10.013", "50.012", "10.068", "50.033"]

  @Test(
    .enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)),
    arguments: ["areas", "lines"])
  func `clips as GDAL does`(layer: String) async throws {
    let made = try await tool(
      "export", "f.gpkg", layer, "--clip", Self.box.joined(separator: ","), "--output", "c.gpkg",
      "--make-valid")
    #expect(made.status == 0, "\(made.error)")
    try await ogr(
      "-f", "GPKG", "-preserve_fid", "-clipsrc", Self.box[0], Self.box[1], Self.box[2], Self.box[3],
      "-nlt", "PROMOTE_TO_MULTI", "gdal.gpkg", "f.gpkg", layer)
    let ours = try await measures("c.gpkg", layer)
    #expect(!ours.isEmpty && ours.count < 40)
    #expect(try await ours == measures("gdal.gpkg", layer))
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
  func `simplifies by metres as GDAL does by units`() async throws {
    _ = try await tool("export", "m.gpkg", "lines", "--simplify", "15", "--output", "s.gpkg")
    try await ogr(
      "-f", "GPKG", "-preserve_fid", "-simplify", "15", "gdal.gpkg", "m.gpkg", "lines")
    let ours = try await measures("s.gpkg", "lines")
    #expect(ours.count == 60)
    #expect(try await ours == measures("gdal.gpkg", "lines"))
    #expect(try await ours != measures("m.gpkg", "lines"))
    // In degrees, by the length of one along the equator.
    _ = try await tool("export", "f.gpkg", "lines", "--simplify", "15", "--output", "d.gpkg")
    try await ogr(
      "-f", "GPKG", "-preserve_fid", "-simplify", "\(15 / 6_378_137.0 * 180 / .pi)", "gdald.gpkg",
      "f.gpkg", "lines")
    #expect(try await measures("d.gpkg", "lines") == measures("gdald.gpkg", "lines"))
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
  func `mends as GDAL does`() async throws {
    _ = try await tool("export", "f.gpkg", "areas", "--make-valid", "--output", "v.gpkg")
    try await ogr(
      "-f", "GPKG", "-preserve_fid", "-makevalid", "-nlt", "PROMOTE_TO_MULTI", "gdal.gpkg",
      "f.gpkg", "areas")
    let ours = try await measures("v.gpkg", "areas")
    #expect(ours.count == 61 && ours.allSatisfy { $0.hasSuffix(" 1") })
    #expect(try await ours == measures("gdal.gpkg", "areas"))
  }

  @Test func `members of collections are worked on by themselves`() async throws {
    let bow = #"{"type":"Polygon","coordinates":[[[0,0],[2,2],[2,0],[0,2],[0,0]]]}"#
    let members = #"{"type":"Point","coordinates":[0.5,0.5]},\#(bow)"#
    let features = [
      #"{"type":"Feature","id":1,"properties":{},"geometry":{"type":"GeometryCollection","#
        + #""geometries":[\#(members)]}}"#
    ]
    _ = try folder.write(Self.collection(features), to: "mixed.geojson")
    // All of it lies on a line.
    let flat = [
      Self.feature(1, "Polygon", "[[[0,0],[1,1],[0,0],[0,0]]]"),
      Self.feature(2, "MultiPolygon", "[[[[0,0],[1,0],[1,1],[0,0]]]]"),
    ]
    _ = try folder.write(Self.collection(flat), to: "flat.geojson")
    for name in ["mixed", "flat"] {
      _ = try await tool("import", "\(name).geojson", "--into", "c.gpkg")
    }
    let words = ["export", "c.gpkg", "--make-valid", "--output", "d.gpkg"]
    #expect(try await Tool.run(words, folder: folder.url).status == 0)
    let mended = try await tool(
      "sql", "d.gpkg",
      "SELECT substr(ST_AsText(geom), 1, 51) FROM mixed UNION ALL "
        + "SELECT substr(ST_AsText(geom), 1, 30) FROM flat",
      "--format", "csv")
    #expect(
      mended.output.split(whereSeparator: \.isNewline).dropFirst() == [
        #""GEOMETRYCOLLECTION (POINT (0.5 0.5),MULTIPOLYGON ((""#, "MULTIPOLYGON EMPTY",
        #""MULTIPOLYGON (((0 0,1 0,1 1,0 ""#,
      ], "\(mended.output)")
    let cut = try await tool(
      "query", "d.gpkg", "mixed", "--clip", "0,0,1,1", "--format", "csv")
    #expect(cut.output.contains("POINT (0.5 0.5)"), "\(cut.output)")
    #expect(cut.output.contains("POLYGON"), "\(cut.output)")
  }

  @Test func `promotes and brings to dimensions in every format`() async throws {
    let words = ["--promote-to-multi", "--dim", "XYZ", "--where", "n = 3"]
    let csv = try await Tool.run(
      ["query", "f.gpkg", "lines", "--format", "csv"] + words, folder: folder.url)
    #expect(csv.output.contains("MULTILINESTRING Z ((10.02 50 0,"), "\(csv.output)")
    let json = try await Tool.run(
      ["query", "f.gpkg", "areas", "--format", "geojson"] + words, folder: folder.url)
    #expect(json.output.contains(#""type":"MultiPolygon","coordinates":[[[["#), "\(json.output)")
    let gpkg = try await Tool.run(
      ["export", "f.gpkg", "--output", "p.gpkg"] + words, folder: folder.url)
    #expect(gpkg.status == 0, "\(gpkg.error)")
    let types = try await tool(
      "sql", "p.gpkg", "SELECT table_name, geometry_type_name, z FROM gpkg_geometry_columns",
      "--format", "csv")
    #expect(
      types.output
        == "table_name,geometry_type_name,z\r\nareas,MULTIPOLYGON,1\r\nlines,MULTILINESTRING,1\r\n")
    let back = try await tool(
      "transform", "p.gpkg", "--srs", "EPSG:4326", "--dim", "XY", "--output", "q.gpkg")
    #expect(back.status == 0, "\(back.error)")
    let flat = try await tool("query", "q.gpkg", "lines", "--format", "csv")
    #expect(flat.output.contains("MULTILINESTRING ((10.02 50,"), "\(flat.output)")
  }

  @Test func `counts and limits tell what is left`() async throws {
    let count = try await tool("query", "f.gpkg", "lines", "--clip", "10.01,49,10.02,51", "--count")
    let listed = try await tool(
      "query", "f.gpkg", "lines", "--clip", "10.01,49,10.02,51", "--format", "geojsonl")
    let lines = listed.output.split(separator: "\n").count
    #expect(count.output == "\(lines)\n" && lines > 0)
    let some = try await tool(
      "query", "f.gpkg", "lines", "--clip", "10.01,49,10.02,51", "--format", "geojsonl", "--limit",
      "4")
    #expect(some.output.split(separator: "\n").count == 4)
  }

  @Test func `a geometry that cannot be cut is named, or passed over`() async throws {
    let words = ["export", "f.gpkg", "areas", "--clip", "10.002,51.002,10.02,51.02"]
    let refused = try await Tool.run(words + ["--output", "x.gpkg"], folder: folder.url)
    #expect(refused.status == 1)
    #expect(refused.error.contains("feature 61 in layer 'areas'"), "\(refused.error)")
    #expect(refused.error.contains("--make-valid"), "\(refused.error)")
    let passed = try await Tool.run(
      words + ["--output", "x.gpkg", "--skip-errors"], folder: folder.url)
    #expect(passed.status == 2)
    let mended = try await Tool.run(
      words + ["--output", "y.gpkg", "--make-valid"], folder: folder.url)
    #expect(mended.status == 0, "\(mended.error)")
    let wrong = try await Tool.run(
      "query", "f.gpkg", "areas", "--clip-srs", "EPSG:4326", folder: folder.url)
    #expect(wrong.status == 64)
  }

  @Test func `a box in degrees cuts layers in metres`() async throws {
    let degrees = try await tool(
      "query", "f.gpkg", "areas", "--clip", Self.box.joined(separator: ","), "--count")
    let metres = try await tool(
      "query", "m.gpkg", "areas", "--clip", Self.box.joined(separator: ","), "--count")
    #expect(degrees.output == metres.output)
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
  func `clips to the polygons of a file and to WKT as GDAL does`() async throws {
    let shape = "POLYGON ((10.013 50.012,10.068 50.012,10.05 50.033,10.013 50.033,10.013 50.012))"
    let area = Self.feature(
      1, "Polygon",
      "[[[10.013,50.012],[10.068,50.012],[10.05,50.033],[10.013,50.033],[10.013,50.012]]]")
    _ = try folder.write(Self.collection([area]), to: "area.geojson")
    try await ogr(
      "-f", "GPKG", "-preserve_fid", "-clipsrc", shape, "-nlt", "PROMOTE_TO_MULTI", "gdal.gpkg",
      "f.gpkg", "lines")
    let theirs = try await measures("gdal.gpkg", "lines")
    for (index, clip) in [shape, "area.geojson", "area.geojson:area"].enumerated() {
      let made = try await tool(
        "export", "f.gpkg", "lines", "--clip", clip, "--output", "\(index).gpkg")
      #expect(made.status == 0, "\(made.error)")
      #expect(try await measures("\(index).gpkg", "lines") == theirs, "\(clip)")
    }
    // The file says its system itself.
    _ = try await tool("import", "area.geojson", "--into", "area.gpkg")
    _ = try await tool("transform", "area.gpkg", "--srs", "EPSG:3857", "--output", "area3857.gpkg")
    let moved = try await tool("query", "f.gpkg", "lines", "--clip", "area3857.gpkg", "--count")
    #expect(moved.output == "\(theirs.count)\n")
  }

  @Test(arguments: [
    ("nix", "--clip 'nix' is neither a file that exists, nor w,s,e,n, nor WKT"),
    ("1,2,3", "--clip '1,2,3' is not four numbers: west,south,east,north"),
    ("POINT (1 2)", "geometries are cut to polygons, and POINT is none"),
    ("f.gpkg:lines", "layer 'lines' of f.gpkg has no polygon to cut to"),
  ])
  func `what nothing can be cut to is named`(clip: String, message: String) async throws {
    let refused = try await Tool.run("query", "f.gpkg", "areas", "--clip", clip, folder: folder.url)
    #expect(refused.status == 64)
    #expect(refused.error.hasPrefix("fieldpack: \(message)"), "\(refused.error)")
  }

  @Test func `buffers in a projected system are those of the plane`() async throws {
    let made = try await tool(
      "export", "m.gpkg", "lines", "--buffer", "15", "--buffer-segments", "4", "--output",
      "b.gpkg")
    #expect(made.status == 0, "\(made.error)")
    let ours = try await tool(
      "sql", "b.gpkg", "SELECT fid, printf('%.6f', ST_Area(geom)) AS v FROM lines",
      "--format", "csv")
    let plane = try await tool(
      "sql", "m.gpkg",
      "SELECT fid, printf('%.6f', ST_Area(ST_Buffer(geom, 15, 4))) AS v FROM lines",
      "--format", "csv")
    #expect(ours.output.split(whereSeparator: \.isNewline).count == 61)
    #expect(ours.output == plane.output)
    let alone = try await Tool.run(
      "query", "f.gpkg", "areas", "--buffer-segments", "4", folder: folder.url)
    #expect(alone.status == 64)
  }
}
