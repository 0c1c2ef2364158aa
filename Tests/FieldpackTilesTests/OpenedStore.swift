import FieldpackCore
import FieldpackGeoPackage

extension GeoPackageStore {
  /// Opens the store of a file for `body` and closes it again.
  static func opened<R: Sendable>(
    _ path: String, id: StoreID, _ body: (GeoPackageStore) async throws -> R
  ) async throws -> R {
    let store = try await GeoPackageStore(path: path, id: id)
    do {
      let result = try await body(store)
      await store.close()
      return result
    } catch {
      await store.close()
      throw error
    }
  }
}
