import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

@Suite struct ImportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var target: String { folder.file("out.gpkg").path }

  private func importing(
    _ files: [(String, String)], _ options: ImportOptions = ImportOptions()
  ) async throws -> ImportReport {
    var paths: [String] = []
    for (name, text) in files { paths.append(try folder.write(text, to: name).path) }
    return try await FileImport(options).run(paths, into: target)
  }

  private func rows(_ layer: LayerID, _ columns: [String]) async throws -> [[Value]] {
    let workspace = try await Workspace.open(file: folder.file("out.gpkg").path)
    var rows: [[Value]] = []
    for try await feature in try await workspace.query(Query(layer)).features {
      rows.append(columns.map { feature.attributes[$0] ?? .text("absent") })
    }
    await workspace.close()
    return rows
  }

  private func point(_ properties: String, _ x: Double = 1) -> String {
    #"{"type":"Feature","properties":{\#(properties)},"#
      + #""geometry":{"type":"Point","coordinates":[\#(x),2]}}"# + "\n"
  }

  @Test func `reads a file again when its head misled`() async throws {
    // The head of a megabyte says INTEGER; the last line says TEXT.
    let head = String(repeating: point(#""code":1.50"#), count: 20_000)
    let report = try await importing([("codes.geojsonl", head + point(#""code":"B7""#))])
    #expect(report.count == 20_001)
    let rows = try await rows("codes", ["code"])
    #expect(rows.first == [.text("1.50")])
    #expect(rows.last == [.text("B7")])
  }

  @Test func `appends files of other columns to one layer`() async throws {
    var options = ImportOptions(layer: "all")
    _ = try await importing(
      [("a.geojsonl", point(#""n":1,"a":"x""#)), ("b.geojsonl", point(#""n":2.5,"b":true"#))],
      options)
    #expect(
      try await rows("all", ["n", "a", "b"])
        == [[.real(1), "x", .null], [.real(2.5), .null, .boolean(true)]])
    options.mode = .append
    _ = try await importing([("c.geojsonl", point(#""c":7,"n":3"#))], options)
    #expect(try await rows("all", ["n", "c"]).last == [.real(3), 7])
    await #expect(throws: FieldpackError.self) {
      try await importing([("d.geojsonl", point(#""n":"text""#))], options)
    }
    #expect(try await rows("all", ["n"]).count == 3)
  }

  @Test func `appends to narrower columns what they can hold`() async throws {
    var options = ImportOptions(layer: "all")
    _ = try await importing([("a.geojsonl", point(#""n":1,"t":"a""#))], options)
    // As other programs declare them.
    let connection = try Connection(path: target, mode: .readWrite, profile: .bulk)
    try connection.executeScript(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_master SET sql = replace(replace(sql, '"n" INTEGER', '"n" MEDIUMINT'),
        '"t" TEXT', '"t" TEXT(3)') WHERE name = 'all';
      """)
    options.mode = .append
    _ = try await importing([("b.geojsonl", point(#""n":-2147483648,"t":"äöü""#))], options)
    #expect(try await rows("all", ["n", "t"]).last == [-2_147_483_648, "äöü"])
    for (properties, column) in [
      (#""n":2147483648,"t":"b""#, "column 'n' of layer 'all' is MEDIUMINT"),
      (#""n":1,"t":"äöüß""#, "column 't' of layer 'all' is TEXT(3)"),
    ] {
      do {
        _ = try await importing([("c.geojsonl", point(properties))], options)
        Issue.record("\(properties) was taken")
      } catch let error as FieldpackError {
        #expect(error.message == "\(column) and too narrow for the value of feature 1")
      }
    }
    #expect(try await rows("all", ["n"]).count == 2)
  }

  @Test func `refuses a layer that exists, or replaces it alone`() async throws {
    _ = try await importing([("a.geojsonl", point(#""n":1"#)), ("b.geojsonl", point(#""n":2"#))])
    do {
      _ = try await importing([("a.geojsonl", point(#""n":3"#))])
      Issue.record("an existing layer was not refused")
    } catch let error as FieldpackError {
      #expect(error.code == .cannotCreate)
    }
    _ = try await importing(
      [("a.geojsonl", point(#""n":4"#))], ImportOptions(mode: .replace))
    #expect(try await rows("a", ["n"]) == [[4]])
    #expect(try await rows("b", ["n"]) == [[2]])
  }

  @Test func `refuses what a layer cannot hold, whichever file has it`() async throws {
    let polygon =
      #"{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":"#
      + "[[[0,0],[1,0],[1,1],[0,0]]]}}"
    var options = ImportOptions(layer: "all")
    _ = try await importing([("a.geojsonl", point(#""n":1"#))], options)
    options.mode = .append
    do {
      _ = try await importing(
        [("b.geojsonl", point(#""n":2"#)), ("c.geojsonl", polygon)], options)
      Issue.record("a polygon went into a layer of points")
    } catch let error as FieldpackError {
      #expect(error.code == .invalidData)
      #expect(error.position?.file == folder.file("c.geojsonl").path)
    }
    #expect(try await rows("all", ["n"]) == [[1]])
  }

  @Test func `counts tracks on when GPX files are appended`() async throws {
    let gpx = """
      <gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
      <trkpt lat="1" lon="2"/><trkpt lat="1.5" lon="2"/></trkseg></trk></gpx>
      """
    _ = try await importing(
      [("a.gpx", gpx), ("b.gpx", gpx)], ImportOptions(layer: "walk"))
    #expect(try await rows("walk_track_points", ["track_fid"]) == [[1], [1], [2], [2]])
    _ = try await importing([("c.gpx", gpx)], ImportOptions(layer: "walk", mode: .append))
    #expect(try await rows("walk_track_points", ["track_fid"]).last == [3])
  }

  @Test func `transforms into the SRS asked and leaves nothing on failure`() async throws {
    var options = ImportOptions()
    options.srs = SRS("EPSG", 3857)
    let report = try await importing([("a.geojsonl", point(#""n":1"#))], options)
    #expect(report.transformations.map(\.target) == ["EPSG:3857"])
    let workspace = try await Workspace.open(file: folder.file("out.gpkg").path)
    let layer = try #require(try await workspace.store("out").layers().first)
    #expect(layer.schema.geometry?.srs == SRS("EPSG", 3857))
    #expect(abs((layer.envelope?.minX ?? 0) - 111_319.490793) < 1e-5)
    await workspace.close()
    try FileManager.default.removeItem(atPath: target)
    await #expect(throws: FieldpackError.self) {
      try await importing([("bad.geojsonl", point(#""n":1"#) + "{\"type\":\"Feature\",")])
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(left == ["a.geojsonl", "bad.geojsonl"])
  }

  @Test func `says which id is taken when files are appended`() async throws {
    let feature = #"{"type":"Feature","id":7,"properties":{"n":1},"geometry":null}"#
    var options = ImportOptions(layer: "a")
    _ = try await importing([("a.geojsonl", feature)], options)
    options.mode = .append
    do {
      _ = try await importing([("b.geojsonl", feature)], options)
      Issue.record("a taken id was not refused")
    } catch let error as FieldpackError {
      #expect(error.code == .constraint)
      #expect(error.message == "layer 'a' has a feature 7 already")
      #expect(error.advice == .several([.otherLayerOrOmitIDs, .skipErrors]))
    }
  }
}
