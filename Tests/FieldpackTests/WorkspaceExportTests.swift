import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

@Suite struct WorkspaceExportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func workspace(features: Int) async throws -> Workspace {
    var text = ""
    for number in 0..<features {
      text +=
        "{\"type\":\"Feature\",\"id\":\(number),\"properties\":{\"n\":\(number)},"
        + "\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(Double(number) / 1000),50]}}\n"
    }
    let file = try folder.write(text, to: "points.geojsonl")
    var options = FileStore.Options()
    options.cache = .folder(folder.file("cache").path)
    return try await Workspace.open(file: file.path, options: options)
  }

  private var outputs: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        .filter { $0.contains("out.") }
    }
  }

  @Test func `gives a report of what was written`() async throws {
    let workspace = try await workspace(features: 3)
    let query = Query(where: Column<Int64>("n") > 0).transformed(to: SRS("EPSG", 25831))
    let report = try await workspace.exportFeatures(query, to: folder.file("out.gpkg").path)
    #expect(report.layers == [.init(store: "points", layer: "points", count: 2)])
    #expect(report.isComplete)
    #expect(report.transformations.map(\.report.target) == ["EPSG:25831"])
    let written = try await Workspace.open(file: folder.file("out.gpkg").path)
    let schemas = try await written.store("out").schemas()
    #expect(schemas.map(\.geometry?.srs) == [SRS("EPSG", 25831)])
    #expect(try await written.count(Query()) == 2)
    await written.close()
    await workspace.close()
  }

  @Test func `writes to bytes while features are read`() async throws {
    let workspace = try await workspace(features: 1)
    let output = ByteOutput()
    let report = try await workspace.exportFeatures(Query(), to: output, as: .geoJSONSequence)
    #expect(report.count == 1)
    #expect(
      String(decoding: output.buffer, as: UTF8.self) == """
        {"type":"Feature","id":0,"properties":{"n":0},\
        "geometry":{"type":"Point","coordinates":[0,50]}}

        """)
    await workspace.close()
  }

  @Test(arguments: ["gpkg", "geojson", "fgb", "csv", "gpx", "svg", "html"])
  func `cancelling leaves no file`(suffix: String) async throws {
    let workspace = try await workspace(features: 3000)
    let target = folder.file("out.\(suffix)")
    let code = await Task { () -> FieldpackError.Code? in
      var options = ExportOptions()
      options.progress = { _ in withUnsafeCurrentTask { $0?.cancel() } }
      do throws(FieldpackError) {
        try await workspace.exportFeatures(Query(), to: target.path, options: options)
        return nil
      } catch { return error.code }
    }.value
    #expect(code == .interrupted)
    #expect(try outputs == [])
    await workspace.close()
  }

  @Test func `a system that only a file defines goes along`() async throws {
    let workspace = try await workspace(features: 1)
    let local = folder.file("local.gpkg")
    try await workspace.exportFeatures(Query(), to: local.path)
    await workspace.close()
    let wkt =
      "PROJCS[\"Local\",GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,"
      + "298.257223563]],PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433]],"
      + "PROJECTION[\"Transverse_Mercator\"],PARAMETER[\"latitude_of_origin\",0],"
      + "PARAMETER[\"central_meridian\",0],PARAMETER[\"scale_factor\",1],"
      + "PARAMETER[\"false_easting\",0],PARAMETER[\"false_northing\",0],UNIT[\"metre\",1]]"
    let connection = try Connection(path: local.path, mode: .readWrite, profile: .bulk)
    for statement in [
      "INSERT INTO gpkg_spatial_ref_sys VALUES ('Local', 100000, 'NONE', 100000, '\(wkt)', NULL)",
      "UPDATE gpkg_contents SET srs_id = 100000",
      "UPDATE gpkg_geometry_columns SET srs_id = 100000",
    ] {
      try connection.execute(statement)
    }
    let source = try await Workspace.open(file: local.path)
    try await source.exportFeatures(Query(), to: folder.file("copy.gpkg").path)
    await source.close()
    let copy = try await Workspace.open(file: folder.file("copy.gpkg").path)
    let layer = try #require(try await copy.store("copy").layers().first)
    #expect(layer.schema.geometry?.srs == SRS("NONE", 100_000))
    #expect(layer.srsName == "Local")
    let batches = try await copy.query(Query().transformed(to: .wgs84))
    var positions: [Geometry?] = []
    for try await feature in batches.features { positions.append(feature.geometry) }
    guard case .point(let position?, _)? = positions.first else {
      Issue.record("no point: \(positions)")
      return
    }
    #expect(abs(position.x) < 1e-3 && abs(position.y - 0.00045) < 1e-3)
    await copy.close()
  }
}
