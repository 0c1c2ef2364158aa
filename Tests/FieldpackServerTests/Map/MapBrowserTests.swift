import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// The page with the map in a browser: the tests are in Tests/Browser.
  @Suite(
    .programs,
    .enabled(if: Programs.node != nil, Comment(rawValue: Programs.noNode)))
  struct MapBrowserTests {
    private func run(_ script: String, _ environment: [String: String]) async throws {
      let result = try await Program.run(
        try #require(Programs.node), ["--test", Checkout.file("Tests/Browser/\(script)").path],
        environment: environment)
      #expect(result.status == 0, "\(result.output)\(result.error)")
    }

    @Test(
      .enabled(if: Programs.chromium != nil, Comment(rawValue: Programs.noChromium)),
      .enabled(if: MapPage().hasLeaflet, "Leaflet is not installed: install libjs-leaflet"),
      arguments: ["page.test.mjs", "edit.test.mjs", "pictures.test.mjs"])
    func `the page works in Chromium`(script: String) async throws {
      let survey = try await MapSurvey(pictures: script == "pictures.test.mjs")
      let chromium = try #require(Programs.chromium)
      try await run(
        script,
        [
          "CHROMIUM": chromium, "ADDRESS": survey.address,
          "FILE": survey.folder.file("field.gpkg").path, "FOLDER": survey.folder.url.path,
        ])
      await survey.close()
    }

    @Test func `the page's reader of tiles keeps to the specification`() async throws {
      try await run("mvt.test.mjs", [:])
    }

    @Test(
      .enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)),
      arguments: ["wells", "zones"])
    func `the page reads tiles as GDAL does`(layer: String) async throws {
      let survey = try await MapSurvey()
      let tile = try await survey.get("/collections/\(layer)/tiles/WebMercatorQuad/4/7/8")
      #expect(tile.status == 200)
      // GDAL knows the place of a tile by the names of its folders.
      try FileManager.default.createDirectory(
        at: survey.folder.file("4/8"), withIntermediateDirectories: true)
      let file = survey.folder.file("4/8/7.mvt")
      try Data(tile.body).write(to: file)
      let read = survey.folder.file("tile.json")
      let result = try await Program.run(
        Programs.ogr2ogr ?? "",
        [
          "-f", "GeoJSON", "-lco", "COORDINATE_PRECISION=3", read.path, file.path, "-oo", "CLIP=NO",
        ])
      #expect(result.status == 0, "\(result.error)")
      try await run(
        "mvt.test.mjs", ["TILE": file.path, "GDAL": read.path, "PLACE": "4/8/7"])
      await survey.close()
    }
  }
#endif
