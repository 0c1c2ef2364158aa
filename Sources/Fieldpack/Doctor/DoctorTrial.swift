import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Makes a small GeoPackage in the temporary folder, asks it and takes it away again.
struct DoctorTrial {
  var finding: DoctorFinding {
    get async {
      let folder = UnnamedFile.usualFolder
      let path = "\(folder)/fieldpack-\(RandomID.make()).gpkg"
      defer { FileSystem.remove(path) }
      do throws(FieldpackError) {
        let count = try await run(path)
        guard count == 1 else {
          return DoctorFinding("system", "write test", .problem, "\(count) of 1 feature came back")
        }
        return DoctorFinding("system", "write test", .ok, "a GeoPackage in \(folder)")
      } catch {
        return DoctorFinding("system", "write test", .problem, error.message, advice: error.advice)
      }
    }
  }

  /// How many of the one feature an envelope query finds.
  private func run(_ path: String) async throws(FieldpackError) -> Int {
    let schema = Schema(layer: "trial", geometry: GeometryColumn(type: .point))
    try create(path, schema)
    let store = try await GeoPackageStore(path: path, id: "trial", usesWAL: false)
    _ = try await store.write { (writer) throws(FieldpackError) in
      try writer.create(Feature(geometry: .point(x: 1, y: 2)), in: "trial")
    }
    let box = Envelope(minX: 0, minY: 0, maxX: 3, maxY: 3)
    let count = try await store.count(Query("trial", where: .envelope(.intersects, box)))
    await store.close()
    return count
  }

  private func create(_ path: String, _ schema: Schema) throws(FieldpackError) {
    let writer = try GeoPackageBulkWriter(creating: path, store: "trial")
    try writer.create(schema)
    _ = try writer.commit()
  }
}

extension FileCache {
  /// The folder's state, and what it holds.
  var finding: DoctorFinding {
    guard let folder = folder() else {
      return DoctorFinding("system", "cache", .note, "none: HOME is not set")
    }
    let names = FileSystem.names(in: folder) ?? []
    let files = names.filter { $0.hasSuffix(".gpkg") && !$0.hasPrefix(".") }
    let bytes = files.reduce(0) { $0 + (Self.size("\(folder)/\($1)")?.size ?? 0) }
    guard FileSystem.exists(folder) else {
      return DoctorFinding("system", "cache", .ok, "\(folder), not made yet")
    }
    guard access(folder, W_OK) == 0 else {
      return DoctorFinding(
        "system", "cache", .note, "\(folder) cannot be written: files are read anew each time")
    }
    return DoctorFinding(
      "system", "cache", .ok,
      "\(folder), \(files.count) file\(files.count == 1 ? "" : "s"), \(bytes) of at most "
        + "\(Self.capacity) bytes")
  }
}
