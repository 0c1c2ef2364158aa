import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct DamageTests {
  @Test(.enabled(if: Mount.isPossible, Comment(rawValue: Mount.impossible)))
  func `a full disk takes the transaction back`() throws {
    let folder = try TemporaryFolder()
    let mount = try #require(Mount(small: folder.url.path, bytes: 512 << 10))
    let database = try Connection(path: folder.file("a.db").path, mode: .create, profile: .own)
    try database.execute("CREATE TABLE t (a)")
    try fill(database)
    withExtendedLifetime(mount) {}
  }

  @Test func `a page limit takes the transaction back`() throws {
    let database = try Connection(inMemory: .own)
    try database.execute("CREATE TABLE t (a)")
    _ = try database.scalar("PRAGMA max_page_count = 100")
    try fill(database)
  }

  private func fill(_ database: Connection) throws {
    try database.execute("INSERT INTO t VALUES ('kept')")
    let error = #expect(throws: SQLiteError.self) {
      try database.transaction { () throws(SQLiteError) in
        while true { try database.execute("INSERT INTO t VALUES (randomblob(8000))") }
      }
    }
    #expect(error?.isFull == true)
    #expect(!database.isInTransaction)
    #expect(try database.scalar("SELECT group_concat(a) FROM t") == "kept")
    #expect(try database.scalar("PRAGMA integrity_check") == "ok")
  }

  @Test func `a damaged schema fails at the open`() throws {
    let path = try damage { bytes in
      bytes.replaceSubrange(100..<120, with: repeatElement(0xff, count: 20))
    }
    let error = #expect(throws: SQLiteError.self) { try open(path) }
    #expect(error?.isCorrupt == true)
  }

  @Test func `a damaged page fails where it is read`() throws {
    let path = try damage { bytes in
      bytes.replaceSubrange(4096..<8192, with: repeatElement(0xff, count: 4096))
    }
    let error = #expect(throws: SQLiteError.self) {
      try open(path).scalar("SELECT sum(length(a)) FROM t")
    }
    #expect(error?.isCorrupt == true)
  }

  @Test func `a file cut short never traps`() throws {
    let folder = try TemporaryFolder()
    let whole = try makeFile(in: folder)
    let cut = folder.file("cut.db")
    for count in [0, 1, 15, 16, 99, 100, 512, 4095, 4096, 5000, 8192, whole.count - 4096] {
      try Data(whole.prefix(count)).write(to: cut)
      #expect(throws: SQLiteError.self, "\(count) bytes") {
        try Connection(path: cut.path, mode: .readOnly).scalar("SELECT sum(length(a)) FROM t")
      }
    }
    // SQLite takes what is missing of the last page for zeros, and here it is one.
    try Data(whole.dropLast()).write(to: cut)
    let sum = try Connection(path: cut.path, mode: .readOnly).scalar("SELECT sum(length(a)) FROM t")
    #expect(sum == 20_000)
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func makeFile(in folder: TemporaryFolder) throws -> [UInt8] {
    let url = folder.file("whole.db")
    do {
      let database = try Connection(path: url.path, mode: .create, profile: .own)
      try database.executeScript("PRAGMA page_size = 4096; CREATE TABLE t (a)")
      for _ in 0..<20 { try database.execute("INSERT INTO t VALUES (zeroblob(1000))") }
    }
    return [UInt8](try Data(contentsOf: url))
  }

  private func damage(_ change: (inout [UInt8]) -> Void) throws -> String {
    var bytes = try makeFile(in: folder)
    change(&bytes)
    let url = folder.file("damaged.db")
    try Data(bytes).write(to: url)
    return url.path
  }

  private func open(_ path: String) throws -> Connection {
    try Connection(path: path, mode: .readOnly)
  }
}
