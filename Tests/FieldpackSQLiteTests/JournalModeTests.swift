import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct JournalModeTests {
  private func names(_ folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  /// A file `a.db` with one row, closed.
  private func makeFile(_ mode: JournalMode, in folder: TemporaryFolder) throws -> String {
    let path = folder.file("a.db").path
    let database = try Connection(path: path, mode: .create, profile: .own)
    #expect(try database.setJournalMode(mode) == mode)
    try database.executeScript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    return path
  }

  private func read(_ path: String) throws -> SQLiteValue? {
    try Connection(path: path, mode: .readOnly).scalar("SELECT count(*) FROM t")
  }

  @Test(arguments: [JournalMode.delete, .wal])
  func `reading leaves no trace`(mode: JournalMode) throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(mode, in: folder)
    let before = try Data(contentsOf: folder.file("a.db"))
    #expect(try names(folder) == ["a.db"])
    #expect(try read(path) == 1)
    #expect(try names(folder) == ["a.db"])
    #expect(try Data(contentsOf: folder.file("a.db")) == before)
  }

  @Test(arguments: [JournalMode.delete, .wal])
  func `a reader cannot write`(mode: JournalMode) throws {
    let folder = try TemporaryFolder()
    let database = try Connection(path: try makeFile(mode, in: folder), mode: .readOnly)
    #expect(database.isReadOnly)
    let error = #expect(throws: SQLiteError.self) { try database.execute("DELETE FROM t") }
    #expect(error?.isReadOnly == true)
  }

  @Test func `a log somebody left is read and stays`() throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(.wal, in: folder)
    let copy = folder.file("copy.db")
    do {
      let writer = try Connection(path: path, mode: .readWrite)
      try writer.execute("INSERT INTO t VALUES (2)")
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
      }
    }
    let log = try Data(contentsOf: URL(fileURLWithPath: copy.path + "-wal"))
    let file = try Data(contentsOf: copy)
    #expect(try read(copy.path) == 2)
    #expect(try Data(contentsOf: URL(fileURLWithPath: copy.path + "-wal")) == log)
    #expect(try Data(contentsOf: copy) == file)
  }

  @Test func `what a dead writer left half done is rolled back before reading`() throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(.delete, in: folder)
    let copy = folder.file("copy.db").path
    let writer = try Connection(path: path, mode: .readWrite)
    try writer.executeScript(
      """
      PRAGMA cache_size = 1; BEGIN; DELETE FROM t;
      INSERT INTO t SELECT randomblob(3000) FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12]');
      """)
    for suffix in ["", "-journal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    #expect(try read(copy) == 1)
    #expect(try !names(folder).contains("copy.db-journal"))
  }

  @Test(
    .enabled(if: Mount.isPossible, Comment(rawValue: Mount.impossible)),
    arguments: [JournalMode.delete, .wal])
  func `a read-only medium can be read, not written`(mode: JournalMode) throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(mode, in: folder)
    let mount = try #require(Mount(readOnly: folder.url.path))
    #expect(try read(path) == 1)
    #expect(try names(folder) == ["a.db"])
    let error = #expect(throws: SQLiteError.self) { try Connection(path: path, mode: .readWrite) }
    #expect(error?.isReadOnly == true)
    #expect(throws: SQLiteError.self) {
      try Connection(path: folder.file("new.db").path, mode: .create)
    }
    withExtendedLifetime(mount) {}
  }

  @Test func `journal modes are told and set`() throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(.delete, in: folder)
    let own = try Connection(path: path, mode: .readWrite, profile: .own)
    #expect(try own.journalMode == .delete)
    // A defensive connection keeps its journal.
    #expect(try own.setJournalMode(.off) == .delete)
    let bulk = try Connection(path: path, mode: .readWrite, profile: .bulk)
    #expect(try bulk.setJournalMode(.off) == .off)
  }

  @Test func `the data version tells of other writers`() throws {
    let folder = try TemporaryFolder()
    let path = try makeFile(.delete, in: folder)
    let reader = try Connection(path: path, mode: .readOnly)
    let before = try reader.dataVersion
    #expect(try reader.dataVersion == before)
    try Connection(path: path, mode: .readWrite).execute("INSERT INTO t VALUES (2)")
    #expect(try reader.dataVersion != before)
  }

  @Test func `only the bulk writer may write shadow tables`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("r.db").path
    for (profile, isAllowed) in [(Connection.Profile.own, false), (.foreign, false), (.bulk, true)]
    {
      let database = try Connection(path: path, mode: .create, profile: profile)
      try database.execute("CREATE VIRTUAL TABLE IF NOT EXISTS r USING rtree (id, x0, x1)")
      let sql = "INSERT INTO r_rowid VALUES (99, 1)"
      if isAllowed {
        try database.execute(sql)
      } else {
        #expect(throws: SQLiteError.self) { try database.execute(sql) }
      }
    }
  }
}
