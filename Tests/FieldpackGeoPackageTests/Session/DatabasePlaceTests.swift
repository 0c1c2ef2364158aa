import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// What lies beside the name that a new file takes must not be played into the new file.
@Suite struct DatabasePlaceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  private var path: String { folder.file("a.gpkg").path }

  /// What a database and its journals are like when a process is killed in a transaction, or after one.
  private enum Leftover: String, CaseIterable {
    case journal, wal

    /// Writes a database of 50 rows, in which a transaction goes on (journal) or is in the log (wal).
    func leave(at path: String) throws {
      let draft = path + ".draft"
      let connection = try Connection(path: draft, mode: .create)
      try connection.execute("CREATE TABLE points (fid INTEGER PRIMARY KEY, name TEXT)")
      try connection.execute(
        "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) "
          + "INSERT INTO points SELECT i, printf('%.500c', 'x') FROM n")
      if self == .wal {
        try connection.setJournalMode(.wal)
        try connection.execute("UPDATE points SET name = 'new'")
      } else {
        _ = try connection.scalar("PRAGMA cache_size = 5")
        try connection.execute("BEGIN")
        try connection.execute("UPDATE points SET name = 'half'")
      }
      for suffix in ["", "-journal", "-wal"] where access(draft + suffix, F_OK) == 0 {
        try Data(contentsOf: URL(fileURLWithPath: draft + suffix)).write(
          to: URL(fileURLWithPath: path + suffix))
      }
      if self == .journal { try connection.execute("ROLLBACK") }
      try connection.setJournalMode(.delete)
      unlink(draft)
    }
  }

  private func load(overwrite: Bool) throws -> [String] {
    let writer = try GeoPackageBulkWriter(creating: path, overwrite: overwrite, store: "s")
    try writer.create(Schema(layer: "wells", geometry: GeometryColumn(type: .point)))
    _ = try writer.commit()
    return writer.notes
  }

  private func isWhole() throws -> Bool {
    let connection = try Connection(path: path, mode: .readOnly)
    return try connection.scalar("PRAGMA integrity_check") == .text("ok")
      && connection.scalar("SELECT group_concat(table_name) FROM gpkg_contents") == .text("wells")
  }

  @Test(arguments: ["journal", "wal"])
  func `journals of a database that is gone are put aside and named`(name: String) throws {
    try Leftover(rawValue: name)?.leave(at: path)
    unlink(path)
    let left = try Data(contentsOf: folder.file("a.gpkg-\(name)"))
    _ = try folder.write("an older one", to: "a.gpkg-\(name).orphan-1")
    let notes = try load(overwrite: false)
    #expect(
      notes == [
        "\(path)-\(name) was left of a database that is gone. It is \(path)-\(name).orphan-2 now, "
          + "because SQLite would have played it into the new file"
      ])
    #expect(try isWhole())
    #expect(try Data(contentsOf: folder.file("a.gpkg-\(name).orphan-2")) == left)
    #expect(
      try names == ["a.gpkg", "a.gpkg-\(name).orphan-1", "a.gpkg-\(name).orphan-2"])
  }

  @Test(arguments: ["journal", "wal"])
  func `a database that is replaced takes in its journals before`(name: String) throws {
    try Leftover(rawValue: name)?.leave(at: path)
    #expect(try load(overwrite: true) == [])
    #expect(try isWhole())
    #expect(try names == ["a.gpkg"])
  }

  @Test func `journals beside an empty file are put aside`() throws {
    try Leftover.wal.leave(at: path)
    try Data().write(to: folder.file("a.gpkg"))
    #expect(try load(overwrite: true).count == 1)
    #expect(try isWhole())
    #expect(try names == ["a.gpkg", "a.gpkg-wal.orphan-1"])
  }

  @Test(arguments: [JournalMode.delete, .wal])
  func `a database that another program has open is not replaced`(mode: JournalMode) async throws {
    try Leftover.journal.leave(at: path)
    let user = try Connection(path: path, mode: .readWrite)
    try user.setJournalMode(mode)
    let writer = try GeoPackageBulkWriter(creating: path, overwrite: true, store: "s")
    try writer.create(Schema(layer: "wells", geometry: GeometryColumn(type: .point)))
    try user.execute("BEGIN")
    _ = try user.scalar("SELECT count(*) FROM points")
    let error = await thrown { _ = try writer.commit() }
    #expect(error?.code == .busy)
    #expect(error?.message == "\(path) is open in another program. Try again when it is closed")
    #expect(try user.scalar("SELECT count(*) FROM points") == .integer(500))
    try user.execute("COMMIT")
    #expect(try user.journalMode == mode)
  }

  @Test(arguments: [false, true])
  func `an empty file does not cost the log beside it`(writes: Bool) async throws {
    try Leftover.wal.leave(at: path)
    try Data().write(to: folder.file("a.gpkg"))
    let left = try Data(contentsOf: folder.file("a.gpkg-wal"))
    let error = await thrown {
      if writes {
        _ = try GeoPackageBulkWriter(changing: path, store: "s")
      } else {
        _ = try await GeoPackageStore(path: path, id: "s")
      }
    }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains("a.gpkg-wal is of a file that was not") == true)
    #expect(try Data(contentsOf: folder.file("a.gpkg-wal")) == left)
  }
}
