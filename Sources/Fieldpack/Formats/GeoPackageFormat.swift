import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

extension Format {
  public static let geoPackage = Format(GeoPackageFormat())
}

/// Opened as it is; its layers are imported into other GeoPackages.
private struct GeoPackageFormat: ImportedFormat, StreamedFormat {
  let name = "gpkg"
  let title = "a GeoPackage"
  let extensions = ["gpkg"]
  let holdsLayers = true
  let srsRule = SRSRule.ofEachLayer

  func recognition(of head: FileHead) -> Recognition {
    head.bytes.starts(with: Array("SQLite format 3\0".utf8)) ? .certain : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> GeoPackageReader {
    GeoPackageReader(input, options: options)
  }

  func describe(
    _ targets: inout [ExportTarget], of run: ExportRun
  ) async throws(FieldpackError) -> [Note] {
    try await run.describe(&targets)
    return try await run.leftBehind(targets)
  }

  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> GeoPackageExport {
    guard case .path(let path) = place else {
      throw FieldpackError(
        .invalidArgument, "\(title) can only be written to a file", advice: .writeToFile)
    }
    return try GeoPackageExport(creating: path, options: plan.options)
  }
}

extension ExportRun {
  /// GeoPackages and FlatGeobuf need to know before the first row how systems are defined, and what columns
  /// hold whose types the standard does not have; GeoPackages also which layers have texts for ids.
  func describe(_ targets: inout [ExportTarget]) async throws(FieldpackError) {
    for index in targets.indices {
      let store = try workspace.store(targets[index].store)
      if let store = store.geoPackage {
        let geometry = targets[index].schema.geometry
        targets[index].system = try await store.systems().first {
          $0.srs == geometry?.srs && $0.epoch == geometry?.epoch
        }
        targets[index].storedTypes = try await store.storedTypes(of: targets[index].schema)
        continue
      }
      let first = Query(layers: [targets[index].layer], where: query.filter).select([])
        .withoutGeometry().limit(1).skippingErrors(query.skipsErrors)
      guard let batch = try await store.query(first).makeAsyncIterator().next() else { continue }
      if case .text? = batch.ids.first { targets[index].hasTextIDs = true }
    }
  }
}
