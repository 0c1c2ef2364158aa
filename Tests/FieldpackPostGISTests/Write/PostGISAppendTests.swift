#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// Rows that come to tables which other programs made.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISAppendTests {
    private typealias Target = PostGISLoadTests.Target
    private static let point = """
      {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {},
       "geometry": {"type": "Point", "coordinates": [9, 52]}}]}
      """

    @Test func `layers that would get one name are told`() async throws {
      let target = try await Target()
      let path = target.folder.file("two.gpkg").path
      let files = try ["a", "b"].map { try target.folder.write("v\n1\n", to: "\($0).csv").path }
      _ = try await FileImport().run(files, into: path)
      let workspace = try await Workspace.open(file: URL(fileURLWithPath: path))
      let error = await #expect(throws: FieldpackError.self) {
        try await StoreImport(ImportOptions(layer: "one", mode: .replace))
          .run(workspace, into: target.store)
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.contains("several layers would be called 'one'") == true)
      #expect(try await target.store.layers() == [])
      await workspace.close()
    }

    @Test func `a view's row without an id reads the same by COPY`() async throws {
      let target = try await Target()
      try target.schema.run(
        """
        CREATE VIEW numbers AS SELECT NULL::int AS id, 'x'::text AS v;
        CREATE VIEW names AS SELECT NULL::text AS id, 'x'::text AS v
        """)
      let store = target.schema.store(
        tables: [.init("numbers", id: "id"), .init("names", id: "id")])
      for layer in [LayerID("numbers"), "names"] {
        var read: [Feature] = []
        for try await feature in try await store.query(Query(layer)).features {
          read.append(feature)
        }
        var copied: [Feature] = []
        for try await piece in try await store.pieces(of: Query(layer), into: { Gathering() }) {
          copied += try piece.features
        }
        #expect(copied == read)
        #expect(copied.map(\.id) == [layer == "numbers" ? 0 : ""])
      }
    }
  }

  extension PostGISLoadTests.Target {
    /// A table in SQL.
    fileprivate func table(_ name: String) -> String {
      "\(quotedUnchecked(schema.name)).\(quotedUnchecked(name))"
    }
  }
#endif
