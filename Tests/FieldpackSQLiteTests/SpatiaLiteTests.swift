import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct SpatiaLiteTests {
  /// A point at (1, 2) in the blob form of GeoPackage.
  private let point = "x'47500001E6100000" + "0101000000000000000000F03F0000000000000040'"

  @Test func `functions are there after loading, and no table is made`() throws {
    let database = try Connection(inMemory: .own)
    #expect(throws: SQLiteError.self) { try database.scalar("SELECT spatialite_version()") }
    let version = try database.loadSpatiaLite()
    #expect(try database.scalar("SELECT spatialite_version()") == .text(version))
    #expect(try database.loadSpatiaLite() == version)
    #expect(try database.scalar("SELECT count(*) FROM sqlite_master") == 0)
    #expect(try database.scalar("SELECT ST_MinX(\(point)), 1") == 1.0)
    #expect(try database.scalar("SELECT AsText(GeomFromText('POINT(3 4)'))") == "POINT(3 4)")
  }

  @Test func `our own functions stay in force`() throws {
    let database = try Connection(inMemory: .own)
    try database.register(function: "ST_MinX", arguments: 1) { $0.set(Int64(77)) }
    try database.loadSpatiaLite()
    #expect(try database.scalar("SELECT st_minx(\(point))") == 77)
    #expect(try database.scalar("SELECT ST_MaxX(\(point))") == 1.0)
  }

  @Test func `it loads beside an authorizer that stays in force`() throws {
    let database = try Connection(inMemory: .own)
    database.setAuthorizer(.readOnlySQL)
    try database.loadSpatiaLite()
    #expect(try database.scalar("SELECT ST_MaxY(\(point))") == 2.0)
    #expect(throws: SQLiteError.self) { try database.execute("CREATE TABLE t (a)") }
    #expect(try database.scalar("SELECT count(*) FROM sqlite_master") == 0)
  }

  @Test func `connections come and go`() throws {
    for _ in 0..<100 {
      let database = try Connection(inMemory: .own)
      try database.loadSpatiaLite()
      #expect(try database.scalar("SELECT ST_IsEmpty(\(point))") == 0)
    }
  }

  @Test func `files cannot be reached from SQL`() throws {
    let database = try Connection(inMemory: .own)
    try database.loadSpatiaLite()
    for sql in ["SELECT BlobFromFile('/etc/passwd')", "SELECT ImportSHP('a', 'b', 'UTF-8')"] {
      #expect(throws: SQLiteError.self) { try database.scalar(sql) }
    }
  }
}
