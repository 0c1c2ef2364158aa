import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// Files that nobody else opens, whose writes are gathered.
@Suite struct GatheredWritesTests {
  private static let script = """
    PRAGMA page_size = 512; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    PRAGMA cache_size = 10; BEGIN;
    CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX i ON t (a);
    WITH RECURSIVE n (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 3000)
    INSERT INTO t SELECT x, x * 7919 % 3001, zeroblob(x % 700) FROM n;
    UPDATE t SET b = zeroblob(900) WHERE id % 5 = 0; DELETE FROM t WHERE a % 3 = 0;
    INSERT INTO t VALUES (9999, 1, zeroblob(400000)); COMMIT;
    """

  @Test func `the file is the one that SQLite writes itself`() throws {
    let folder = try TemporaryFolder()
    var files: [Data] = []
    for (name, mode) in [("own", Connection.Mode.create), ("gathered", .unshared)] {
      let file = folder.file(name)
      try Data().write(to: file)
      let connection = try Connection(path: file.path, mode: mode, profile: .bulk)
      try connection.executeScript(Self.script)
      // A commit leaves nothing in memory.
      files.append(try Data(contentsOf: file))
      let sum = try connection.scalar("SELECT sum(id) FROM t WHERE length(b) > 100")
      #expect(sum == 2_622_986)
      try connection.executeScript("DROP TABLE t; PRAGMA auto_vacuum = FULL; VACUUM")
      files.append(try Data(contentsOf: file))
    }
    #expect(files[0] == files[2])
    #expect(files[1] == files[3])
    #expect(files[1].count < files[0].count)
  }
}
