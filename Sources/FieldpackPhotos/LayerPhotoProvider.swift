public import FieldpackCore
public import FieldpackGeoPackage
public import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Photos of a layer, found by the distance of its features on the ellipsoid.
///
/// A picture comes from the layer's relation of media, else from the file that the column `path`,
/// `file`, `file_name` or `image` names, in the folder of the GeoPackage or below it. Title, owner
/// and licence come from the columns `title` or `name`, `owner` and `license`.
public struct LayerPhotoProvider: PhotoProvider {
  public let name: String
  public var maximumRadius: Double { 32_000 }
  private let store: GeoPackageStore
  private let layer: LayerID
  private let titleColumn: String?
  private let pathColumn: String?

  /// - Parameter name: the name of the provider, by default made of store and layer.
  /// - Throws: `.notFound` for an unknown layer, `.invalidArgument` for one without geometry.
  public init(
    store: GeoPackageStore, layer: LayerID, name: String? = nil
  ) async throws(FieldpackError) {
    let schemas = try await store.schemas()
    guard let schema = schemas.first(where: { $0.layer == layer }) else {
      let known = schemas.map(\.layer.rawValue).joined(separator: ", ")
      throw FieldpackError(
        .notFound, "layer '\(layer)' of photos is not in \(store.path) (it has: \(known))",
        location: .init(store: store.id, layer: layer))
    }
    guard schema.geometry != nil else {
      throw FieldpackError(
        .invalidArgument, "layer '\(layer)' has no geometry to find photos by",
        location: .init(store: store.id, layer: layer))
    }
    self.store = store
    self.layer = layer
    self.name = name ?? "\(store.id):\(layer)"
    titleColumn = ["title", "name"].first { schema.columnIndex($0) != nil }
    pathColumn = ["path", "file", "file_name", "image"].first { schema.columnIndex($0) != nil }
  }

  public func candidates(
    near position: Position, radius: Double, limit: Int
  ) async throws(FieldpackError) -> [PhotoCandidate] {
    let query = Query(layer).nearest(
      to: .point(x: position.x, y: position.y), srs: .wgs84, count: max(0, limit),
      within: min(max(radius, 0), maximumRadius)
    ).transformed(to: .wgs84)
    var found: [PhotoCandidate] = []
    let batches = try await store.query(query).makeAsyncIterator()
    while let batch = try await batches.next() {
      for index in 0..<batch.count { found.append(candidate(try batch.feature(at: index))) }
    }
    return found
  }

  private func candidate(_ feature: Feature) -> PhotoCandidate {
    let id = feature.id?.description ?? ""
    func text(_ column: String?) -> String? {
      column.flatMap { name in
        feature.attributes.elements.first { $0.name.lowercased() == name }?.value.shown
      }
    }
    let path = text(pathColumn)
    return PhotoCandidate(
      id: id, title: text(titleColumn) ?? "", owner: text("owner"), license: text("license"),
      position: feature.geometry?.firstPosition, source: path ?? "\(layer)/\(id)")
  }

  public func image(
    of candidate: PhotoCandidate, maximumLength: Int
  ) async throws(FieldpackError) -> [UInt8] {
    let (layer, id) = (layer, FeatureID(candidate.id))
    let related = try await store.read { (snapshot) throws(FieldpackError) in
      try Self.media(of: id, in: layer, snapshot, maximumLength)
    }
    if let related { return related }
    guard pathColumn != nil, !candidate.source.isEmpty else {
      throw FieldpackError(
        .notFound, "photo \(candidate.id) has neither related media nor the path of a file",
        location: .init(store: store.id, layer: layer, feature: id))
    }
    return try PictureFolder(of: store.path).read(candidate.source, maximumLength: maximumLength)
  }

  /// The first file that a relation of media links to the photo.
  private static func media(
    of id: FeatureID, in layer: LayerID, _ snapshot: GeoPackageSnapshot, _ maximum: Int
  ) throws(FieldpackError) -> [UInt8]? {
    for relation in try snapshot.relations() where relation.base == layer && relation.kind == .media
    {
      guard let media = try snapshot.related(to: id, by: relation).first else { continue }
      return try snapshot.withMedia(media, in: relation.related) {
        (bytes, _) throws(FieldpackError) in
        guard bytes.byteCount <= maximum else { throw .tooLong(id.description, maximum) }
        return bytes.withUnsafeBytes { Array($0) }
      }
    }
    return nil
  }
}

extension FieldpackError {
  static func tooLong(_ photo: String, _ maximum: Int) -> FieldpackError {
    FieldpackError(.invalidData, "the picture of photo \(photo) is longer than \(maximum) bytes")
  }
}

extension Geometry {
  /// Where the first position is; `nil` where there is none.
  var firstPosition: Position? {
    if case .point(let position?, _) = self { return position }
    return envelope.map { Position(x: $0.minX, y: $0.minY) }
  }
}

extension Value {
  /// A text, or a number as one; `nil` for others and for the empty text.
  var shown: String? {
    switch self {
    case .text(let text): text.isEmpty ? nil : text
    case .integer(let number): String(number)
    default: nil
    }
  }
}

/// Reads files below the folder that a GeoPackage lies in.
struct PictureFolder {
  private let path: String

  init(of file: String) {
    let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
    path = folder.isEmpty ? "/" : folder
  }

  /// - Throws: `.permission` for a path that leads out of the folder, `.notFound` where there is no
  ///   regular file.
  func read(_ name: String, maximumLength: Int) throws(FieldpackError) -> [UInt8] {
    guard !name.hasPrefix("/"), !name.utf8.contains(0) else { throw outside(name) }
    guard let root = FileSystem.real(path), let real = FileSystem.real(path + "/" + name) else {
      throw FieldpackError(.notFound, "there is no picture '\(name)' in \(path)")
    }
    guard real.hasPrefix(root == "/" ? root : root + "/") else { throw outside(name) }
    let descriptor = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    var status = stat()
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG
    else {
      throw FieldpackError(
        .notFound, "the picture '\(name)' in \(path) is no file that can be read")
    }
    guard status.st_size <= maximumLength else { throw .tooLong(name, maximumLength) }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count, off_t(count))
      }
      guard got > 0 else {
        throw FieldpackError(.io, "cannot read the picture '\(name)' in \(path)")
      }
      count += got
    }
    return bytes
  }

  private func outside(_ name: String) -> FieldpackError {
    FieldpackError(
      .permission,
      "the picture '\(name)' does not lie in \(path). Try: paths relative to that folder")
  }
}
