import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackSQLite

/// Reading a file whose log somebody else left, whole or damaged, leaves both as they were and no index.
@Suite struct WALIndexFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var path: String { folder.file("a.db").path }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  /// A database with a log that no process has open.
  private func makeLeft() throws {
    let live = folder.file("live").path
    let connection = try Connection(path: live, mode: .create)
    try connection.setJournalMode(.wal)
    try connection.execute("CREATE TABLE t (x)")
    try connection.execute("INSERT INTO t VALUES (zeroblob(20000))")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: live + suffix, toPath: path + suffix)
    }
    for suffix in ["", "-wal", "-shm"] { unlink(live + suffix) }
  }

  @Test(arguments: ["whole", "header", "salt", "frame", "short", "noise"])
  func `a reader leaves no index of a log`(damage: String) throws {
    try makeLeft()
    let log = folder.file("a.db-wal")
    var bytes = [UInt8](try Data(contentsOf: log))
    switch damage {
    case "header": bytes[0] ^= 0xFF
    case "salt": bytes[16] ^= 0xFF
    case "frame": bytes[32 + 24 + 100] ^= 0xFF
    case "short": bytes = Array(bytes[..<40])
    case "noise": bytes = bytes.indices.map { UInt8(truncatingIfNeeded: $0 &* 181) }
    default: break
    }
    try Data(bytes).write(to: log)
    do {
      let readers = (1...2).map { _ in try? Connection(path: path, mode: .readOnly) }
      let tables = try readers.map { try $0?.scalar("SELECT count(*) FROM sqlite_master") }
      #expect(tables[0] == .integer(damage == "whole" ? 1 : 0))
    }
    #expect(try names == ["a.db", "a.db-wal"])
    #expect(try [UInt8](Data(contentsOf: log)) == bytes)
  }

  @Test func `the index of a log that is in use stays`() throws {
    let writer = try Connection(path: path, mode: .create)
    try writer.setJournalMode(.wal)
    try writer.execute("CREATE TABLE t (x)")
    do { _ = try Connection(path: path, mode: .readOnly) }
    #expect(try names == ["a.db", "a.db-shm", "a.db-wal"])
  }
}
