public import FieldpackCore
import FieldpackGeoPackage
import FieldpackMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Makes captures of existing pictures and videos: of all of them, or of none.
///
///     let adding = CaptureAdding(making, folder: "captures")
///     let added = try await adding.run(["a.jpg"]) { (media) throws(FieldpackError) in
///       try positions.draft(of: media.kind, createdAt: nil, otherwise: media.changedAt)
///     }
public struct CaptureAdding: Sendable {
  /// A file that a capture is made of.
  public struct Media: Hashable, Sendable {
    public var path: String
    public var kind: CaptureInfo.MediaKind
    /// The length of a video in seconds, where its header states one.
    public var duration: Double?
    /// When the file was last written, in seconds since 1970.
    public var changedAt: Double
  }

  private let making: CaptureMaking
  private let folder: String
  private let destination: CaptureDestination?

  /// - Parameters:
  ///   - folder: the folder in which captures are made, created where it is missing. They stay
  ///     there unless the destination says otherwise.
  ///   - destination: the GeoPackage into which they are imported as well.
  public init(
    _ making: CaptureMaking, folder: String, into destination: CaptureDestination? = nil
  ) {
    self.making = making
    self.folder = folder
    self.destination = destination
  }

  /// Makes a capture of each file. The files themselves stay as they are.
  ///
  /// Where one capture cannot be made, none is. A kill while captures are made leaves none either:
  /// the next run in the folder removes the remains. A kill while they are moved to their places
  /// leaves some of them, each of them whole.
  /// - Throws: what ``CaptureMaking/complete(_:token:media:in:)`` and the import throw.
  public func run(
    _ paths: [String], draft: (Media) throws(FieldpackError) -> CaptureDraft
  ) async throws(FieldpackError) -> [RecordedCapture] {
    try making.check()
    let isNew = access(folder, F_OK) != 0
    Self.removeLeft(in: folder)
    // Locked as long as it lives, so that no other run takes it away.
    let staging = try RecordingFolder.make(in: folder, prefix: Self.prefix)
    let stage = staging.path
    defer {
      FileSystem.removeTree(staging.path)
      // Goes only where nothing came to be in it.
      if isNew { rmdir(folder) }
    }
    var added: [RecordedCapture] = []
    for path in paths {
      if Task.isCancelled { throw FieldpackError(.interrupted, "the captures were not made") }
      added.append(try await make(path, in: stage, draft))
    }
    if let destination { try await store(&added, from: stage, in: destination) }
    if destination?.keepsFolders != false { try moveFolders(&added, from: stage) }
    return added
  }

  static let prefix = ".adding-"

  /// Takes away what runs left that were killed.
  private static func removeLeft(in folder: String) {
    for name in (try? RecordingFolder.names(in: folder, prefix: prefix)) ?? [] {
      guard let left = try? RecordingFolder.open(name, in: folder) else { continue }
      FileSystem.removeTree(left.path)
    }
  }

  private func make(
    _ path: String, in stage: String, _ draft: (Media) throws(FieldpackError) -> CaptureDraft
  ) async throws(FieldpackError) -> RecordedCapture {
    let file = try FileToCopy(path)
    let media = try Media(file)
    let draft = try draft(media)
    _ = try draft.checked(as: media.kind)
    let token = try making.token(at: draft.createdAt)
    let folder = "\(stage)/\(token)"
    guard mkdir(folder, 0o755) == 0 else { throw .system(errno, "create", folder) }
    let name = media.kind == .image ? "output.jpg" : "output.mov"
    let copy = open(
      "\(folder)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o644)
    guard copy >= 0 else { throw .system(errno, "create", "\(folder)/\(name)") }
    try file.copy(to: AppendedFile(copy, "\(folder)/\(name)"))
    let info = try await making.complete(
      draft, token: token, media: name, copiedFrom: path, in: folder)
    return RecordedCapture(info: info, points: draft.points.count, folder: nil, key: nil)
  }

  // MARK: To their destinations

  private func store(
    _ added: inout [RecordedCapture], from stage: String, in destination: CaptureDestination
  ) async throws(FieldpackError) {
    // A new one gets its name when all is in it, and nobody else's is ever taken away.
    if access(destination.path, F_OK) != 0 {
      let made = "\(stage)/made.gpkg"
      let keys = try await Self.imported(stage, into: made, as: destination.store)
      if access(made + "-wal", F_OK) != 0,
        try DatabasePlace.give(destination.path, to: made) != nil
      {
        return Self.set(keys, of: &added)
      }
      // Somebody else created it meanwhile, or it is to be on another disk.
    }
    do throws(FieldpackError) {
      let keys = try await Self.imported(stage, into: destination.path, as: destination.store)
      Self.set(keys, of: &added)
    } catch {
      let tokens = added.map(\.info.token)
      // Also where this task is cancelled.
      await Task.detached { await Self.takeBack(tokens, from: destination) }.value
      throw error
    }
  }

  private static func imported(
    _ stage: String, into path: String, as store: StoreID
  ) async throws(FieldpackError) -> [String: KeyTuple] {
    let report = try await CaptureImport().run([stage], into: path, id: store)
    if let refusal = report.refused.first { throw refusal.error }
    return report.imported.reduce(into: [:]) { $0[$1.token] = $1.key }
  }

  private static func set(_ keys: [String: KeyTuple], of added: inout [RecordedCapture]) {
    for index in added.indices { added[index].key = keys[added[index].info.token] }
  }

  private static func takeBack(_ tokens: [String], from destination: CaptureDestination) async {
    guard
      let store = try? await GeoPackageStore(path: destination.path, id: destination.store)
    else { return }
    let catalogue = CaptureCatalogue(store)
    for token in tokens {
      if let capture = try? await catalogue.capture(token) {
        _ = try? await catalogue.delete([capture])
      }
    }
    await store.close()
  }

  private func moveFolders(
    _ added: inout [RecordedCapture], from stage: String
  ) throws(FieldpackError) {
    for index in added.indices {
      let target = "\(folder)/\(added[index].info.token)"
      guard FileSystem.rename("\(stage)/\(added[index].info.token)", target) else {
        throw .system(errno, "create", target)
      }
      added[index].folder = target
    }
    FileSystem.syncFolder(folder)
  }
}

extension CaptureAdding.Media {
  /// - Throws: what ``FileToCopy`` and ``MediaFile`` do.
  init(_ file: FileToCopy) throws(FieldpackError) {
    var status = stat()
    guard stat(file.path, &status) == 0 else { throw .system(errno, "read", file.path) }
    #if canImport(Glibc)
      let time = status.st_mtim
    #else
      let time = status.st_mtimespec
    #endif
    let opened = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard opened >= 0 else { throw .system(errno, "open", file.path) }
    let media = try MediaFile(
      (opened, Int(status.st_size)), name: file.path, for: MediaHeader.holder
    ).header
    self.init(
      path: file.path, kind: media.kind, duration: media.duration,
      changedAt: Double(time.tv_sec) + Double(time.tv_nsec / 1_000_000) / 1000)
  }
}
