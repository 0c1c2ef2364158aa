import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var captureAddCommand: Command {
    Command(
      "add", abstract: "Make captures of pictures and videos that are there.",
      discussion: """
        Captures get their place from --at, or from the positions of --fixes: a picture the last \
        position before it was made, a video all positions while it was made. --created says \
        when that was. Without it the time of the position counts, of the last for a picture and \
        of the first for a video, and without such a time that of the file. JPEG, QuickTime and \
        MPEG-4 are known by their bytes; the files stay as they are.

        A picture that does not stand upright, by its EXIF, is made upright in the capture. All \
        captures are made, or none is. They go to --folder as folders of four files, or into a \
        GeoPackage, or both. Thumbnails need ffmpeg; --no-thumbnail skips them.
        """,
      examples: [
        "fieldpack capture add summit.jpg --at -72.51,43.62 --heading 99 --into field.gpkg",
        "fieldpack capture add a.jpg b.jpg --fixes walk.gpx --created 2012-08-07T15:11:00Z "
          + "--into field.gpkg",
        "fieldpack capture add clip.mov --fixes clip.nmea --folder captures",
      ],
      body: CaptureAddCommand.self)
  }
}

/// `fieldpack capture add`.
private struct CaptureAddCommand: CommandBody {
  struct Options: OptionGroup {
    let media: [String]
    let at: Position?
    let fixes: CaptureFixArguments
    let heading: Double?
    let created: Double?
    let making: CaptureMakingArguments
    let opening: SourceArguments

    init(_ reader: inout OptionReader) {
      media = reader.arguments(
        .file("media", "jpg", "jpeg", "mov", "mp4"), minimum: 1,
        help: "JPEG, QuickTime or MPEG-4 files.")
      at = reader.value(
        "at", .position, help: "Where they were made, in degrees of WGS 84.")
      fixes = reader.group()
      heading = reader.value(
        "heading", .number("deg", atLeast: 0),
        help: "Where the camera looked at the beginning, in degrees from true north.")
      created = reader.value(
        "created", .unixTime, help: "When they were made: RFC 3339, or seconds since 1970.")
      making = reader.group()
      opening = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let target = try options.making.target()
    if let heading = options.heading, heading > 360 {
      throw FieldpackError(.invalidArgument, "--heading \(Decimals.short(heading)) is beyond 360")
    }
    switch (options.at, options.fixes.source(options.opening)) {
    case (let at?, nil):
      guard abs(at.x) <= 180, abs(at.y) <= 90 else {
        throw FieldpackError(
          .invalidArgument,
          "--at \(Decimals.short(at.x)),\(Decimals.short(at.y)) is not on Earth. Try: lon,lat")
      }
      try await target.check(invocation)
      return try await add(CapturePositions(at), to: target)
    case (nil, let fixes?):
      try await target.check(invocation)
      return try await invocation.withFixes(fixes) { (source) throws(FieldpackError) in
        let positions = try await CapturePositions(source.source, name: source.origin)
        return try await add(positions, to: target)
      }
    default:
      throw FieldpackError(
        .invalidArgument, "captures have positions. Try: either --at lon,lat or --fixes SOURCE")
    }
  }

  private func add(
    _ positions: CapturePositions, to target: CaptureTarget
  ) async throws(FieldpackError) -> Int32 {
    let adding = CaptureAdding(
      try options.making.making(), folder: target.folder, into: target.destination)
    defer { target.removeEmpty() }
    let (created, title, heading) = (options.created, options.making.title, options.heading)
    let added = try await adding.run(options.media) { (media) throws(FieldpackError) in
      var draft = try positions.draft(
        of: media.kind, createdAt: created, otherwise: media.changedAt, duration: media.duration)
      draft.title = title
      draft.heading = heading
      if let heading, draft.points.first?.heading == nil, !draft.points.isEmpty {
        draft.points[0].heading = heading
      }
      return draft
    }
    if invocation.isJSON {
      try invocation.print(["captures": .array(added.map(CaptureRecordReport.document))])
    } else {
      for capture in added { try invocation.print(CaptureRecordReport.text(capture)) }
    }
    return ExitStatus.success
  }
}

extension ValueForm where Value == Double {
  /// RFC 3339, or seconds since 1970.
  static var unixTime: ValueForm {
    ValueForm("time") { (text) throws(ValueError) -> Double in
      if let instant = Instant(text) { return Double(instant.milliseconds) / 1000 }
      guard let seconds = Double(text), seconds.isFinite, abs(seconds) < 1e11 else {
        throw ValueError("is neither a time such as 2012-08-07T15:11:00Z nor seconds since 1970")
      }
      return seconds
    }
  }
}
