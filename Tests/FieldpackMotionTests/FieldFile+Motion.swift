import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackMotion
import FieldpackSQL
import FieldpackTestSupport
import Foundation

extension FieldFile {
  func size(of path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }

  /// Writes a file beside the GeoPackage.
  func file(_ name: String, _ text: String) throws -> String {
    try folder.write(text, to: name).path
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
