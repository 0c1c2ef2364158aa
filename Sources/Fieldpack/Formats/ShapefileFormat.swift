import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackProjection

extension Format {
  /// ESRI's shapefile: the `.shp` with the files beside it.
  public static let shapefile = Format(ShapefileFormat())
}

private struct ShapefileFormat: ImportedFormat, StreamedFormat {
  let name = "shp"
  let title = "Shapefile"
  let extensions = ["shp", "dbf", "zip"]
  let holdsLayers = false
  let srsRule = SRSRule.ofEachLayer

  /// The code 9994 in the first four bytes, or a ZIP archive that is called one.
  func recognition(of head: FileHead) -> Recognition {
    if head.bytes.starts(with: [0, 0, 0x27, 0x0A]) { return .certain }
    let isArchive = head.bytes.starts(with: Array("PK".utf8))
    return isArchive && head.fileExtension == "zip" ? .certain : .none
  }

  func companions(ofFileAt path: String) -> [String] {
    guard ShapefileSet.part(of: path) != nil else { return [] }
    return ShapefileSet.files(beside: path).map(\.1).filter { $0 != path }
  }

  func holdsLayers(in input: ByteInput) throws(FieldpackError) -> Bool {
    try PackedShapefiles(input).map { $0.stems.count > 1 } ?? false
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> ShapefilesReader {
    ShapefilesReader(input, options: options, identify: Self.identify)
  }

  /// A system of the store's own is known by its definition there.
  func describe(
    _ targets: inout [ExportTarget], of run: ExportRun
  ) async throws(FieldpackError) -> [Note] {
    for index in targets.indices {
      guard let store = try run.workspace.store(targets[index].store).geoPackage,
        let srs = targets[index].schema.geometry?.srs
      else { continue }
      targets[index].system = try await store.systems().first { $0.srs == srs }
    }
    return []
  }

  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> ShapefileExport {
    guard case .path(let path) = place else {
      throw FieldpackError(
        .invalidArgument, "a shapefile can only be written to files", advice: .writeToFile)
    }
    return try ShapefileExport(plan, to: path)
  }

  /// What PROJ makes of the definition in a `.prj`, which may say anything.
  @Sendable private static func identify(_ wkt: String) -> (srs: SRS?, name: String?) {
    guard let reference = try? SRSReference(wkt: wkt) else { return (nil, nil) }
    let srs = try? SRSCatalogue().identify(reference)
    return (srs, reference.description)
  }
}
