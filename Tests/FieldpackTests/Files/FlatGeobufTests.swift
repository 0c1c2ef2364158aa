import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// FlatGeobuf that the tool writes, reads, and asks by its index.
@Suite(.programs) struct FlatGeobufTests {
  private let folder: TemporaryFolder
  private var cache: String { folder.file("cache").path }

  init() throws { folder = try TemporaryFolder() }

  /// Imports CSV into `name.gpkg` and writes `name.fgb`.
  private func export(
    _ csv: String, _ name: String, _ query: Query = Query()
  ) async throws -> ExportReport {
    let file = try folder.write(csv, to: name + ".csv")
    let target = folder.file(name + ".gpkg")
    _ = try await FileImport().run([file.path], into: target.path)
    let workspace = try await Workspace.open(file: target.path)
    let report = try await workspace.exportFeatures(query, to: folder.file(name + ".fgb").path)
    await workspace.close()
    return report
  }

  private func open(_ name: String) async throws -> Workspace {
    var options = FileStore.Options()
    options.cache = .folder(cache)
    return try await Workspace.open(file: folder.file(name).path, options: options)
  }

  /// The features of a file, by id.
  private func features(_ name: String) async throws -> [FeatureID: Feature] {
    let workspace = try await open(name)
    var found: [FeatureID: Feature] = [:]
    for try await feature in try await workspace.query(Query()).features {
      found[try #require(feature.id)] = Feature(
        id: feature.id, geometry: feature.geometry, attributes: feature.attributes)
    }
    await workspace.close()
    return found
  }

  /// What GDAL reads of a file, line by line without order.
  private func ogr(_ name: String, _ arguments: String...) throws -> [String] {
    let output = folder.file("ogr.csv")
    try? FileManager.default.removeItem(at: output)
    _ = try Programs.output(
      Programs.ogr2ogr ?? "",
      ["-f", "CSV", "-lco", "GEOMETRY=AS_WKT", output.path, folder.file(name).path] + arguments)
    return try String(contentsOf: output, encoding: .utf8).split(separator: "\n").map(String.init)
      .sorted()
  }

  private static let shapes = """
    wkt;name;n;x;at;day
    POINT (1 2);Ä;1;0.5;2024-05-01T10:00:00Z;2024-05-01
    LINESTRING (0 0,1 1);"";-2;1e300;;
    POLYGON ((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1));b;3;2.25;2024-05-01T10:00:00.125Z;2024-05-02
    MULTIPOINT ((1 1),(2 2));;;;;
    MULTILINESTRING ((0 0,1 1),(2 2,3 3));c;4;1;;
    MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)));d;5;1.5;;
    GEOMETRYCOLLECTION (POINT (1 1),MULTIPOINT ((3 3)),GEOMETRYCOLLECTION (LINESTRING (0 0,1 1)));e;6;1.5;;
    CIRCULARSTRING (0 0,1 1,2 0);f;7;1.5;;
    COMPOUNDCURVE ((0 0,1 1),CIRCULARSTRING (1 1,2 2,3 1));g;8;1.5;;
    CURVEPOLYGON (CIRCULARSTRING (0 0,1 1,2 0,1 -1,0 0));h;9;1.5;;
    MULTICURVE ((0 0,1 1),CIRCULARSTRING (1 1,2 2,3 1));i;10;1.5;;
    MULTISURFACE (((0 0,1 0,1 1,0 0)),CURVEPOLYGON (CIRCULARSTRING (0 0,1 1,2 0,1 -1,0 0)));j;11;1.5;;
    ;nowhere;12;1.5;;
    """

  @Test func `every geometry type and value comes back`() async throws {
    let report = try await export(Self.shapes, "shapes")
    #expect(report.count == 13)
    #expect(report.notes == [])
    let written = try await features("shapes.fgb")
    #expect(written.count == 13)
    #expect(try await features("shapes.gpkg") == written)
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
  func `GDAL reads every geometry type as in a GeoPackage`() async throws {
    _ = try await export(Self.shapes, "shapes")
    let select = ["-select", "name,n,x"]
    #expect(
      try ogr("shapes.fgb", select[0], select[1]) == ogr("shapes.gpkg", select[0], select[1]))
    #expect(try ogr("shapes.fgb", "-spat", "4.9", "4.9", "7", "7").count == 2)
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
  func `GDAL keeps the ids in a GeoPackage`() async throws {
    _ = try await export("lon,lat,name\n1,2,a\n0,0,b\n5,5,c\n-5,5,d\n", "points")
    // To the letter `fid`, GDAL 3.12 fails at it.
    let bytes = try Data(contentsOf: folder.file("points.fgb"))
    #expect(bytes.range(of: Data("FID".utf8)) != nil)
    #expect(bytes.range(of: Data("fid".utf8)) == nil)
    _ = try Programs.output(
      Programs.ogr2ogr ?? "",
      ["-f", "GPKG", folder.file("gdal.gpkg").path, folder.file("points.fgb").path])
    #expect(try await features("gdal.gpkg") == features("points.gpkg"))
  }

  @Test func `positions have z and m where the layer declares them`() async throws {
    let report = try await export(
      """
      wkt;n
      LINESTRING ZM (0 0 1 2,1 1 3 4);1
      LINESTRING Z (0 0 1,1 1 3);2
      LINESTRING (0 0,1 1);3
      """, "lines")
    #expect(report.notes.map(\.text) == ["positions without z or m get 0"])
    #expect(
      try await features("lines.fgb").mapValues { $0.geometry.map { WKT.text(of: $0) } } == [
        1: "LINESTRING ZM (0 0 1 2,1 1 3 4)", 2: "LINESTRING ZM (0 0 1 0,1 1 3 0)",
        3: "LINESTRING ZM (0 0 0 0,1 1 0 0)",
      ])
  }

  @Test func `empty geometries are written as none, with a note`() async throws {
    let report = try await export(
      """
      wkt;n
      "MULTIPOLYGON (EMPTY,((0 0,1 0,1 1,0 0)))";1
      MULTIPOLYGON EMPTY;2
      MULTIPOLYGON (EMPTY);3
      """, "empty")
    #expect(
      report.notes.map(\.text) == ["FlatGeobuf has no empty geometries: 2 are written as none"])
    #expect(
      try await features("empty.fgb").mapValues { $0.geometry.map { WKT.text(of: $0) } } == [
        1: "MULTIPOLYGON (((0 0,1 0,1 1,0 0)))", 2: nil, 3: nil,
      ])
  }

  @Test func `a layer of attributes stays one, and an empty one, too`() async throws {
    _ = try await export("name,n\na,1\nb,2\n", "table")
    let workspace = try await open("table.fgb")
    let schema = try await workspace.store("table").schemas()
    #expect(schema.map(\.geometry) == [nil])
    #expect(schema.map { $0.columns.map(\.name) } == [["name", "n"]])
    #expect(try await workspace.count(Query()) == 2)
    await workspace.close()
    let none = Query(where: Column<String>("name") == "z")
    #expect(try await export("lon,lat,name\n1,2,b\n", "none", none).count == 0)
    #expect(try await features("none.fgb") == [:])
  }

  // MARK: The index

  /// 2,000 points on a grid of a degree, and one without a place.
  private func exportGrid() async throws {
    var csv = "lon,lat,n\n"
    for n in 0..<2000 { csv += "\(n % 50),\(n / 50),\(n)\n" }
    let report = try await export(csv + ",,2000\n", "grid")
    #expect(report.count == 2001)
  }

  private func entries() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: cache)) ?? [])
      .filter { $0.hasSuffix(".gpkg") }
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
  func `GDAL finds through the index what is in a box`() async throws {
    try await exportGrid()
    #expect(try ogr("grid.fgb").count == 2002)
    #expect(try ogr("grid.fgb", "-spat", "9.5", "9.5", "19.5", "14.5").count == 51)
    #expect(try ogr("grid.fgb", "-spat", "-10", "-10", "60", "60").count == 2001)
    #expect(try ogr("grid.fgb", "-spat", "9.1", "9.1", "9.9", "9.9").count == 1)
  }

  @Test func `a box is answered by the index, and the file is not imported`() async throws {
    try await exportGrid()
    let file = folder.file("grid.fgb")
    var bytes = try Data(contentsOf: file)
    // The curve ends in the corner of the largest x and the smallest y.
    bytes.replaceSubrange(
      bytes.count - 3000..<bytes.count, with: Data(repeating: 0xFF, count: 3000))
    try bytes.write(to: file)
    let workspace = try await open("grid.fgb")
    let box = Filter.intersects(Envelope(minX: 0, minY: 0, maxX: 3.5, maxY: 2), srs: .wgs84)
    let query = Query("grid", where: box && Column<Int64>("n") > 1)
    var found: [Int64] = []
    for try await feature in try await workspace.query(query).features {
      found.append(feature[Column<Int64>("n")] ?? -1)
    }
    #expect(found.sorted() == [2, 3, 50, 51, 52, 53, 100, 101, 102, 103])
    #expect(try await workspace.count(query) == 10)
    #expect(try await workspace.store("grid").schemas().map(\.layer) == ["grid"])
    let report = try await workspace.exportFeatures(query, to: folder.file("part.geojson").path)
    #expect(report.count == 10)
    #expect(entries() == [])
    let error = await #expect(throws: FieldpackError.self) {
      try await workspace.count(Query("grid"))
    }
    #expect(error?.code == .invalidData)
    await workspace.close()
  }

  @Test(arguments: [
    (Filter.intersects(Envelope(minX: 10, minY: 10, maxX: 12, maxY: 12)), 9),
    (!Filter.envelope(.disjoint, Envelope(minX: 10, minY: 10, maxX: 12, maxY: 12)), 9),
    (
      .or([
        .intersects(Envelope(minX: 1, minY: 1, maxX: 1, maxY: 1)),
        .intersects(Envelope(minX: 3, minY: 1, maxX: 4, maxY: 1)),
      ]), 3
    ),
    (.intersects(Envelope(minX: 48, minY: 3, maxX: 1, maxY: 3), srs: .wgs84), 4),
    (
      .intersects(
        Envelope(minX: 1_100_000, minY: 1_100_000, maxX: 1_250_000, maxY: 1_250_000),
        srs: SRS("EPSG", 3857)), 4
    ),
    (.intersects(.point(x: 7, y: 8), srs: .wgs84), 1),
    (.envelope(.disjoint, Envelope(minX: 1, minY: 1, maxX: 90, maxY: 90)), 89),
    (Column<Int64>("n") >= 1990, 11),
  ])
  func `the answer is that of the whole file`(filter: Filter, count: Int) async throws {
    try await exportGrid()
    let query = Query("grid", where: filter)
    let indexed = try await open("grid.fgb")
    let part = try await indexed.count(query)
    await indexed.close()
    let known = try await open("grid.fgb")
    _ = try await known.store("grid").layers()
    let whole = try await known.count(query)
    await known.close()
    #expect(part == count && whole == count)
  }

  @Test func `many boxes, or a large one, are answered from the cache`() async throws {
    try await exportGrid()
    let workspace = try await open("grid.fgb")
    for x in 0..<7 {
      let box = Envelope(minX: Double(x), minY: 0, maxX: Double(x), maxY: 1)
      #expect(try await workspace.count(Query("grid", where: .intersects(box))) == 2)
    }
    #expect(entries() == [])
    let box = Envelope(minX: 8, minY: 0, maxX: 8, maxY: 1)
    #expect(try await workspace.count(Query("grid", where: .intersects(box))) == 2)
    #expect(entries().count == 1)
    await workspace.close()
  }

  @Test func `an index that leads astray is an error`() async throws {
    try await exportGrid()
    let file = folder.file("grid.fgb")
    let whole = try Data(contentsOf: file)
    let header = 12 + Int(whole[8]) + Int(whole[9]) << 8
    for place in [header + 32, header + 40 + 32, header + 40 * 200 + 32] {
      var bytes = whole
      for byte in 0..<8 { bytes[place + byte] = 0x7F }
      try bytes.write(to: file)
      let workspace = try await open("grid.fgb")
      let box = Envelope(minX: -1, minY: -1, maxX: 15, maxY: 15)
      let error = await #expect(throws: FieldpackError.self) {
        for x in 0..<7 {
          let box = Envelope(minX: 7 * Double(x), minY: 0, maxX: 7 * Double(x) + 7, maxY: 40)
          _ = try await workspace.count(Query("grid", where: .intersects(box)))
        }
        _ = try await workspace.count(Query("grid", where: .intersects(box)))
      }
      #expect(error?.code == .invalidData)
      await workspace.close()
    }
  }
}
