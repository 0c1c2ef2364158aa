import FieldpackCore
import FieldpackGeoPackage

/// The GeoPackage of a store that the services keep by themselves, `<id>.gpkg` in a folder.
enum BuiltInFile {
  static func path(of store: StoreID, in folder: String) -> String {
    FileSystem.join(folder, store.rawValue + ".gpkg")
  }

  static func exists(_ store: StoreID, in folder: String) -> Bool {
    FileSystem.exists(path(of: store, in: folder))
  }

  /// Opens the file, after making it and its folder where they are missing.
  static func open(
    _ id: StoreID, in folder: String, usesWAL: Bool, editor: Editor? = nil
  ) async throws(FieldpackError) -> GeoPackageStore {
    let path = path(of: id, in: folder)
    try await SystemThread.run { () throws(FieldpackError) in try make(path, id, in: folder) }
    var profile = OpeningProfile.foreign
    profile.editor = editor
    return try await GeoPackageStore(path: path, id: id, profile: profile, usesWAL: usesWAL)
  }

  private static func make(
    _ path: String, _ id: StoreID, in folder: String
  ) throws(FieldpackError) {
    guard !FileSystem.exists(path) else { return }
    do throws(FieldpackError) { try FileSystem.makeFolder(folder) } catch {
      throw FieldpackError(
        .cannotCreate, "cannot make the folder \(folder) for store '\(id)'",
        location: .init(store: id), underlying: error)
    }
    do throws(FieldpackError) {
      _ = try GeoPackageBulkWriter(creating: path, store: id).commit()
    } catch {
      // Another program may have made it meanwhile.
      guard FileSystem.exists(path) else { throw error }
    }
  }
}

extension SystemThread {
  /// Runs work that blocks on a thread of its own, away from the cooperative pool.
  static func run<R: Sendable>(
    _ body: @escaping @Sendable () throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let result: Result<R, FieldpackError> = await withCheckedContinuation { continuation in
      let isRunning = start {
        continuation.resume(returning: Result { () throws(FieldpackError) in try body() })
      }
      if !isRunning { continuation.resume(returning: .failure(shortage)) }
    }
    return try result.get()
  }
}
