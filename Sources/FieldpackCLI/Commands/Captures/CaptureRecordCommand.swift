import Fieldpack
import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FieldpackTool {
  static var captureRecordCommand: Command {
    Command(
      "record", abstract: "Record a picture or a video with positions as a capture.",
      discussion: """
        Each position and each heading becomes a point of a video, and a point that --follow \
        shows is on the disk. A picture has one point, the latest. Positions of a file keep \
        their times; positions from standard input or a device get the seconds since the \
        recording began. The recording ends with the positions or when it is interrupted, and \
        makes a capture of what there is. Without any position nothing is kept. With positions \
        of a file a film has to be whole before the recording begins.

        The capture goes to --folder as a folder of four files, or into a GeoPackage, or both. A \
        recording that was killed is completed by the next one with the same --folder or --into. \
        Media that were cut short are kept as they are, without a thumbnail. Without --media and \
        --fixes the command only completes killed recordings. --no-thumbnail skips thumbnails.
        """,
      examples: [
        "gpspipe -w -n 10 | fieldpack capture record --media shot.jpg --fixes - --into field.gpkg",
        "fieldpack capture record --media clip.mov --fixes clip.nmea --folder captures",
        "fieldpack capture record --folder captures",
      ],
      body: CaptureRecordCommand.self)
  }
}

/// Where captures go, and how they are made.
struct CaptureMakingArguments: OptionGroup {
  let folder: String?
  let into: String?
  let title: String
  private let makesThumbnail: Bool
  private let keepsBytes: Bool

  init(_ reader: inout OptionReader) {
    folder = reader.value(
      "folder", .text("folder", completion: .folder),
      help: "The folder of captures to add it to, made where missing.")
    into = reader.value(
      "into", .target, help: "The GeoPackage to import it into; made where missing.")
    title = reader.value(
      "title", .text("text"), default: CaptureInfo.untitled, help: "What the capture is called.")
    makesThumbnail = !reader.flag(
      "no-thumbnail",
      help: "Make no thumbnails, which need ffmpeg. A picture that does not stand upright needs "
        + "ffmpeg, too, or --keep-bytes.")
    keepsBytes = reader.flag(
      "keep-bytes", help: "Keep a picture as it is, even where it does not stand upright.")
  }

  func target() throws(FieldpackError) -> CaptureTarget {
    try CaptureTarget(folder: folder, geoPackage: into)
  }

  func making() throws(FieldpackError) -> CaptureMaking {
    CaptureMaking(
      identity: try .stored(), makesThumbnail: makesThumbnail, keepsBytes: keepsBytes)
  }
}

/// The positions of a capture.
struct CaptureFixArguments: OptionGroup {
  private let name: SourceName?
  private let fixes: FixArguments

  init(_ reader: inout OptionReader) {
    name = reader.value(
      "fixes", .source(),
      help: "Where positions come from: a GeoPackage, GPX, GeoJSON or CSV file, or lines of NMEA, "
        + "gpsd or JSON in a file, a pipe, a device or - for standard input. Of several layers "
        + "track_points is taken, or track_point, where none is named.")
    fixes = reader.group()
  }

  /// `nil` where no positions are named.
  func source(_ opening: SourceArguments, _ replay: ReplayArguments = .unpaced) -> FixSource? {
    name.map {
      FixSource(name: $0, arguments: fixes, replay: replay, source: opening)
    }
  }
}

/// `fieldpack capture record`.
private struct CaptureRecordCommand: CommandBody {
  struct Options: OptionGroup {
    let media: String?
    let fixes: CaptureFixArguments
    let making: CaptureMakingArguments
    let follows: Bool
    let replay: ReplayArguments
    let opening: SourceArguments

    init(_ reader: inout OptionReader) {
      media = reader.value(
        "media", .file("file", "jpg"),
        help: "What the camera wrote: a JPEG, QuickTime or MPEG-4 file. It stays as it is.")
      fixes = reader.group()
      making = reader.group()
      follows = reader.flag("follow", help: "Show each point as it is stored.")
      replay = reader.group()
      opening = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let target = try options.making.target()
    let fixes = options.fixes.source(options.opening, options.replay)
    guard (options.media == nil) == (fixes == nil) else {
      throw FieldpackError(
        .invalidArgument, "--media and --fixes are needed both, or none to complete what was left")
    }
    try await target.check(invocation)
    let making = try options.making.making()
    try making.check()
    let recorder = try CaptureRecorder(
      folder: target.folder, making: making, into: target.destination)
    defer { target.removeEmpty() }
    let left = try await recorder.completeLeft()
    let report = CaptureRecordReport(invocation: invocation, left: left)
    report.tellLeft()
    guard let media = options.media, let fixes else { return try report.showLeft() }
    return try await invocation.withFixes(fixes) { (source) throws(FieldpackError) in
      try await record(media, source, recorder, report)
    }
  }

  private func record(
    _ media: String, _ source: OpenedFixes, _ recorder: CaptureRecorder,
    _ report: CaptureRecordReport
  ) async throws(FieldpackError) -> Int32 {
    let before = FileState(media)
    let kind = try CaptureInfo.MediaKind(ofMediaAt: media)
    // Joined before the first point.
    let states = recorder.states
    try await recorder.begin(
      kind, fixes: source.source, title: options.making.title, media: media,
      timing: source.isReplay ? .fixes : .clock)
    var failure: FieldpackError?
    do throws(FieldpackError) {
      if options.follows { try await report.follow(states) }
      try await recorder.untilSourceEnds()
    } catch {
      failure = error
    }
    guard await recorder.pointCount > 0 else {
      try await recorder.discard()
      throw failure
        ?? FieldpackError(
          .invalidData, "\(source.origin) gave no position, and a capture has one")
    }
    let recorded: RecordedCapture
    do throws(FieldpackError) {
      // A camera may have gone on writing.
      if FileState(media) != before { try await recorder.takeMedia(copying: media) }
      recorded = try await recorder.finish()
    } catch {
      if await recorder.pointCount > 0 {
        invocation.console.note(
          "what was recorded is kept; the next start with the same --folder or --into completes it")
      }
      throw error
    }
    try report.show(recorded, failure)
    guard let failure, failure.code != .interrupted else { return ExitStatus.success }
    invocation.console.report(failure)
    return failure.code.exitStatus
  }
}

/// Where captures are recorded, and what they are imported into.
struct CaptureTarget {
  let folder: String
  let destination: CaptureDestination?
  private let geoPackage: String?
  private let isOurs: Bool

  /// Without a folder of its own a capture is made in a hidden one beside the GeoPackage.
  init(folder: String?, geoPackage: String?) throws(FieldpackError) {
    self.geoPackage = geoPackage
    guard let path = try geoPackage.map(Self.absolute) else {
      guard let folder else {
        throw FieldpackError(
          .invalidArgument, "a capture needs a place to go to. Try: --folder, --into, or both")
      }
      (self.folder, destination) = (folder, nil)
      isOurs = access(folder, F_OK) != 0
      return
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let beside = parts.dropLast().joined(separator: "/") + "/.\(parts[parts.count - 1]).captures"
    self.folder = folder ?? beside
    destination = CaptureDestination(
      path: path, store: FileImport.storeID(of: path), keepsFolders: folder != nil)
    isOurs = folder.map { access($0, F_OK) != 0 } ?? true
  }

  /// So that a later start from elsewhere knows it again.
  private static func absolute(_ path: String) throws(FieldpackError) -> String {
    var steps = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = steps.removeLast()
    let folder = steps.isEmpty ? "." : steps == [""] ? "/" : steps.joined(separator: "/")
    guard let real = FileSystem.real(folder) else {
      throw FieldpackError(
        .cannotCreate, "cannot create \(path): its folder does not exist",
        position: FilePosition(file: path))
    }
    return FileSystem.join(real, String(name))
  }

  /// Refuses what nothing could be imported into before anything is recorded.
  func check(_ invocation: Invocation) async throws(FieldpackError) {
    guard let geoPackage, access(geoPackage, F_OK) == 0 else { return }
    let store = try await GeoPackageStore(
      path: geoPackage, id: FileImport.storeID(of: geoPackage), usesWAL: false,
      logger: invocation.logger)
    await store.close()
    guard access(geoPackage, W_OK) == 0 else {
      throw FieldpackError(
        .readOnly, "\(geoPackage) must not be written to",
        position: FilePosition(file: geoPackage))
    }
  }

  /// The folder, where it was made here and nothing is in it.
  func removeEmpty() {
    if isOurs { rmdir(folder) }
  }
}

/// Whether a file was changed.
private struct FileState: Equatable {
  private var size: Int64 = -1
  private var seconds = 0
  private var nanoseconds = 0

  init(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    size = Int64(status.st_size)
    #if canImport(Glibc)
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    #else
      (seconds, nanoseconds) = (status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec)
    #endif
  }
}
