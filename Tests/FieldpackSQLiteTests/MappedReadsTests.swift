import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

#if os(Linux)
  import Glibc

  /// Readers that copy pages out of a mapping of the file.
  @Suite(
    .enabled(if: TemporaryFolder.areFilesMapped, "temporary files are on a disk that is not mapped")
  )
  struct MappedReadsTests {
    @Test(arguments: ["DELETE", "WAL"])
    func `a file that others write is read as it is`(_ mode: String) throws {
      let folder = try TemporaryFolder()
      let path = folder.file("a.db").path
      let writer = try make(path, rows: 100)
      try writer.executeScript("PRAGMA journal_mode = \(mode)")
      do {
        let reader = try mapped(path)
        try #expect(reader.scalar(Self.sum) == writer.scalar(Self.sum))
        let before = try #require(try mappedBytes(of: path))
        for rows in [100, 4000, 10] {
          try writer.executeScript(Self.insert(rows))
          try #expect(reader.scalar(Self.sum) == writer.scalar(Self.sum))
        }
        try writer.executeScript("PRAGMA wal_checkpoint(TRUNCATE)")
        try #expect(reader.scalar(Self.sum) == writer.scalar(Self.sum))
        // It has grown by more pages than a mapping is kept for.
        let after = try #require(try mappedBytes(of: path))
        #expect(after > 10 * before)
        try writer.executeScript("DELETE FROM t WHERE id > 50; VACUUM")
        try #expect(reader.scalar(Self.sum) == writer.scalar(Self.sum))
      }
      #expect(try mappedBytes(of: path) == nil)
    }

    @Test func `a file that is cut short while it is read is an error, and not the end`() throws {
      let folder = try TemporaryFolder()
      let path = folder.file("a.db").path
      _ = try make(path, rows: 1000)
      let whole = try Data(contentsOf: URL(filePath: path))
      let reader = try mapped(path)
      try #require(try mappedBytes(of: path) != nil)
      // At the begin of a transaction SQLite itself looks how long the file is.
      try reader.executeScript("BEGIN; SELECT count(*) FROM sqlite_master")
      #expect(truncate(path, 4096) == 0)
      let error = #expect(throws: SQLiteError.self) { try reader.scalar(Self.sum) }
      #expect(error?.isCorrupt == true)
      try reader.executeScript("ROLLBACK")
      #expect(try mappedBytes(of: path) == nil)
      let file = try FileHandle(forWritingTo: URL(filePath: path))
      try file.write(contentsOf: whole)
      try file.close()
      let plain = try Connection(path: path, mode: .readOnly)
      try #expect(mapped(path).scalar(Self.sum) == plain.scalar(Self.sum))
    }

    @Test func `other bus errors end the process, or go to their handler`() async throws {
      await #expect(processExitsWith: .signal(SIGBUS)) {
        // A sanitizer has a handler of its own.
        signal(SIGBUS, SIG_DFL)
        try mapAnything()
        raise(SIGBUS)
      }
      await #expect(processExitsWith: .signal(SIGBUS)) {
        signal(SIGBUS, SIG_DFL)
        try mapAnything()
        let folder = try TemporaryFolder()
        let path = folder.file("cut").path
        try Data(count: 8192).write(to: URL(filePath: path))
        let file = open(path, O_RDWR)
        let bytes = try #require(mmap(nil, 8192, PROT_READ, MAP_SHARED, file, 0))
        #expect(ftruncate(file, 0) == 0)
        print(bytes.load(as: UInt8.self))
      }
      await #expect(processExitsWith: .exitCode(7)) {
        signal(SIGBUS) { _ in _exit(7) }
        try mapAnything()
        raise(SIGBUS)
      }
      await #expect(processExitsWith: .exitCode(8)) {
        signal(SIGBUS, SIG_IGN)
        try mapAnything()
        raise(SIGBUS)
        _exit(8)
      }
    }

    // MARK: Files

    private static let sum = "SELECT total(id * length(a)) FROM t"

    private static func insert(_ rows: Int) -> String {
      """
      WITH RECURSIVE n (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < \(rows))
      INSERT INTO t (a) SELECT randomblob(100 + x % 300) FROM n
      """
    }

    private func make(_ path: String, rows: Int) throws -> Connection {
      let writer = try Connection(path: path, mode: .create, profile: .own)
      try writer.executeScript(
        "PRAGMA page_size = 512; CREATE TABLE t (id INTEGER PRIMARY KEY, a); \(Self.insert(rows))")
      return writer
    }
  }

  private func mapped(_ path: String) throws -> Connection {
    let reader = try Connection(path: path, mode: .readOnly)
    reader.mapReads()
    return reader
  }

  /// Leaves a reader of a file of its own that is mapped.
  private func mapAnything() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.db").path
    try Connection(path: path, mode: .create, profile: .own).execute("CREATE TABLE t (a)")
    let reader = try mapped(path)
    try #require(try mappedBytes(of: path) != nil)
    _ = Unmanaged.passRetained(reader)
  }

  /// How many bytes of a file this process has mapped; `nil` where it is not mapped.
  private func mappedBytes(of path: String) throws -> Int? {
    let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps")).readToEnd()
    let lines = String(decoding: maps ?? Data(), as: UTF8.self).split(separator: "\n")
    let sizes = lines.filter { $0.hasSuffix(" " + path) }.compactMap { line -> Int? in
      let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
      return ends.count == 2 ? ends[1] - ends[0] : nil
    }
    return sizes.isEmpty ? nil : sizes.reduce(0, +)
  }
#endif
