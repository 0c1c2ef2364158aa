import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackStoreKit
import FieldpackTestSupport
import Foundation

@testable import FieldpackGeoPackage

/// A GeoPackage in a folder of its own.
final class TestPackage: Sendable {
  let folder: TemporaryFolder
  let path: String

  /// A new file of empty layers.
  init(
    _ version: GeoPackageVersion = .v14, named name: String = "survey.gpkg", _ layers: [Schema] = []
  ) throws {
    folder = try TemporaryFolder()
    path = folder.file(name).path
    let writer = try GeoPackageBulkWriter(creating: path, version: version, store: "survey")
    for layer in layers { try writer.create(layer) }
    _ = try writer.commit()
  }

  /// A layer `points` with names, and what `script` adds.
  convenience init(points: [Feature], _ script: String) async throws {
    try self.init()
    try await withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "points", geometry: GeometryColumn(type: .point),
            columns: [ColumnDefinition("name", .text())]))
        for point in points { try writer.create(point, in: "points") }
      }
    }
    if !script.isEmpty { try run(script) }
  }

  /// A copy of a file.
  init(copying file: URL) throws {
    folder = try TemporaryFolder()
    let copy = folder.file(file.lastPathComponent)
    try Data(contentsOf: file).write(to: copy)
    path = copy.path
  }

  func store(
    as id: StoreID = "survey", profile: OpeningProfile = .foreign, usesWAL: Bool = true
  ) async throws -> GeoPackageStore {
    try await GeoPackageStore(path: path, id: id, profile: profile, usesWAL: usesWAL)
  }

  /// Opens a store for `body` and closes it again.
  func withStore<R: Sendable>(
    _ profile: OpeningProfile = .foreign, _ body: (GeoPackageStore) async throws -> R
  ) async throws -> R {
    let store = try await store(profile: profile)
    do {
      let result = try await body(store)
      await store.close()
      return result
    } catch {
      await store.close()
      throw error
    }
  }

  /// Runs `body` on a connection with our functions, beside any store.
  func withConnection<R>(_ body: (Connection) throws -> R) throws -> R {
    try withSession { try body($0.connection) }
  }

  /// Runs `body` on a session of its own, beside any store.
  func withSession<R>(_ body: (GeoPackageSession) throws -> R) throws -> R {
    let connection = try Connection(path: path, mode: .readWrite, profile: .bulk)
    return try body(connection.session("survey", .runningTriggers))
  }

  func run(_ script: String) throws { try withConnection { try $0.executeScript(script) } }

  /// Rows as `sqlite3` prints them.
  func rows(_ sql: String) throws -> [String] {
    try withConnection { connection in
      let statement = try connection.prepare(sql, caching: false)
      var rows: [String] = []
      while try statement.step() {
        rows.append(
          (0..<statement.columnCount).map { statement.string($0) ?? "NULL" }
            .joined(separator: "|"))
      }
      return rows
    }
  }

  /// Takes the R-tree of a layer away, as if there had never been one.
  func dropIndex(_ layer: LayerID, geometry: String = "geom") throws {
    let sql = RTreeSQL(table: layer.rawValue, column: geometry, idColumn: "fid")
    try withConnection { connection in
      for name in sql.triggerNames {
        try connection.execute("DROP TRIGGER IF EXISTS \(quoted(name))")
      }
      try connection.execute("DROP TABLE \(quoted(sql.name))")
      try connection.execute("DELETE FROM gpkg_extensions WHERE table_name = ?", .text(sql.table))
    }
  }

  /// What is wrong with the file by SQLite's own checks; every R-tree included.
  func faults() throws -> [String] {
    let trees = try rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%rtree%'")
    let checks = try trees.flatMap { try rows("SELECT rtreecheck(\(literal($0)))") }
    let found =
      try checks + rows("PRAGMA integrity_check") + rows("PRAGMA foreign_key_check")
    return found.filter { $0 != "ok" }
  }

  /// The names in the file's folder.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }
}

extension OpeningProfile {
  /// As for files of others, but with all triggers.
  static var runningTriggers: OpeningProfile {
    var profile = OpeningProfile.foreign
    profile.runsTriggers = true
    return profile
  }
}

extension GeoPackageStore {
  /// Lets the file grow to so many pages, as if the disk were full then.
  func limitPages(to count: Int) async throws {
    let pool = try await pools.writer()
    try await pool.write { (session) throws(FieldpackError) in
      do throws(SQLiteError) {
        _ = try session.connection.scalar("PRAGMA max_page_count = \(count)")
      } catch {
        throw FieldpackError(sqlite: error)
      }
    }
  }
}

extension Store {
  /// The features of a query, in order.
  func features(_ query: Query) async throws -> [Feature] {
    var features: [Feature] = []
    for try await feature in try await self.query(query).features { features.append(feature) }
    return features
  }

  func ids(_ query: Query) async throws -> [Int64] {
    var ids: [Int64] = []
    for try await batch in try await self.query(query) {
      for case .integer(let id) in batch.ids { ids.append(id) }
    }
    return ids
  }

  /// The ids, ascending, that the in-memory evaluator finds in a layer.
  func evaluatedIDs(_ layer: LayerID, _ filter: Filter) async throws -> [Int64] {
    var ids: [Int64] = []
    for try await batch in try await query(Query(layer)) {
      let evaluator = try FilterEvaluator(filter, schema: batch.schema)
      for index in 0..<batch.count {
        guard case .integer(let id) = batch[index].id else { continue }
        if try evaluator.evaluate(batch[index]) == true { ids.append(id) }
      }
    }
    return ids
  }
}

func line(_ ordinates: Double...) -> Geometry {
  .lineString(CoordinateSequence(dimensions: .xy, ordinates: ordinates))
}

/// A polygon of one ring.
func polygon(_ ordinates: Double...) -> Geometry {
  .polygon([CoordinateSequence(dimensions: .xy, ordinates: ordinates)], .xy)
}

/// The error that `body` throws; `nil` where it throws none.
func thrown(_ body: () async throws -> Void) async -> FieldpackError? {
  do { try await body() } catch { return error as? FieldpackError }
  return nil
}

extension Connection {
  /// A session that lives as long as the connection.
  func session(
    _ store: StoreID, _ profile: OpeningProfile = .foreign
  ) throws(SQLiteError) -> GeoPackageSession {
    let session = try GeoPackageSession(self, store: store, profile: profile)
    try register(function: "test_keeps_the_session", arguments: 0) { [session] in
      $0.set(session.store.rawValue)
    }
    return session
  }
}
