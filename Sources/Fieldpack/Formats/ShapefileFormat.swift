import FieldpackArchive
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

  func reader(_ input: ByteInput, options: ReadOptions) -> ShapefileReader {
    ShapefileReader(input, options: options, identify: Self.identify) {
      (input) throws(FieldpackError) in
      guard try input.head(2) == Array("PK".utf8) else { return try ShapefileSet(around: input) }
      return try ShapefileSet(packedIn: input) { () throws(FieldpackError) in
        try options.progress?(0)
      }
    }
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
    guard Format.fileExtension(path) != "zip" else {
      throw FieldpackError(
        .unsupported,
        "a shapefile is read from a .zip, and not written to one. Try: "
          + "\(ShapefileSet.stem(of: path)).shp")
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

extension ShapefileSet {
  /// Unpacks the one shapefile of a ZIP archive, or its one table where it has no shapes.
  ///
  /// - Parameter check: throws to stop.
  fileprivate init(
    packedIn input: ByteInput, check: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let archive = try ZipReader(input)
    // macOS adds files of its own, whose names begin with a dot, in a folder of their own.
    let entries = archive.entries.filter {
      !$0.isFolder && !$0.lastName.hasPrefix(".") && !$0.name.hasPrefix("__MACOSX/")
    }
    var mains = entries.filter { Self.part(of: $0.name) == .shapes }
    if mains.isEmpty { mains = entries.filter { Self.part(of: $0.name) == .table } }
    guard let main = mains.first, mains.count == 1 else {
      let names = mains.prefix(5).map(\.name).joined(separator: ", ")
      throw FieldpackError(
        mains.isEmpty ? .invalidData : .unsupported,
        mains.isEmpty
          ? "the archive has no .shp"
          : "the archive has \(mains.count) shapefiles (\(names)), and one is read. "
            + "Try: unpack it, and name them",
        position: FilePosition(file: input.name))
    }
    let stem = Self.stem(of: main.name)
    var files: [Part: ByteInput] = [:]
    for entry in entries where Self.stem(of: entry.name) == stem {
      guard let part = Self.part(of: entry.name), files[part] == nil else { continue }
      files[part] = try archive.open(entry, check: check)
    }
    self.init(stem: "\(input.name)/\(stem)", files: files)
  }
}
