public import FieldpackCore
public import FieldpackGeoPackage
import FieldpackTiles

/// Writes the tiles of a pyramid on the grid of web maps to an MBTiles file or a folder
/// `zoom/x/y.png`, unchanged. What is written appears when it is whole.
///
///     let report = try await TileExport().run("ortho", of: store, to: "ortho.mbtiles")
public struct TileExport: Sendable {
  /// What was written.
  public struct Report: Hashable, Sendable {
    public var layer: LayerID
    public var count: Int
    public var notes: [Note]
  }

  /// Whether an MBTiles file that exists is replaced. A folder is only written where there is none.
  public var overwrite = false
  /// Called on another thread after some tiles, with how many are done.
  public var progress: (@Sendable (Int) -> Void)?

  public init() {}

  /// - Parameter target: an MBTiles file, or a folder where the path ends with a slash.
  /// - Throws: `.notFound` for an unknown pyramid, `.unsupported` for one on another grid,
  ///   `.cannotCreate` where the target exists, `.interrupted` when the task is cancelled.
  public func run(
    _ pyramid: LayerID, of store: GeoPackageStore, to target: String
  ) async throws(FieldpackError) -> Report {
    let stop = Cancellation()
    let result: Result<Report, FieldpackError> = await withTaskCancellationHandler {
      do throws(FieldpackError) {
        return .success(
          try await store.read { (snapshot) throws(FieldpackError) in
            try write(pyramid, snapshot, to: target, stop)
          })
      } catch { return .failure(error) }
    } onCancel: {
      stop.cancel()
    }
    return try result.get()
  }

  private func write(
    _ name: LayerID, _ snapshot: GeoPackageSnapshot, to target: String, _ stop: Cancellation
  ) throws(FieldpackError) -> Report {
    let pyramid = try snapshot.tilePyramid(name)
    let writer: any TileArchiveWriter =
      target.hasSuffix("/")
      ? try TileFolderWriter(target) : try MBTilesWriter(target, overwrite: overwrite)
    let count = try snapshot.writeTiles(of: pyramid.name, to: writer) {
      (done) throws(FieldpackError) in
      guard done % 64 == 0 else { return }
      try stop.check()
      progress?(done)
    }
    try stop.check()
    let notes = try writer.commit(pyramid)
    progress?(count)
    return Report(layer: pyramid.name, count: count, notes: notes)
  }
}
