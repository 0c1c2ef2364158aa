import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

@Suite(.programs) struct MapExportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Two wells and a road in one SRS, which is WGS 84 where none is given.
  private func workspace(in srs: SRS? = nil) async throws -> Workspace {
    func feature(_ geometry: String) -> String {
      "{\"type\":\"Feature\",\"properties\":{\"name\":\"a & b\"},\"geometry\":\(geometry)}\n"
    }
    let wells = try folder.write(
      feature(#"{"type":"Point","coordinates":[1,50]}"#)
        + feature(#"{"type":"Point","coordinates":[2,51]}"#), to: "wells.geojsonl")
    let roads = try folder.write(
      feature(#"{"type":"LineString","coordinates":[[1,50],[3,50.5]]}"#), to: "roads.geojsonl")
    var options = ImportOptions()
    options.srs = srs
    let target = folder.file("field.gpkg")
    _ = try await FileImport(options).run([wells.path], into: target.path)
    options.srs = nil
    _ = try await FileImport(options).run([roads.path], into: target.path)
    return try await Workspace.open(file: target.path)
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: folder.file(name), encoding: .utf8)
  }

  private func legend(of svg: String) -> [String] {
    svg.matches(of: #/<text [^>]*font-size="13"[^>]*>([^<]*)</#).map { String($0.1) }
  }

  // Skipped where there is no xmllint.
  @Test(.enabled(if: Programs.xmllint != nil, Comment(rawValue: Programs.noXMLLint)))
  func `a map is written by the extension of its file`() async throws {
    let workspace = try await workspace()
    let svg = folder.file("map.svg")
    let report = try await workspace.exportFeatures(Query(), to: svg.path)
    #expect(
      report.layers == [
        .init(store: "field", layer: "wells", count: 2),
        .init(store: "field", layer: "roads", count: 1),
      ])
    #expect(report.isComplete && report.notes == [])
    let drawing = try text("map.svg")
    #expect(drawing.contains("<title>field.gpkg</title>"))
    #expect(legend(of: drawing) == ["wells", "roads"])
    #expect(drawing.matches(of: #/<circle /#).count == 2)
    let xmllint = try #require(Programs.xmllint)
    let checked = try await Program.run(xmllint, ["--noout", svg.path])
    #expect(checked.status == 0 && checked.error == "", "\(checked)")
    try await workspace.exportFeatures(Query(), to: folder.file("map.htm").path)
    let page = try text("map.htm")
    #expect(page.hasPrefix("<!DOCTYPE html>\n"))
    #expect(page.contains(#"["1","a & b"]"#))
    await workspace.close()
  }

  @Test func `options give the title, and bytes are a map as well`() async throws {
    let workspace = try await workspace()
    var options = ExportOptions()
    options.title = "Wells & <roads>"
    let counts = Locked<[Int]>([])
    options.progress = { count in counts.withLock { $0.append(count) } }
    let output = ByteOutput()
    let report = try await workspace.exportFeatures(
      Query("wells"), to: output, as: .svg, options: options)
    #expect(report.count == 2)
    #expect(counts.withLock { $0 } == [2])
    let drawing = String(decoding: output.buffer, as: UTF8.self)
    #expect(drawing.contains("<title>Wells &amp; &lt;roads&gt;</title>"))
    #expect(legend(of: drawing) == ["wells"])
    try await workspace.exportFeatures(
      Query("wells"), to: folder.file("m.svg").path, options: options)
    #expect(try text("m.svg") == drawing)
    await workspace.close()
  }

  @Test(arguments: ["svg", "html"])
  func `a file that exists stays, unless it is to be replaced`(suffix: String) async throws {
    let workspace = try await workspace()
    let file = try folder.write("before", to: "map.\(suffix)")
    let refused = await #expect(throws: FieldpackError.self) {
      try await workspace.exportFeatures(Query(), to: file.path)
    }
    #expect(refused?.code == .cannotCreate)
    var options = ExportOptions()
    options.overwrite = true
    let error = await #expect(throws: FieldpackError.self) {
      try await workspace.exportFeatures(Query("none"), to: file.path, options: options)
    }
    #expect(error?.code == .notFound)
    #expect(try text("map.\(suffix)") == "before")
    try await workspace.exportFeatures(Query(), to: file.path, options: options)
    #expect(try text("map.\(suffix)").contains("<svg "))
    let others = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
      .filter { $0.contains("map.") }
    #expect(others == ["map.\(suffix)"])
    await workspace.close()
  }

  @Test(arguments: [SRS("EPSG", 25831), nil])
  func `layers are drawn in the SRS that they share, else in WGS 84`(srs: SRS?) async throws {
    let workspace = try await workspace(in: srs)
    let all = try await workspace.exportFeatures(Query(), to: folder.file("all.svg").path)
    #expect(all.transformations.map(\.layer) == (srs == nil ? [] : ["wells"]))
    let corner = #/>1\.000°, 51\.0+°</#
    #expect(try text("all.svg").contains(corner))
    let wells = try await workspace.exportFeatures(
      Query("wells"), to: folder.file("wells.svg").path)
    #expect(wells.transformations.isEmpty)
    #expect(try text("wells.svg").contains(corner) == (srs == nil))
    await workspace.close()
  }

  @Test func `key tuples have no place on a map`() async throws {
    let workspace = try await workspace()
    var options = ExportOptions()
    options.writesKeys = true
    let error = await #expect(throws: FieldpackError.self) {
      try await workspace.exportFeatures(Query(), to: folder.file("map.svg").path, options: options)
    }
    #expect(error?.message == "SVG has no place for key tuples")
    let read = await #expect(throws: FieldpackError.self) {
      try await workspace.exportFeatures(Query(), to: folder.file("a.nmea").path)
    }
    #expect(read?.message.hasPrefix("NMEA is read and not written") == true)
    await workspace.close()
  }

  @Test func `a layer without an SRS hides none of its name elsewhere`() async throws {
    for (name, srs) in [("a", "EPSG:25833"), ("b", ""), ("c", "EPSG:4326")] {
      var options = ImportOptions()
      options.srs = SRS(srs) ?? .undefinedCartesian
      options.sourceSRS = options.srs
      let file = try folder.write("name,x,y\n\(name),13,52\n", to: "wells.csv")
      _ = try await FileImport(options).run([file.path], into: folder.file("\(name).gpkg").path)
    }
    let stores = ["a", "b", "c"].map {
      #"{"id":"\#($0)","store_type":"gpkg","version":"1","uri":"\#($0).gpkg"}"#
    }
    let config = try folder.write(
      #"{"stores":[\#(stores.joined(separator: ","))]}"#, to: "all.scfg")
    let workspace = try await Workspace.open([config.path])
    let report = try await workspace.exportFeatures(
      Query("wells").limit(5), to: folder.file("all.svg").path)
    #expect(
      report.layers == [
        .init(store: "a", layer: "wells", count: 1), .init(store: "c", layer: "wells", count: 1),
      ])
    #expect(report.notes == ["layer 'b/wells' has no SRS and is not drawn"])
    #expect(legend(of: try text("all.svg")) == ["a/wells", "c/wells"])
    await workspace.close()
  }
}
