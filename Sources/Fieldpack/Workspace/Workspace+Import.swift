public import FieldpackCore
import FieldpackGeoPackage

extension Workspace {
  /// Imports a file into one layer of a GeoPackage store, in one transaction.
  ///
  ///     let workspace = try await Workspace.open(file: geoPackage, id: "survey")
  ///     let report = try await workspace.importFeatures(from: file, into: "wells", of: "survey")
  ///     await workspace.close()
  ///
  /// - Parameters:
  ///   - format: the file's format; `nil` detects it from contents and name.
  ///   - layer: created, or appended to where it exists; GPX layers get it as a prefix.
  /// - Throws: as ``FileImport/run(_:into:)``; `.readOnly` for a store of another kind.
  public func importFeatures(
    from file: String, as format: Format? = nil, into layer: LayerID, of id: StoreID
  ) async throws(FieldpackError) -> ImportReport {
    guard let store = try writableStore(id).geoPackage else {
      throw FieldpackError(
        .unsupported, "files are imported into GeoPackage stores; '\(id)' is none",
        location: .init(store: id))
    }
    var options = ImportOptions(layer: layer, mode: .append)
    options.format = format
    let plan = FileImport(options)
    let report = try await store.changingBeside { (didLock) async throws(FieldpackError) in
      try await plan.run(sources: [ImportSource(file)], into: store.path, didLock: didLock)
    }
    for loaded in report.layers { hub.publish(loaded, of: id) }
    return report
  }
}
