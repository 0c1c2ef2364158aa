#if PostGIS && Server
  import Fieldpack
  import FieldpackCore
  import FieldpackFieldTestSupport
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS
  @testable import FieldpackServer

  /// The page with the map of a database in a browser; see Tests/Browser.
  @Suite(
    .programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"),
    .enabled(if: Programs.node != nil, Comment(rawValue: Programs.noNode)),
    .enabled(if: Programs.chromium != nil, Comment(rawValue: Programs.noChromium)),
    .enabled(if: MapPage().hasLeaflet, "Leaflet is not installed: install libjs-leaflet"))
  struct ServedMapTests {
    @Test(arguments: ["page.test.mjs", "edit.test.mjs"])
    func `the page works in Chromium`(script: String) async throws {
      let folder = try TemporaryFolder()
      let schema = try await TestSchema.make()
      let path = folder.file("field.gpkg").path
      let file = try await MapSurveyFile.make(at: path)
      await file.close()
      let store = schema.store()
      _ = try await StoreImport().run([ImportSource(path)], into: store)
      try await store.enableLogs(of: ["wells", "zones", "motion"])
      await store.close()
      try schema.run("CREATE TABLE sites (code text PRIMARY KEY, name text)")
      var options = FieldServer.Options()
      options.title = "field"
      options.isWritable = true
      // As in use, where a request does not read the catalogue anew.
      let served = schema.store(trusted: .seconds(2))
      let server = FieldServer(ofDatabase: ServedPostGIS(served), options: options)
      let address = "http://\(try server.listen(on: ListenAddress(port: 0)))"
      let change: JSONValue = [
        .text((TestCluster.programs ?? "") + "/psql"), .text(schema.cluster.uri()), "-qAt", "-c",
        .text("UPDATE \"\(schema.name)\".wells SET name = 'changed' WHERE fid = 2"), "-c",
        "SELECT extract(epoch FROM clock_timestamp()) * 1000",
      ]
      let result = try await Program.run(
        try #require(Programs.node), ["--test", Checkout.file("Tests/Browser/\(script)").path],
        environment: [
          "CHROMIUM": try #require(Programs.chromium), "ADDRESS": address, "CHANGE": change.text,
          "FOLDER": folder.url.path,
        ])
      #expect(result.status == 0, "\(result.output)\(result.error)")
      await server.close()
      await served.close()
    }
  }
#endif
