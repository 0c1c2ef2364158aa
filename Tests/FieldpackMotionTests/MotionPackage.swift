import FieldpackCheck
import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackMotion
import FieldpackSQL
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// A GeoPackage in a folder of its own.
final class MotionPackage: Sendable {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("field.gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, store: "field").commit()
  }

  /// Opens a store for `body` and closes it again.
  @discardableResult
  func withStore<R: Sendable>(_ body: (GeoPackageStore) async throws -> R) async throws -> R {
    let store = try await GeoPackageStore(path: path, id: "field")
    do {
      let result = try await body(store)
      await store.close()
      return result
    } catch {
      await store.close()
      throw error
    }
  }

  /// Rows as `sqlite3` prints them.
  func rows(_ sql: String) throws -> [String] {
    let connection = try Connection(path: path, mode: .readOnly)
    let statement = try connection.prepare(sql, caching: false)
    var rows: [String] = []
    while try statement.step() {
      rows.append(
        (0..<statement.columnCount).map { statement.string($0) ?? "NULL" }.joined(separator: "|"))
    }
    return rows
  }

  /// What `fieldpack check` finds.
  func findings() throws -> [String] {
    try GeoPackageChecker(path: path, store: "field").run().findings.map { "\($0)" }
  }

  /// What GDAL's validator says.
  func verdicts() async throws -> [String] {
    var verdicts: [String] = []
    for validator in Programs.validators where validator.knowsVersion14 {
      let result = try await Program.run(
        validator.python, ["-m", "osgeo_utils.samples.validate_gpkg", "-k", path])
      if result.status != 0 { verdicts.append("\(result)") }
    }
    return verdicts
  }

  func size(of path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }

  /// Writes a file beside the package.
  func file(_ name: String, _ text: String) throws -> String {
    let url = folder.file(name)
    try Data(text.utf8).write(to: url)
    return url.path
  }
}

extension GeoPackageStore {
  /// The rows of a query, as they are.
  func values(_ query: MotionQuery) async throws -> [[Value]] {
    var values: [[Value]] = []
    for try await batch in rows(sql: query.sql, parameters: query.parameters) {
      values += batch.rows
    }
    return values
  }
}
