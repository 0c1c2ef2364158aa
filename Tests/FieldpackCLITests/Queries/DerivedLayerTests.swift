import FieldpackTestSupport
import Foundation
import Testing

/// Rows of SQL, joins and groups in place of layers.
@Suite(.programs) struct DerivedLayerTests {
  private let folder: TemporaryFolder

  /// Squares of 10 that overlap by 2, and points, some of which no square holds.
  init() async throws {
    folder = try TemporaryFolder()
    var squares = ["name,kind,wkt"]
    for n in 0..<25 {
      let (x, y) = (n % 5 * 8, n / 5 * 8)
      squares.append(
        "s\(n),\(n % 3 == 0 ? "a" : "b"),\"POLYGON ((\(x) \(y), \(x + 10) \(y), "
          + "\(x + 10) \(y + 10), \(x) \(y + 10), \(x) \(y)))\"")
    }
    var points = ["name,depth,x,y"]
    for n in 0..<200 {
      points.append("p\(n),\(n % 13),\(Double(n % 20) * 2.5 + 0.3),\(Double(n / 20) * 5 + 0.7)")
    }
    _ = try folder.write(squares.joined(separator: "\n"), to: "squares.csv")
    _ = try folder.write(points.joined(separator: "\n"), to: "points.csv")
    let result = try await Tool.run(
      "import", "squares.csv", "points.csv", "--source-srs", "EPSG:4326", "--into", "f.gpkg",
      folder: folder.url)
    #expect(result.status == 0, "\(result.error)")
  }

  private func tool(_ words: String...) async throws -> RunResult {
    try await Tool.run(words, folder: folder.url)
  }

  private func csv(_ words: String...) async throws -> [String] {
    let result = try await Tool.run(
      ["query", "f.gpkg"] + words + ["--format", "csv"], folder: folder.url)
    #expect(result.status == 0, "\(result.error)")
    return result.output.components(separatedBy: "\r\n").filter { !$0.isEmpty }
  }

  /// Which points lie in which squares, by comparing numbers.
  private static let pairs: [(square: Int, point: Int)] = (0..<25).flatMap { s in
    (0..<200).compactMap { p in
      let (x, y) = (Double(p % 20) * 2.5 + 0.3, Double(p / 20) * 5 + 0.7)
      let (west, south) = (Double(s % 5 * 8), Double(s / 5 * 8))
      let isIn = x >= west && x <= west + 10 && y >= south && y <= south + 10
      return isIn ? (s, p) : nil
    }
  }

  private static func firstTwo(_ line: String) -> String {
    line.split(separator: ",").prefix(2).joined(separator: ",")
  }

  @Test func `a join pairs features by the ids of both`() async throws {
    let found = try await csv(
      "squares", "--join", "points", "--relation", "contains", "--select", "name,points_name")
    let wanted = Self.pairs.enumerated().map { "s\($1.square),p\($1.point)" }
    let pairs: [String] = found.dropFirst().map(Self.firstTwo)
    #expect(pairs == wanted)
    let others = try await csv(
      "points", "--join", "squares", "--relation", "within", "--select", "name,squares_name")
    let turned = Self.pairs.sorted { ($0.point, $0.square) < ($1.point, $1.square) }
      .map { "p\($0.point),s\($0.square)" }
    let turnedPairs: [String] = others.dropFirst().map(Self.firstTwo)
    #expect(turnedPairs == turned)
    let count = try await tool("query", "f.gpkg", "points", "--join", "squares", "--count")
    #expect(count.output == "\(Self.pairs.count)\n")
  }

  @Test func `both sides use an index`() async throws {
    for (left, right) in [("squares", "points"), ("points", "squares")] {
      let result = try await tool("explain", "f.gpkg", left, "--join", right)
      #expect(
        result.output.contains("SEARCH l USING R-TREE rtree_points_geom")
          || result.output.contains("SEARCH l USING R-TREE rtree_squares_geom")
          || result.output.contains("SEARCH r USING R-TREE"), "\(result.output) \(result.error)")
    }
  }

  @Test func `conditions are on the layer, and on what it is joined with`() async throws {
    let own = try await csv(
      "points", "--join", "squares", "--where", "depth = 3 AND name LIKE 'p1%'")
    let wanted = Self.pairs.filter { $0.point % 13 == 3 && "p\($0.point)".hasPrefix("p1") }.count
    #expect(own.count - 1 == wanted && wanted > 0)
    let other = try await csv("points", "--join", "squares", "--where", "squares_name = 's7'")
    #expect(other.count - 1 == Self.pairs.filter { $0.square == 7 }.count)
    let box = try await csv(
      "points", "--join", "squares", "--bbox", "0,0,9,9", "--bbox-srs", "EPSG:4326")
    #expect(box.count > 1 && box.count < Self.pairs.count)
  }

  @Test func `groups tell counts, sums and unions`() async throws {
    let groups = try await csv(
      "squares", "--join", "points", "--group-by", "kind", "--aggregate",
      "count,sum(depth),min(depth),max(depth),avg(depth)")
    var wanted: [String] = []
    for kind in ["a", "b"] {
      let depths = Self.pairs.filter { ($0.square % 3 == 0) == (kind == "a") }.map { $0.point % 13 }
      let average = Double(depths.reduce(0, +)) / Double(depths.count)
      wanted.append(
        "\(kind),\(depths.count),\(depths.reduce(0, +)),\(depths.min()!),\(depths.max()!),"
          + "\(average)"
      )
    }
    #expect(groups.first == "kind,count,sum_depth,min_depth,max_depth,avg_depth")
    #expect(
      Array(groups.dropFirst()) == wanted)
    let union = try await tool(
      "export", "f.gpkg", "squares", "--group-by", "kind", "--aggregate", "count,union", "--output",
      "u.gpkg")
    #expect(union.status == 0, "\(union.error)")
    let areas = try await tool(
      "sql", "u.gpkg", "SELECT kind, count, ST_IsValid(geom) v FROM squares ORDER BY kind",
      "--format", "csv")
    #expect(areas.output == "kind,count,v\r\na,9,1\r\nb,16,1\r\n", "\(areas.error)")
  }

  @Test(arguments: [
    [], ["--where", "depth < 9 AND name LIKE 'p1%'"], ["--bbox", "0,0,30,30"],
    ["--where", "depth > 3", "--bbox", "0,0,30,30"],
  ])
  func `rows of SQL are grouped as those of a layer`(conditions: [String]) async throws {
    let grouping = [
      "--group-by", "depth", "--aggregate", "count,max(name),union", "--format", "geojson",
    ]
    let sql = "SELECT * FROM points -- and no more"
    let results = [
      try await Tool.run(
        ["query", "f.gpkg", "points"] + conditions + grouping, folder: folder.url),
      try await Tool.run(
        ["query", "f.gpkg", "--sql", sql] + conditions + grouping, folder: folder.url),
    ]
    #expect(results.map(\.status) == [0, 0], "\(results.map(\.error))")
    #expect(results[0].output == results[1].output && results[0].output.contains("MultiPoint"))
  }

  @Test(arguments: [
    (["--where", "nosuch > 5"], 66, "layer 'sql' has no column 'nosuch'"),
    (["--where", "count > 5"], 66, "layer 'sql' has no column 'count'"),
    (["--aggregate", "union"], 64, "there is no column of geometries to make a union of"),
  ])
  func `what rows of SQL lack is told`(words: [String], status: Int, message: String) async throws {
    let sql = "SELECT depth FROM points"
    let result = try await Tool.run(
      ["query", "f.gpkg", "--sql", sql, "--group-by", "depth"] + words, folder: folder.url)
    #expect(result.error.contains(message), "\(result.error)")
    #expect(result.status == status)
  }

  @Test func `rows of SQL leave in every format`() async throws {
    let sql =
      "SELECT fid, geom, upper(name) AS loud, depth * 1.5 AS half FROM points WHERE depth > 10 "
      + "ORDER BY depth DESC, fid"
    let rows = try await csv("--sql", sql, "--limit", "2")
    #expect(rows.first?.hasPrefix("fid,loud,half,") == true, "\(rows)")
    #expect(
      rows.dropFirst().map { String($0.prefix(9)) } == ["13,P12,18", "26,P25,18"],
      "\(rows)")
    for file in ["a.geojson", "a.gpkg", "a.csv", "a.geojsonl"] {
      let result = try await tool(
        "export", "f.gpkg", "--sql", sql, "--where", "half > 17", "--output", file)
      #expect(result.output == "15 features of layer sql written to \(file)\n", "\(result.error)")
    }
    let check = try await tool("info", "a.gpkg", "--json")
    #expect(check.output.contains(#""column":"half","type":"REAL""#), "\(check.output)")
    #expect(check.output.contains(#""geometry_type":"POINT","z":"#), "\(check.output)")
  }

  @Test func `hostile and wrong statements are refused`() async throws {
    let cases: [(String, Int32, String)] = [
      ("DELETE FROM points", 77, "more than read"),
      ("SELECT 1; DROP TABLE points", 77, "more than read, which that of a layer may not"),
      ("SELECT width FROM points", 64, "no such column"),
      ("ATTACH 'x' AS y", 77, "more than read"),
      ("SELECT * FROM points WHERE depth = ?", 64, "no parameters"),
    ]
    for (sql, status, words) in cases {
      let result = try await tool("query", "f.gpkg", "--sql", sql)
      #expect(result.status == status && result.error.contains(words), "\(sql): \(result.error)")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(names == ["f.gpkg", "points.csv", "squares.csv"])
  }

  @Test func `layers of two stores are joined`() async throws {
    let config =
      #"{"stores":[{"id":"one","store_type":"gpkg","version":"1","uri":"one.gpkg","name":"one"},"#
      + #"{"id":"two","store_type":"gpkg","version":"1","uri":"two.gpkg","name":"two"}]}"#
    _ = try folder.write(config, to: "s.scfg")
    for (file, layer) in [("one.gpkg", "points.csv"), ("two.gpkg", "squares.csv")] {
      let made = try await tool("import", layer, "--into", file)
      #expect(made.status == 0, "\(made.error)")
    }
    for name in ["squares", "two/squares"] {
      let count = try await tool("query", "s.scfg", "points", "--join", name, "--count")
      #expect(count.output == "\(Self.pairs.count)\n", "\(count.error)")
    }
  }

  @Test(arguments: [
    ("77 of 4326", 4326, "ST_SetSRID(geom, 77)"),
    ("77 of 3857", 3857, "ST_SetSRID(ST_Transform(geom, 3857), 77)"),
  ])
  func `each file of a join has its own numbers of systems`(
    name: String, code: Int, geometry: String
  ) async throws {
    let config =
      #"{"stores":[{"id":"one","store_type":"gpkg","version":"1","uri":"one.gpkg","name":"one"},"#
      + #"{"id":"two","store_type":"gpkg","version":"1","uri":"two.gpkg","name":"two"}]}"#
    _ = try folder.write(config, to: "s.scfg")
    for (file, layer) in [("one.gpkg", "points.csv"), ("two.gpkg", "squares.csv")] {
      let made = try await tool(
        "import", layer, "--source-srs", "EPSG:4326", "--into", file)
      #expect(made.status == 0, "\(made.error)")
    }
    let row = "INSERT INTO gpkg_spatial_ref_sys (srs_name, srs_id, organization, "
    for (file, organization) in [("one.gpkg", 25832), ("two.gpkg", code)] {
      let made = try await tool(
        "sql", file, "--write",
        row
          + "organization_coordsys_id, definition) VALUES ('own', 77, 'EPSG', \(organization), '')")
      #expect(made.status == 0, "\(made.error)")
    }
    let made = try await tool(
      "sql", "two.gpkg", "--write",
      "UPDATE squares SET geom = \(geometry); UPDATE gpkg_contents SET srs_id = 77; "
        + "UPDATE gpkg_geometry_columns SET srs_id = 77")
    #expect(made.status == 0, "\(made.error)")
    let count = try await tool("query", "s.scfg", "points", "--join", "two/squares", "--count")
    #expect(count.output == "\(Self.pairs.count)\n", "\(count.error)")
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `GDAL sees types and systems of what is written`() async throws {
    let sql =
      "SELECT fid, upper(name) AS loud, depth, depth / 2.0 AS half, length(name) AS n, "
      + "ST_Transform(ST_Buffer(geom, 0.1), 3857) AS around FROM points ORDER BY fid"
    for words in [
      ["--sql", sql, "--output", "sql.gpkg"],
      ["squares", "--join", "points", "--relation", "contains", "--output", "join.gpkg"],
      ["squares", "--group-by", "kind", "--aggregate", "count,union", "--output", "group.gpkg"],
      ["squares", "--srs", "EPSG:3857", "--promote-to-multi", "--output", "multi.gpkg"],
    ] {
      let result = try await Tool.run(["export", "f.gpkg"] + words, folder: folder.url)
      #expect(result.status == 0, "\(result.error)")
    }
    let script = """
      import sys
      from osgeo import ogr
      ogr.UseExceptions()
      for path in sys.argv[1:]:
          file = ogr.Open(path)
          layer = file.GetLayer(0)
          definition = layer.GetLayerDefn()
          fields = [definition.GetFieldDefn(i) for i in range(definition.GetFieldCount())]
          valid = all(f.GetGeometryRef().IsValid() for f in layer)
          print(layer.GetName(), layer.GetFeatureCount(), ogr.GeometryTypeToName(layer.GetGeomType()),
                layer.GetSpatialRef().GetAuthorityCode(None), valid,
                " ".join(f"{f.GetName()}:{f.GetTypeName()}" for f in fields))
      """
    let seen = try await Program.run(
      Programs.gdalPython ?? "",
      ["-c", script, "sql.gpkg", "join.gpkg", "group.gpkg", "multi.gpkg"], folder: folder.url)
    #expect(
      seen.output == """
        sql 200 Polygon 3857 True loud:String depth:Integer64 half:Real n:Integer64
        squares \(Self.pairs.count) Polygon 4326 True fid:Integer64 name:String kind:String \
        points_name:String depth:Integer64 points_fid:Integer64
        squares 2 Unknown (any) 4326 True kind:String count:Integer64
        squares 25 Multi Polygon 3857 True name:String kind:String

        """, "\(seen.error)")
  }

  @Test func `what is not read names a converter`() async throws {
    let files: [(String, [UInt8])] = [
      ("a.parquet", Array("PAR1".utf8)),
      ("a.xml", Array("<?xml version=\"1.0\"?><a xmlns=\"http://www.opengis.net/gml/3.2\"/>".utf8)),
    ]
    for ((name, bytes), kind) in zip(files, ["a Parquet file", "a GML file"]) {
      try Data(bytes).write(to: folder.file(name))
      for words in [
        ["info", name], ["query", name, "--sql", "SELECT 1"], ["import", name, "--into", "x.gpkg"],
      ] {
        let result = try await Tool.run(words, folder: folder.url)
        #expect(result.status == 1 && result.output == "", "\(words)")
        #expect(
          result.error.contains(
            "\(name) is \(kind), which is not read. Try: ogr2ogr -f GPKG out.gpkg \(name)"),
          "\(result.error)")
      }
    }
  }
}
