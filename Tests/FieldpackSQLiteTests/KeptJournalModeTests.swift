import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackSQLite

/// A killed writer leaves its file in WAL mode; the next opening goes back to the mode before.
@Suite struct KeptJournalModeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func names(_ name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.file(name).path).sorted()
  }

  private func path(_ name: String) -> String { folder.file(name).path + "/a.db" }

  /// A folder with a file in `mode`, in which a writer has stored a row under WAL and then was killed:
  /// what is there while it works is copied.
  private func killed(from mode: JournalMode) async throws {
    try makeFile(mode)
    let pool = try await ConnectionPool(path: path("live"), access: .readWrite(usesWAL: true))
    try await pool.write { (connection) throws(SQLiteError) in
      try connection.execute("INSERT INTO t VALUES (1)")
    }
    try FileManager.default.copyItem(at: folder.file("live"), to: folder.file("killed"))
    #expect(
      try names("killed") == [".a.db.fieldpack-mode", "a.db", "a.db-shm", "a.db-wal"])
    try await pool.close()
    #expect(try names("live") == (mode == .persist ? ["a.db", "a.db-journal"] : ["a.db"]))
  }

  private func makeFile(_ mode: JournalMode) throws {
    try FileManager.default.createDirectory(
      at: folder.file("live"), withIntermediateDirectories: true)
    let connection = try Connection(path: path("live"), mode: .create)
    try connection.setJournalMode(mode)
    try connection.execute("CREATE TABLE t (x)")
  }

  @Test(
    arguments: [JournalMode.delete, .truncate, .wal], [Connection.Mode.readOnly, .readWrite])
  func `the next opening stores the log and goes back`(
    from mode: JournalMode, opening: Connection.Mode
  ) async throws {
    try await killed(from: mode)
    do {
      let connection = try Connection(path: path("killed"), mode: opening)
      #expect(try connection.scalar("SELECT count(*) FROM t") == .integer(1))
      let isWAL = try connection.journalMode == .wal
      #expect(isWAL == (mode == .wal))
    }
    #expect(try names("killed") == ["a.db"])
    let header = try Data(contentsOf: folder.file("killed").appendingPathComponent("a.db"))
    #expect(header[18] == (mode == .wal ? 2 : 1))
  }

  @Test func `a writer that lives keeps its log`() async throws {
    try makeFile(.delete)
    let pools = [
      try await ConnectionPool(path: path("live"), access: .readWrite(usesWAL: true)),
      try await ConnectionPool(path: path("live"), access: .readWrite(usesWAL: true)),
    ]
    let names = [".a.db.fieldpack-mode", "a.db", "a.db-shm", "a.db-wal"]
    #expect(try self.names("live") == names)
    _ = try Connection(path: path("live"), mode: .readOnly)
    #expect(try self.names("live") == names)
    // The first that ends cannot go back, and the last does it for both.
    try? await pools[0].close()
    #expect(try self.names("live") == names)
    try await pools[1].close()
    #expect(try self.names("live") == ["a.db"])
  }

  @Test(arguments: ["", "off\n", "delete", "wal; DROP TABLE t\n"])
  func `what is kept in no known words is dropped`(line: String) async throws {
    try await killed(from: .wal)
    let kept = folder.file("killed").appendingPathComponent(".a.db.fieldpack-mode")
    try Data(line.utf8).write(to: kept)
    let connection = try Connection(path: path("killed"), mode: .readWrite)
    #expect(try connection.scalar("SELECT count(*) FROM t") == .integer(1))
    #expect(try connection.journalMode == .wal)
    #expect(!FileManager.default.fileExists(atPath: kept.path))
  }

  @Test func `a link in the place of what is kept is not followed`() async throws {
    try await killed(from: .delete)
    let kept = folder.file("killed").appendingPathComponent(".a.db.fieldpack-mode")
    try FileManager.default.removeItem(at: kept)
    let other = try folder.write("delete\n", to: "other")
    try FileManager.default.createSymbolicLink(at: kept, withDestinationURL: other)
    let pool = try await ConnectionPool(
      path: path("killed"), access: .readWrite(usesWAL: true))
    try await pool.close()
    #expect(try String(contentsOf: other, encoding: .utf8) == "delete\n")
  }
}
