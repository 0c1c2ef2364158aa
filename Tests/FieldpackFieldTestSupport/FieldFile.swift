import FieldpackCheck
package import FieldpackCore
package import FieldpackGeoPackage
import FieldpackSQLite
package import FieldpackTestSupport
import Foundation
import Testing

/// A GeoPackage in a folder of its own.
package final class FieldFile: Sendable {
  package let folder: TemporaryFolder
  package let path: String

  package init() throws {
    folder = try TemporaryFolder()
    path = folder.file("field.gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, store: "field").commit()
  }

  /// A copy of a file of a folder of `TestData`.
  package init(copying name: String, of kind: String = "gpkg") throws {
    folder = try TemporaryFolder()
    path = folder.file(name).path
    let original = Checkout.file("TestData/\(kind)/\(name)")
    try Data(contentsOf: original).write(to: URL(fileURLWithPath: path))
  }

  /// Opens a store for `body` and closes it again.
  @discardableResult
  package func withStore<R: Sendable>(_ body: (GeoPackageStore) async throws -> R) async throws -> R
  {
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
  package func rows(_ sql: String) throws -> [String] {
    let connection = try Connection(path: path, mode: .readOnly)
    let statement = try connection.prepare(sql, caching: false)
    var rows: [String] = []
    while try statement.step() {
      rows.append(
        (0..<statement.columnCount).map { statement.string($0) ?? "NULL" }.joined(separator: "|"))
    }
    return rows
  }

  package func run(_ script: String) throws {
    try Connection(path: path, mode: .readWrite, profile: .bulk).executeScript(script)
  }

  /// What `fieldpack check` finds.
  package func findings() throws -> [String] {
    try GeoPackageChecker(path: path, store: "field").run().findings.map { "\($0)" }
  }

  /// What GDAL's validator says.
  package func verdicts() async throws -> [String] {
    var verdicts: [String] = []
    for validator in Programs.validators where validator.knowsVersion14 {
      let result = try await Program.run(
        validator.python, ["-m", "osgeo_utils.samples.validate_gpkg", "-k", path])
      if result.status != 0 { verdicts.append("\(result)") }
    }
    return verdicts
  }
}

/// The error that `body` throws.
package func failure(_ body: () async throws -> Void) async -> FieldpackError? {
  do {
    try await body()
    Issue.record("nothing was thrown")
    return nil
  } catch {
    return error as? FieldpackError
  }
}

extension Instant {
  /// A moment of the tests: so many seconds after a fixed one.
  package static func at(_ seconds: Double) -> Instant {
    Instant(milliseconds: 1_600_000_000_000 + Int64(seconds * 1000))
  }
}
