import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// Files that are not where their names say, or not alone.
@Suite struct OpenedFileTests {
  private let folder: TemporaryFolder
  private let real: URL
  private let link: URL

  /// A file in a folder of its own, and a symbolic link to it beside that folder.
  init() throws {
    folder = try TemporaryFolder()
    let inner = folder.file("inner")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
    real = inner.appendingPathComponent("real.db")
    link = folder.file("link.db")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
  }

  private func count() throws -> SQLiteValue? {
    let reader = try Connection(path: link.path, mode: .readOnly)
    return try reader.scalar("SELECT count(*) FROM t")
  }

  /// Copies what is beside a file that is being written.
  private func copy(_ path: String, suffixes: [String]) throws {
    for suffix in suffixes {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: real.path + suffix)
    }
  }

  @Test func `the log behind a symbolic link is read and left alone`() throws {
    let path = folder.file("a.db").path
    let writer = try Connection(path: path, mode: .create, profile: .own)
    try writer.setJournalMode(.wal)
    try writer.executeScript("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    try copy(path, suffixes: ["", "-wal"])
    let log = try Data(contentsOf: URL(fileURLWithPath: real.path + "-wal"))
    #expect(try count() == 2)
    #expect(try Data(contentsOf: URL(fileURLWithPath: real.path + "-wal")) == log)
  }

  @Test func `the journal behind a symbolic link is rolled back before reading`() throws {
    let path = folder.file("a.db").path
    let writer = try Connection(path: path, mode: .create, profile: .own)
    try writer.executeScript(
      """
      CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA cache_size = 1; BEGIN; DELETE FROM t;
      INSERT INTO t SELECT randomblob(3000) FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12]');
      """)
    try copy(path, suffixes: ["", "-journal"])
    #expect(try count() == 1)
    #expect(!FileManager.default.fileExists(atPath: real.path + "-journal"))
  }

  @Test func `values are as long as an attached file may have them`() throws {
    let size = 20 << 20
    let other = try Connection(path: real.path, mode: .create, profile: .own)
    try other.executeScript("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(\(size)))")
    let path = folder.file("small.db").path
    _ = try Connection(path: path, mode: .create, profile: .own).execute("CREATE TABLE s (a)")
    let reader = try Connection(path: path, mode: .readOnly)
    try reader.attach(link.path, as: "other file")
    let length = try reader.scalar(#"SELECT length(substr(a, 2)) FROM "other file".t"#)
    #expect(length == .integer(Int64(size - 1)))
    // No further one may be attached.
    #expect(throws: SQLiteError.self) { try reader.execute("ATTACH ':memory:' AS third") }
  }

  @Test func `a reader that was left early has room for its pages again`() async throws {
    let path = real.path
    try Connection(path: path, mode: .create, profile: .own).executeScript(
      "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
    let pool = try await ConnectionPool(path: path, access: .readOnly, maximumReaders: 1)
    let few = try await pool.read { (connection) throws(SQLiteError) in
      let statement = try connection.prepare("SELECT a FROM t")
      let size = try connection.withFewPages { () throws(SQLiteError) in
        let size = try connection.scalar("PRAGMA cache_size")
        _ = try statement.step()
        // What comes now fails until the statement is gone.
        connection.interruptHandle.interrupt()
        return size
      }
      connection.withFewPages {}
      return size
    }
    #expect(few == 32)
    let size = try await pool.read { (connection) throws(SQLiteError) in
      try connection.scalar("PRAGMA cache_size")
    }
    #expect(size == -2000)
    try await pool.close()
  }
}
