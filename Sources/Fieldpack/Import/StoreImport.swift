public import FieldpackCore
import FieldpackGeoPackage

/// Imports files into a store of another kind than a GeoPackage, such as a database of PostGIS:
/// everything, or nothing.
///
///     let report = try await StoreImport(options).run([ImportSource("wells.csv")], into: database)
///
/// Files that are no GeoPackages are read into a temporary GeoPackage first, because what a column is
/// shows only at the end of a file.
public struct StoreImport: Sendable {
  public var options: ImportOptions
  /// Called now and then with the number of features that the store has got.
  public var copied: (@Sendable (Int) -> Void)?

  public init(
    _ options: ImportOptions = ImportOptions(), copied: (@Sendable (Int) -> Void)? = nil
  ) {
    (self.options, self.copied) = (options, copied)
  }

  /// Imports all files, or single layers of GeoPackages, in one transaction.
  ///
  /// - Throws: `.unsupported` for a store that takes no files; as ``FileImport/run(_:into:)``.
  public func run(
    _ sources: [ImportSource], into store: any Store
  ) async throws(FieldpackError) -> ImportReport {
    let target = try Self.target(store)
    if sources.count == 1, try isGeoPackage(sources[0]) {
      return try await copyGeoPackage(sources[0], into: target)
    }
    let folder = try FileSystem.makeTemporaryFolder()
    defer { FileSystem.removeTree(folder) }
    return try await copy(
      sources, by: folder + "/import.gpkg", into: target)
  }

  /// Copies the layers of an open workspace.
  ///
  /// - Parameter layer: the only layer that is copied; `nil` copies all.
  public func run(
    _ workspace: Workspace, layer: LayerID? = nil, into store: any Store
  ) async throws(FieldpackError) -> ImportReport {
    let target = try Self.target(store)
    var parts: [LayerPart] = []
    let prepared = try await workspace.prepare(Query(layers: [layer].compactMap(\.self)))
    try checkNames(prepared.layers.map(\.schema.layer))
    for found in prepared.layers {
      let source = try workspace.store(found.store)
      parts.append(part(of: source, found.schema.layer))
    }
    var report = ImportReport()
    report.imported = prepared.layers.map {
      .init(file: $0.store.rawValue, layer: name(of: $0.schema.layer), schema: $0.schema, count: 0)
    }
    return try await load(parts, into: target, report)
  }

  /// Refuses layers that would take each other's place.
  private func checkNames(_ layers: [LayerID]) throws(FieldpackError) {
    var seen: Set<String> = []
    for layer in layers {
      let name = name(of: layer)
      guard seen.insert(name.rawValue.lowercased()).inserted else {
        throw FieldpackError(
          .invalidArgument,
          "several layers would be called '\(name)' (names are compared ignoring case). "
            + "Try: import them one by one, each with a name of its own",
          location: .init(layer: name))
      }
    }
  }

  private static func target(_ store: any Store) throws(FieldpackError) -> any LayerLoading {
    if let target = store as? any LayerLoading { return target }
    throw FieldpackError(
      .unsupported,
      "store '\(store.id)' takes features one by one, and no files: files are imported into "
        + "GeoPackages and databases of PostGIS", location: .init(store: store.id))
  }

  // MARK: Ways

  private func isGeoPackage(_ source: ImportSource) throws(FieldpackError) -> Bool {
    if let format = options.format { return format == .geoPackage }
    guard source.file != "-" else { return false }
    return try Format.detect(try ByteInput(path: source.file)) == .geoPackage
  }

  private func copyGeoPackage(
    _ source: ImportSource, into target: any LayerLoading
  ) async throws(FieldpackError) -> ImportReport {
    guard options.idColumn == nil else {
      throw FieldpackError(
        .invalidArgument, "the features of \(source.file) have ids already, which stay",
        advice: .omitIDColumn)
    }
    let store = try await GeoPackageStore(
      path: source.file, id: FileImport.storeID(of: source.file), logger: options.logger)
    do throws(FieldpackError) {
      let prepared = try await store.prepare(Query(layers: [source.layer].compactMap(\.self)))
      guard options.layer == nil || prepared.layers.count == 1 else {
        throw FieldpackError(
          .invalidArgument,
          "\(source.file) has \(prepared.layers.count.counting("layer")), and one name is given",
          advice: .nameSourceLayer(file: source.file))
      }
      var report = ImportReport()
      report.imported = prepared.layers.map {
        .init(
          file: source.file, layer: name(of: $0.schema.layer), schema: $0.schema, count: 0)
      }
      let parts = prepared.layers.map { part(of: store, $0.schema.layer) }
      report = try await load(parts, into: target, report)
      await store.close()
      return report
    } catch {
      await store.close()
      throw error
    }
  }

  private func copy(
    _ sources: [ImportSource], by path: String, into target: any LayerLoading
  ) async throws(FieldpackError) -> ImportReport {
    var reading = options
    (reading.mode, reading.matchColumn, reading.srs) = (.create, nil, nil)
    reading.isDryRun = false
    let read = try await FileImport(reading).run(sources: sources, into: path)
    let store = try await GeoPackageStore(path: path, id: "import", logger: options.logger)
    do throws(FieldpackError) {
      let parts = read.layers.map { layer in
        LayerPart(
          from: store, layer.layer, as: layer.layer,
          keepsIDs: read.imported.contains { $0.layer == layer.layer && $0.hasOwnIDs })
      }
      let report = try await load(parts, into: target, read)
      await store.close()
      return report
    } catch {
      await store.close()
      throw error
    }
  }

  private func part(of source: any Store, _ layer: LayerID) -> LayerPart {
    LayerPart(from: source, layer, as: name(of: layer), keepsIDs: true)
  }

  private func name(of layer: LayerID) -> LayerID { options.layer ?? layer }

  // MARK: Copying

  private func load(
    _ parts: [LayerPart], into target: any LayerLoading, _ read: ImportReport
  ) async throws(FieldpackError) -> ImportReport {
    var loading = LayerLoadOptions()
    loading.mode = options.mode
    loading.srs = options.srs
    loading.matchColumn = options.matchColumn
    loading.skipsErrors = options.skipsErrors
    loading.isDryRun = options.isDryRun
    loading.progress = copied
    let loaded = try await target.load(parts, loading)
    var report = read
    report.layers = loaded.layers
    report.isDryRun = options.isDryRun
    report.skipped.add(loaded.skipped)
    report.notes += loaded.notes
    report.transformations += loaded.transformations
    for index in report.imported.indices where report.imported[index].count == 0 {
      let layer = report.imported[index].layer
      report.imported[index].count = loaded.layers.first { $0.layer == layer }?.count ?? 0
    }
    return report
  }
}
