#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A server whose tables are on a disk of 6 MiB. The disk is in the memory of the server's own name
  /// space, and goes with it.
  private enum FullDisk {
    static let canMount: Bool = {
      guard getuid() == 0 else { return false }
      let mount = "mount -t tmpfs -o size=64k fieldpack-test /mnt"
      let trial = try? Programs.output(
        "/usr/bin/env", ["unshare", "-m", "sh", "-c", mount + " && echo yes"])
      return trial == "yes\n"
    }()

    static func make() throws -> TestCluster {
      let cluster = try TestCluster(starter: { folder in
        let user = getpwnam("nobody").map { "uid=\($0.pointee.pw_uid)" } ?? "uid=0"
        let script = """
          mkdir "$0/small" && mount -t tmpfs -o size=6m,\(user),mode=700 fieldpack-test "$0/small" \
          && exec "$@"
          """
        return ["unshare", "-m", "sh", "-c", script, folder]
      })
      let connection = try cluster.connection()
      try connection.execute("CREATE TABLESPACE small LOCATION '\(cluster.folder)/small'")
      try connection.execute("ALTER DATABASE fieldpack SET default_tablespace = small")
      try connection.execute("ALTER DATABASE fieldpack SET temp_tablespaces = small")
      return cluster
    }
  }

  /// What does not fit on the disk of a server.
  @Suite(
    .programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"),
    .enabled(if: FullDisk.canMount, "only root may mount a small disk for a server"))
  struct PostGISFullDiskTests {
    private func wells(_ folder: TemporaryFolder, count: Int) throws -> String {
      let lines = (0..<count).map { "\($0),c\($0) and what is said of it,\($0 % 360),1\n" }
      let name = "wells-\(count).csv"
      _ = try folder.write("code,text,x,y\n" + lines.joined(), to: name)
      return folder.file(name).path
    }

    private func load(
      _ file: String, into store: PostGISStore, _ mode: ImportMode
    ) async throws -> Int? {
      var options = ImportOptions(mode: mode)
      options.layer = "wells"
      if mode == .upsert { options.matchColumn = "code" }
      return try await StoreImport(options).run([ImportSource(file)], into: store).layers.first?
        .count
    }

    @Test func `a disk that fills up leaves nothing, and the server goes on`() async throws {
      let cluster = try FullDisk.make()
      let schema = try TestSchema(cluster)
      let store = schema.store()
      let folder = try TemporaryFolder()
      let (few, many) = (try wells(folder, count: 2_000), try wells(folder, count: 80_000))
      let error = await #expect(throws: FieldpackError.self) {
        _ = try await load(many, into: store, .create)
      }
      #expect(error?.code == .full)
      #expect(
        error?.message.hasPrefix("the disk of test/fieldpack is full: could not ") == true,
        "\(error?.message ?? "")")
      #expect(try await store.layers() == [])
      #expect(try await load(few, into: store, .create) == 2_000)
      // Later there is no room even for one row: those that failed stay until the server tidies up.
      try await edit(store)
      for mode in [ImportMode.append, .replace, .upsert] {
        let error = await #expect(throws: FieldpackError.self) {
          _ = try await load(many, into: store, mode)
        }
        #expect(error?.code == .full, "\(mode): \(error?.message ?? "")")
        #expect(try await store.count(Query("wells")) == 2_000, "\(mode)")
      }
      // What failed takes its room until the table goes.
      try await store.write { (writer) throws(FieldpackError) in try writer.removeLayer("wells") }
      #expect(try await load(few, into: store, .create) == 2_000)
      await store.close()
    }

    /// Changes that do not fit are taken back, those before them in the call, too.
    private func edit(_ store: PostGISStore) async throws {
      let before = try await store.feature(7, in: "wells")
      // Nothing that PostgreSQL can make smaller.
      var random = SystemRandomNumberGenerator()
      let long = (0..<700_000).map { _ in String(random.next(), radix: 36) }.joined()
      let error = await #expect(throws: FieldpackError.self) {
        try await store.write { (writer) throws(FieldpackError) in
          try writer.update(7, in: "wells", set: ["text": "changed"])
          try writer.update(8, in: "wells", set: ["text": .text(long)])
        }
      }
      #expect(error?.code == .full, "\(error?.message ?? "")")
      #expect(try await store.feature(7, in: "wells") == before)
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(7, in: "wells", set: ["text": "changed"])
      }
      #expect(try await store.feature(7, in: "wells")?.attributes["text"] == "changed")
    }
  }
#endif
