public import FieldpackCore
public import FieldpackGeoPackage
import FieldpackTiles

/// Imports tiles of web maps, of an MBTiles file or of a folder `zoom/x/y.png`, into a GeoPackage as a
/// tile pyramid: everything, or nothing. The bytes of the tiles stay as they are.
///
///     let report = try await TileImport().run("ortho.mbtiles", into: "field.gpkg")
public struct TileImport: Sendable {
  /// What was imported.
  public struct Report: Hashable, Sendable {
    public var layer: LayerID
    public var count: Int
    public var zooms: ClosedRange<Int>
    public var notes: [Note]
  }

  /// The name of the pyramid; `nil` for that of the file.
  public var layer: LayerID?
  /// Whether a pyramid of that name is replaced.
  public var replaces = false
  /// The version of a file that is created.
  public var version = GeoPackageVersion.v14
  /// How far an existing file is trusted.
  public var profile = OpeningProfile.foreign
  public var logger = Logger.silent
  /// Called on another thread after some tiles, with how many are done and how many there are.
  public var progress: (@Sendable (Int, Int) -> Void)?

  public init(layer: LayerID? = nil) { self.layer = layer }

  /// Whether a path is what can be imported.
  public static func takes(_ path: String) -> Bool {
    MBTilesReader.isMBTiles(path) || TileFolderReader.isFolder(path)
  }

  /// Imports the tiles in one transaction.
  ///
  /// - Throws: `.cannotCreate` for a layer that exists, `.unsupported` for vector tiles,
  ///   `.invalidData` for tiles that are no PNG, JPEG or WebP, or lie outside of the grid,
  ///   `.interrupted` when the task is cancelled.
  public func run(
    _ source: String, into target: String
  ) async throws(FieldpackError) -> Report {
    let stop = Cancellation()
    return try await Blocking.run(stoppedBy: stop) { () throws(FieldpackError) in
      defer { stop.interrupting(nil) }
      let archive: any TileArchive =
        MBTilesReader.isMBTiles(source)
        ? try MBTilesReader(source) { stop.interrupting($0) }
        : try TileFolderReader(source) { () throws(FieldpackError) in try stop.check() }
      let bare = source.hasSuffix("/") ? String(source.dropLast()) : source
      let pyramid = try archive.pyramid(layer ?? Importer.stem(bare), of: source)
      let writer = try writer(to: target)
      let (reading, writing) = (archive.interrupt, writer.interrupt)
      stop.interrupting {
        reading?()
        writing()
      }
      if replaces { try writer.removeTilePyramid(pyramid.name) }
      try writer.createTilePyramid(pyramid)
      var count = 0
      try archive.readAll { (address, bytes) throws(FieldpackError) in
        try writer.putTile(bytes, at: address, of: pyramid)
        count += 1
        if count % 64 == 0 {
          try stop.check()
          progress?(count, archive.count)
        }
      }
      try stop.check()
      _ = try writer.commit()
      progress?(count, archive.count)
      return Report(
        layer: pyramid.name, count: count,
        zooms: (pyramid.matrices.first?.zoom ?? 0)...(pyramid.matrices.last?.zoom ?? 0),
        notes: archive.notes + writer.notes.map { Note($0) })
    }
  }

  private func writer(to target: String) throws(FieldpackError) -> GeoPackageBulkWriter {
    let store = FileImport.storeID(of: target)
    guard FileSystem.exists(target) else {
      return try GeoPackageBulkWriter(
        creating: target, version: version, overwrite: false, store: store, logger: logger)
    }
    return try GeoPackageBulkWriter(
      changing: target, store: store, profile: profile, logger: logger)
  }
}
