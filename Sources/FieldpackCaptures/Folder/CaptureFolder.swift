public import FieldpackCore

/// A folder of captures as devices keep them. Each capture is a folder named by its token, with the
/// media, a thumbnail, geo-data and `capture-info.json`.
///
/// Nothing outside the folder is read: links, and names that lead out of it, are refused.
public struct CaptureFolder: Sendable {
  /// What is read at most of one file, in bytes.
  struct Limits {
    static let info = 1 << 20
    static let geodata = 64 << 20
    static let media = 512 << 20
  }

  public let path: String
  /// The names of the captures' folders; the folder's own name where it is a capture itself.
  public let names: [String]
  private let isSingle: Bool

  /// - Throws: `.notFound`, `.permission`.
  public init(path: String) throws(FieldpackError) {
    let folder = try SafeFolder(path: path)
    self.path = path
    isSingle = folder.has(CaptureReading.infoFile)
    if isSingle {
      names = [Self.name(of: path)]
    } else {
      names = try folder.names().filter(folder.isFolder)
    }
  }

  /// Whether a path is a folder that holds captures, or is one.
  public static func isCaptures(_ path: String) -> Bool {
    guard let folder = try? SafeFolder(path: path) else { return false }
    if folder.has(CaptureReading.infoFile) { return true }
    guard let names = try? folder.names() else { return false }
    return names.contains { name in
      guard folder.isFolder(name), let inner = try? folder.folder(name) else { return false }
      return inner.has(CaptureReading.infoFile) || inner.has("\(name).json")
    }
  }

  private static func name(of path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? "capture"
    return FileName.isSound(name) ? name : "capture"
  }

  /// Reads a capture with its files.
  ///
  /// - Throws: `.invalidData` for what is missing or wrong in its JSON, for names that lead out of
  ///   its folder, links, and files longer than half a gigabyte.
  func capture(_ name: String) throws(FieldpackError) -> FoundCapture {
    let (reading, folder) = try reading(name)
    let names = try CaptureFileNames(reading.info)
    var found = FoundCapture(
      info: reading.info, geodata: reading.geodata,
      media: try Self.media(names.media, in: folder),
      thumbnail: try Self.media(names.thumbnail, in: folder))
    let type = try found.media?.content.prefix(MediaType.length)
    if found.info.kind == .video, let type = type.flatMap({ MediaType($0) }),
      type.rawValue.hasPrefix("image/")
    {
      found.info.kind = .image
      found.notes.append(
        "is declared a video and holds a picture, \(type.rawValue): taken as an image")
    }
    return found
  }

  /// Reads what a capture says of itself, and no media, however long they are.
  ///
  /// - Throws: what ``capture(_:)`` throws for its JSON.
  func reading(_ name: String) throws(FieldpackError) -> (CaptureReading, SafeFolder) {
    let root = try SafeFolder(path: path)
    let folder = isSingle ? root : try root.folder(name)
    guard let file = [CaptureReading.infoFile, "\(name).json"].first(where: folder.has) else {
      throw FieldpackError(.invalidData, "\(CaptureReading.infoFile) is missing")
    }
    let isCurrent = file == CaptureReading.infoFile
    let node = try Self.document(file, in: folder, limit: Limits.info)
    if !isCurrent, node["track"] == nil, node["capture"] == nil {
      throw FieldpackError(.invalidData, "\(CaptureReading.infoFile) is missing")
    }
    let reading = try CaptureReading(info: node, file: file, stem: name) {
      (stated) throws(FieldpackError) in
      try Self.document(Self.name(stated), in: folder, limit: Limits.geodata)
    }
    return (reading, folder)
  }

  /// The name of a capture's file in its folder, from what the info states: `<token>/<name>`.
  static func name(_ stated: String) throws(FieldpackError) -> String {
    let steps = stated.split(separator: "/", omittingEmptySubsequences: false)
    guard let name = steps.last.map(String.init), FileName.isSound(name), steps.count <= 2,
      steps.count == 1 || FileName.isSound(String(steps[0]))
    else {
      throw FieldpackError(
        .invalidData, "'\(stated.prefix(80))' leads out of the capture's folder")
    }
    return name
  }

  private static func document(
    _ name: String, in folder: SafeFolder, limit: Int
  ) throws(FieldpackError) -> JSONValue {
    guard let bytes = try folder.bytes(of: name, limit: limit) else {
      throw FieldpackError(.invalidData, "\(name) is missing")
    }
    return try document(bytes, of: name)
  }

  /// - Parameter name: of the file, for errors.
  static func document(_ bytes: [UInt8], of name: String) throws(FieldpackError) -> JSONValue {
    guard !bytes.isEmpty else { throw FieldpackError(.invalidData, "\(name) is empty") }
    let result = bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONMistake) in try JSONValueReader.read(bytes, maximumDepth: 64) }
    }
    switch result {
    case .success(let node): return node
    case .failure(let mistake):
      throw FieldpackError(
        .invalidData, "\(name) is no JSON: \(mistake.message) at byte \(mistake.offset)")
    }
  }

  private static func media(
    _ name: String, in folder: SafeFolder
  ) throws(FieldpackError) -> CaptureFile? {
    guard let bytes = try folder.bytes(of: name, limit: Limits.media), !bytes.isEmpty else {
      return nil
    }
    return CaptureFile(name: name, SpooledBytes(bytes))
  }
}

/// A file of a capture.
struct CaptureFile: Sendable {
  /// In the capture's folder.
  var name: String
  let content: SpooledBytes
  /// The digest of the content, where it is known already.
  var sha256: String?

  init(name: String, _ content: SpooledBytes) {
    self.name = name
    self.content = content
  }
}

/// A capture as it was read.
struct FoundCapture: Sendable {
  var info: CaptureInfo
  var geodata: CaptureGeodata
  /// `nil` where the file is missing or empty.
  var media: CaptureFile?
  var thumbnail: CaptureFile?
  /// What was understood otherwise than it is declared.
  var notes: [String] = []
}
