import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

extension Format {
  public static let gpx = Format(GPXFormat())
}

private struct GPXFormat: ImportedFormat, StreamedFormat {
  let name = "gpx"
  let title = "GPX"
  let extensions = ["gpx"]
  let holdsLayers = true
  let srsRule = SRSRule.onlyWGS84

  /// Any XML, since the reader says what else it is; a text in UTF-16 is XML where nothing else tells.
  func recognition(of head: FileHead) -> Recognition {
    if head.begins(with: "<") { return .likely }
    let isUTF16 = head.bytes.starts(with: [0xFF, 0xFE]) || head.bytes.starts(with: [0xFE, 0xFF])
    return isUTF16 ? .possible : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> GPXReader {
    GPXReader(input, options: options)
  }

  func describe(
    _ targets: inout [ExportTarget], of run: ExportRun
  ) async throws(FieldpackError) -> [Note] {
    guard run.options.gpxDialect == .gpx11 else { return [] }
    var found: [String] = []
    for target in targets {
      for text in try await run.gpxMetadata(of: target) where !found.contains(text) {
        found.append(text)
      }
    }
    guard found.count <= 1 else {
      let count = found.count
      return ["the metadata of \(count) GPX files are left out, since a file has only its own"]
    }
    guard let text = found.first, GPXWriter.takes(metadata: text) else { return [] }
    targets[0].gpxMetadata = text
    return []
  }

  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> TextFile<GPXWriter> {
    var options = GPXWriter.Options()
    options.dialect = plan.options.gpxDialect
    options.skipsErrors = plan.options.skipsErrors
    options.metadata = plan.targets.lazy.compactMap(\.gpxMetadata).first
    return try TextFile(place, plan.options, takesPieces: options.dialect == .gpx11) {
      GPXWriter($0, options: options)
    }
  }
}

extension ExportRun {
  /// What the GPX files said of themselves that a layer was imported from.
  fileprivate func gpxMetadata(of target: ExportTarget) async throws(FieldpackError) -> [String] {
    let store = try workspace.store(target.store)
    let cached = try await (store as? FileStore)?.whole().store
    guard let file = store.geoPackage ?? cached else { return [] }
    let (documents, references) = try await file.metadata()
    let layer = target.layer.rawValue.lowercased()
    let ids = references.filter { reference in
      guard case .layer(let name) = reference.subject else { return false }
      return name.rawValue.lowercased() == layer
    }.map(\.metadata)
    return documents.filter {
      ids.contains($0.id) && $0.standardURI == GPXWriter.metadataStandard
    }.map(\.content)
  }
}
