public import FieldpackCore
import FieldpackGeoPackage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension CaptureCatalogue {
  /// A capture that was written to a folder.
  public struct Exported: Hashable, Sendable {
    public var capture: Capture
    public var folder: String
    /// The names of the files that the capture lacks.
    public var missing: [String]
  }

  /// Writes captures as folders of four files, each whole or not at all.
  ///
  /// The JSON says what was imported, in the form of today; media are the same bytes.
  /// - Parameter root: created where it is missing.
  /// - Throws: `.cannotCreate` where a capture's folder exists.
  public func export(
    _ captures: [Capture], to root: String
  ) async throws(FieldpackError) -> [Exported] {
    guard mkdir(root, 0o755) == 0 || errno == EEXIST else { throw .system(errno, "create", root) }
    var exported: [Exported] = []
    for capture in captures {
      if Task.isCancelled { throw FieldpackError(.interrupted, "the export was cancelled") }
      exported.append(try await export(capture, to: root))
    }
    return exported
  }

  private func export(
    _ capture: Capture, to root: String
  ) async throws(FieldpackError) -> Exported {
    let info = capture.info
    let folder = "\(root)/\(info.token)"
    guard FileName.isSound(info.token) else {
      throw FieldpackError(
        .invalidData, "the token '\(info.token.prefix(80))' cannot be the name of a folder")
    }
    guard !SafeFolder.exists(folder) else {
      throw FieldpackError(
        .cannotCreate, "\(folder) exists already", position: FilePosition(file: folder))
    }
    let names = try CaptureFileNames(info)
    let geodata = try await geodata(of: capture)
    let missing = try await store.read { (snapshot) throws(FieldpackError) in
      let making = try FolderInMaking(in: root, name: ".export-\(info.token)-\(getpid())")
      try making.write(names.geodata, Array(geodata.document.text.utf8))
      var missing: [String] = []
      let files = try snapshot.files(of: capture.key.feature)
      for (role, name) in [(CaptureRole.media, names.media), (.thumbnail, names.thumbnail)] {
        guard let file = files.first(where: { $0.role == role }) else {
          missing.append(name)
          continue
        }
        _ = try snapshot.withMedia(file.id, in: CaptureLayers.media) {
          (bytes, _) throws(FieldpackError) in try making.write(name, bytes)
        }
      }
      try making.write(CaptureReading.infoFile, Array(info.document.text.utf8))
      try making.commit(as: info.token)
      return missing
    }
    return Exported(capture: capture, folder: folder, missing: missing)
  }
}

/// What the files of a capture are called in its folder.
struct CaptureFileNames {
  let geodata: String
  let thumbnail: String
  let media: String

  /// - Throws: `.invalidData` where two are the same or one leads elsewhere.
  init(_ info: CaptureInfo) throws(FieldpackError) {
    geodata = try CaptureFolder.name(info.geodataFile)
    thumbnail = try CaptureFolder.name(info.thumbnailFile)
    media = try CaptureFolder.name(info.mediaFile)
    guard Set([geodata, thumbnail, media, CaptureReading.infoFile]).count == 4 else {
      throw FieldpackError(
        .invalidData, "two files of the capture '\(info.token)' have the same name")
    }
  }
}
