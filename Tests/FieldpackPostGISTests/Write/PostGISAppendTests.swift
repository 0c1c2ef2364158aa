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
  }

  extension PostGISLoadTests.Target {
    /// A table in SQL.
    fileprivate func table(_ name: String) -> String {
      "\(quotedUnchecked(schema.name)).\(quotedUnchecked(name))"
    }
  }
#endif
