public import FieldpackCore
public import FieldpackField
public import FieldpackMedia

/// Makes captures of existing media: gives each a token, and writes the files that belong to it.
///
///     let making = CaptureMaking(identity: try .stored())
///     let token = try making.token(at: draft.createdAt)
///     let info = try await making.complete(draft, token: token, media: "output.mov", in: folder)
public struct CaptureMaking: Sendable {
  public let identity: MachineIdentity
  /// Whether captures get a thumbnail, which needs ffmpeg.
  public let makesThumbnail: Bool
  /// Whether pictures keep their bytes even where they are not upright.
  public let keepsBytes: Bool
  let ffmpeg: FFmpeg

  public init(
    identity: MachineIdentity, makesThumbnail: Bool = true, keepsBytes: Bool = false,
    ffmpeg: FFmpeg = .standard
  ) {
    self.identity = identity
    self.makesThumbnail = makesThumbnail
    self.keepsBytes = keepsBytes
    self.ffmpeg = ffmpeg
  }

  /// Checks that ffmpeg is installed where thumbnails are wanted. Call it before recording.
  ///
  /// - Throws: `.unavailable` where thumbnails are made and ffmpeg is not installed.
  public func check() throws(FieldpackError) {
    if makesThumbnail { try ffmpeg.installed(else: .omitThumbnail) }
  }

  /// The same for media that are there.
  ///
  /// - Throws: `.unavailable` where they have to be turned and ffmpeg is not installed.
  func check(_ media: MediaHeader) throws(FieldpackError) {
    if turns(media) { try ffmpeg.installed(else: .keepBytes) }
  }

  private func turns(_ media: MediaHeader) -> Bool {
    media.isPicture && media.turn != .none && !keepsBytes
  }

  /// The longer side of a thumbnail at most, in pixels, as the format of captures has it.
  static let thumbnailSide = 300

  /// A new token for a capture.
  ///
  /// - Parameter createdAt: seconds since 1970; fractions of a second are dropped.
  /// - Throws: `.invalidArgument` for what is no time.
  public func token(at createdAt: Double) throws(FieldpackError) -> CaptureToken {
    guard createdAt.isFinite, abs(createdAt) < 1e12 else {
      throw FieldpackError(.invalidArgument, "\(createdAt) is no time of a capture")
    }
    return CaptureToken(install: identity, seconds: Int64(createdAt.rounded(.towardZero)))
  }

  /// Completes the capture in a folder that holds its media.
  ///
  /// Afterwards the folder has `<token>.jpg` or `.mov`, `<token>.png`, `<token>.json` and
  /// `capture-info.json`, all of them on the disk. Its other files stay. The caller renames the
  /// folder. After an interruption, a kill included, call this again with the same token.
  /// - Parameters:
  ///   - media: the name of the file in the folder.
  ///   - path: of the folder.
  /// - Throws: `.unsupported` for media of other formats, `.invalidData` for what they lack,
  ///   `.invalidArgument` for a draft that no capture can be made of, `.unavailable` without ffmpeg,
  ///   `.interrupted`.
  public func complete(
    _ draft: CaptureDraft, token: CaptureToken, media name: String, in path: String
  ) async throws(FieldpackError) -> CaptureInfo {
    try await complete(draft, token: token, media: name, copiedFrom: nil, in: path)
  }

  /// - Parameter original: what errors call the media, as the user does: the file is a copy of it.
  func complete(
    _ draft: CaptureDraft, token: CaptureToken, media name: String, copiedFrom original: String?,
    in path: String
  ) async throws(FieldpackError) -> CaptureInfo {
    let folder = try SafeFolder(path: path)
    let source = try Self.source(of: token, name, in: folder)
    let title = source == name ? original ?? name : source
    let file = try MediaFile(try folder.opened(source), name: title, for: MediaHeader.holder)
    let first = try draft.checked(as: file.header.kind)
    let names = CaptureNames(token, file.header.kind)
    // All that may fail for the media's sake comes before anything is changed.
    let upright = try await uprightPicture(of: file)
    if makesThumbnail, !folder.has(names.thumbnail) {
      let thumbnail = try await ffmpeg.thumbnail(
        of: file, side: Self.thumbnailSide, else: .omitThumbnail)
      try folder.replace(names.thumbnail, thumbnail)
    }
    if let upright {
      try folder.replace(names.media, upright)
    } else {
      try folder.finish(source, as: names.media)
    }
    if name != names.media { folder.discard(name) }
    let info = Self.info(draft, token, file.header.kind, at: first, file.header.orientation)
    return try Self.tell(info, draft, names, in: folder)
  }

  /// Completes the capture with media that nobody can read, as they are: without a thumbnail, and
  /// without saying how they are held.
  ///
  /// - Parameter kind: what the media were to be.
  /// - Throws: `.invalidArgument` for a draft that no capture can be made of.
  func completeUnread(
    _ draft: CaptureDraft, as kind: CaptureInfo.MediaKind, token: CaptureToken, media name: String,
    in path: String
  ) throws(FieldpackError) -> CaptureInfo {
    let folder = try SafeFolder(path: path)
    let source = try Self.source(of: token, name, in: folder)
    let first = try draft.checked(as: kind)
    let names = CaptureNames(token, kind)
    try folder.finish(source, as: names.media)
    if name != names.media { folder.discard(name) }
    return try Self.tell(Self.info(draft, token, kind, at: first, nil), draft, names, in: folder)
  }

  /// What the media are called now.
  private static func source(
    of token: CaptureToken, _ name: String, in folder: SafeFolder
  ) throws(FieldpackError) -> String {
    guard FileName.isSound(name) else {
      throw FieldpackError(.invalidArgument, "'\(name.prefix(80))' is no name of a file")
    }
    return ["\(token).jpg", "\(token).mov"].first(where: folder.has) ?? name
  }

  private static func info(
    _ draft: CaptureDraft, _ token: CaptureToken, _ kind: CaptureInfo.MediaKind,
    at first: CapturePoint, _ orientation: CaptureInfo.Orientation?
  ) -> CaptureInfo {
    var info = CaptureInfo(
      token: token.description, title: draft.title, kind: kind, longitude: first.longitude,
      latitude: first.latitude, heading: draft.heading ?? first.heading,
      createdAt: draft.createdAt)
    info.orientation = orientation
    return info
  }

  /// Writes what the capture says of itself.
  private static func tell(
    _ info: CaptureInfo, _ draft: CaptureDraft, _ names: CaptureNames, in folder: SafeFolder
  ) throws(FieldpackError) -> CaptureInfo {
    let geodata = CaptureGeodata(points: draft.points)
    try folder.replace(names.geodata, Array(geodata.document.text.utf8))
    // Last: with it the capture is whole.
    try folder.replace(CaptureReading.infoFile, Array(info.document.text.utf8))
    // What was left of the writing of them by a process that was killed.
    for name in [names.media, names.thumbnail] { try? folder.remove(SafeFolder.part(of: name)) }
    try folder.sync()
    return info
  }

  /// `nil` where the media are kept as they are.
  private func uprightPicture(of file: MediaFile) async throws(FieldpackError) -> [UInt8]? {
    guard let structure = file.structure, turns(file.header) else { return nil }
    return try await ffmpeg.upright(file, structure, else: .keepBytes)
  }
}

/// What the files of a new capture are called.
private struct CaptureNames {
  let media: String
  let thumbnail: String
  let geodata: String

  init(_ token: CaptureToken, _ kind: CaptureInfo.MediaKind) {
    // MPEG-4 goes by the name of QuickTime, which it came from.
    media = "\(token).\(kind == .video ? "mov" : "jpg")"
    thumbnail = "\(token).png"
    geodata = "\(token).json"
  }
}
