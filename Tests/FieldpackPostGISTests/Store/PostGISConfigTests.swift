import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackPostGIS

@Suite struct PostGISConfigTests {
  private static let system = [("sslmode", "verify-full"), ("sslrootcert", "…")]

  private func keywords(_ uri: String) throws -> [String] {
    let config = StoreConfig(id: "team", type: "postgis", uri: uri)
    return try PostGISConfig(config).address.keywords.map { name, value in
      name == "sslrootcert" && value.hasPrefix("/etc/") ? "\(name)=…" : "\(name)=\(value)"
    }
  }

  @Test(arguments: [
    ("postgresql://db.example.org/survey", ["host=db.example.org", "dbname=survey"]),
    (
      "postgres://eva@db:5433/a%20b?connect_timeout=3",
      ["user=eva", "host=db", "port=5433", "dbname=a b", "connect_timeout=3"]
    ),
    (
      "postgresql://[::1]:5433,two/x?application_name=q",
      ["host=::1,two", "port=5433,", "dbname=x", "application_name=q"]
    ),
    ("postgresql://%2Ftmp%2Fsocket/x", ["host=/tmp/socket", "dbname=x"]),
    ("postgresql:///x?service=team", ["dbname=x", "service=team"]),
  ])
  func `a uri is taken apart, and the server verified`(uri: String, parts: [String]) throws {
    let found = try keywords(uri)
    #expect(Array(found.prefix(parts.count)) == parts)
    #expect(found.dropFirst(parts.count).first == "sslmode=verify-full")
  }

  @Test func `a uri may ask for less`() throws {
    #expect(
      try keywords("postgresql://db/x?sslmode=disable") == [
        "host=db", "dbname=x", "sslmode=disable",
      ])
    #expect(
      try keywords("postgresql://db/x?sslmode=verify-ca&sslrootcert=/home/ca.pem") == [
        "host=db", "dbname=x", "sslmode=verify-ca", "sslrootcert=/home/ca.pem",
      ])
  }

  @Test func `a service names its own certificates`() throws {
    #expect(
      try keywords("postgresql:///x?service=team") == [
        "dbname=x", "service=team", "sslmode=verify-full",
      ])
  }

  @Test(arguments: [
    "postgresql://eva:hunter2@db/x", "postgresql://db/x?password=hunter2",
    "postgresql://db/x?sslpassword=hunter2", "postgres://:hunter2@db",
    "postgresql://db/x?nothing=1", "mysql://db/x", "postgresql://db/%zz", "postgresql://db/x?%00=1",
    "host=db password=hunter2", "postgresql://eva:hun/ter2@db/x",
    "postgresql://eva:hun?ter2@db/x", "postgresql://eva:hun#[ter2@db/x",
    "postgresql://eva[:hun]/ter2@db/x", "postgresql://eva:\u{301}hun/ter2@db",
    "postgresql://eva:hunter2/x", "postgresql://db:99999/x", "postgresql://db/x?port=hunter2",
    "postgresql://db/x?hostaddr=10.0.0.1", "postgresql://db/x?service=team",
    "postgresql://:5432/x?service=team",
  ])
  func `passwords and what is not known are refused, and never repeated`(uri: String) throws {
    do {
      _ = try PostGISConfig(StoreConfig(id: "team", type: "postgis", uri: uri))
      Issue.record("it was taken")
    } catch {
      #expect(error.code == .configuration)
      #expect(!"\(error)".contains("hun"))
      #expect(!"\(error)".contains("ter2"))
    }
  }

  @Test func `the way out of a password is told`() throws {
    let config = StoreConfig(id: "team", type: "postgis", uri: "postgresql://eva:x@db/y")
    do {
      _ = try PostGISConfig(config)
    } catch {
      #expect(
        error.message
          == "the uri of store 'team' has a password, but a config holds no passwords. Try: a line in "
          + "~/.pgpass or in the file that PGPASSFILE names, a service file (?service=…), or the "
          + "option 'passwordDescriptor'")
    }
  }

  #if !PostGIS
    @Test func `a build without the trait says how to get it`() async throws {
      let config = StoreConfig(id: "team", type: "postgis", uri: "postgresql://db/y")
      await #expect {
        try await PostGISStoreType.open(config, in: StoreContext())
      } throws: {
        ($0 as? FieldpackError)?.message
          == "stores on PostgreSQL need libpq, and this was built without. Try: a build with the "
          + "package trait PostGIS"
      }
    }
  #else
    @Test(.enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
    func `a config opens a store`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE wells (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
        INSERT INTO wells VALUES (1, 'Markt', 'SRID=4326;POINT(13 52)');
        CREATE TABLE other (id int PRIMARY KEY);
        """)
      let folder = try TemporaryFolder()
      let file = try folder.write(
        """
        {"stores": [{"id": "team", "store_type": "postgis", "version": "1",
          "uri": "\(schema.cluster.uri())",
          "options": {"schema": "\(schema.name)", "tables": ["wells"], "connections": 3}}]}
        """, to: "team.scfg")
      var registry = StoreRegistry.standard
      registry.register(PostGISStoreType.self)
      let workspace = try await Workspace.open([file.path], registry: registry)
      let store = try workspace.store("team")
      #expect(try await store.schemas().map(\.layer) == ["wells"])
      let well = try await store.feature(1, in: "wells")
      #expect(well?.attributes == ["name": "Markt"])
      await workspace.close()
    }
  #endif
}
