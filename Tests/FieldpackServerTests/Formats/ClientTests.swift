import FieldpackCore
import FieldpackTestSupport
import Testing

@testable import FieldpackServer

#if Server
  /// Clients of other projects.
  @Suite(.programs) struct ClientTests {
    private func output(
      of script: String, by python: String?, _ server: TestServer
    ) async throws -> String {
      let result = try await Program.run(python ?? "", ["-c", script, server.address])
      #expect(result.status == 0, "\(result)")
      return result.output
    }

    @Test(
      .enabled(if: Programs.owslibPython != nil, Comment(rawValue: Programs.noOWSLibPython)))
    func `OWSLib lists collections and reads features`() async throws {
      let server = try await TestServer()
      let script = """
        import sys
        from owslib.ogcapi.features import Features
        server = Features(sys.argv[1] + "/")
        print(server.links[0]["rel"], len(server.conformance()["conformsTo"]) > 20)
        print(server.feature_collections(), server.api()["openapi"])
        print([float(n) for n in server.collection("wells")["extent"]["spatial"]["bbox"][0]])
        print(sorted(server.collection_queryables("wells")["properties"]))
        def ids(**options):
          return [one["id"] for one in server.collection_items("wells", **options)["features"]]
        print(ids(bbox=[1.5, 0, 3.5, 9]), ids(datetime_="1970-01-03/.."  , limit=2))
        print(ids(filter="depth > 5"), ids(sortby=("seen", "desc"), limit=2, offset=1))
        print(server.collection_item("wells", "4")["geometry"]["coordinates"])
        """
      #expect(
        try await output(of: script, by: Programs.owslibPython, server) == """
          self True
          ['wells'] 3.0.3
          [0.0, 0.0, 18.0, 9.0]
          ['depth', 'fid', 'geom', 'name', 'seen']
          [3, 4, 20] [3, 4]
          [7, 14] [19, 18]
          [3, 1.5]

          """)
      await server.close()
    }

    /// GDAL 3.12, which asks for conditions by itself.
    @Test(.enabled(if: Programs.arrowPython != nil, Comment(rawValue: Programs.noArrowPython)))
    func `a newer GDAL pages and filters`() async throws {
      let server = try await TestServer(wells: 2_500)
      let script = """
        import sys, pyogrio
        source = "OAPIF:" + sys.argv[1] + "/"
        info = pyogrio.read_info(source, layer="wells", force_feature_count=True)
        print(info["geometry_type"], {"name", "depth", "seen"} <= set(info["fields"]))
        print(info["features"])
        def names(**options):
          meta, ids, shapes, columns = pyogrio.raw.read(
            source, layer="wells", columns=["name"], return_fids=True, **options)
          return list(columns[0])
        all = names()
        print(len(all), len(set(all)))
        print(names(where="depth > 5 AND name LIKE 'well 1_'"))
        print(names(bbox=(1.5, 0, 3.5, 9)))
        """
      let text = try await output(of: script, by: Programs.arrowPython, server)
      #expect(
        text == """
          Point True
          2500
          2500 2500
          ['well 13']
          ['well 2', 'well 3']

          """)
      await server.close()
    }
  }
#endif
