import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var captureAddCommand: Command {
    Command(
      "add", abstract: "Make captures of pictures and videos that are there.",
      discussion: """
        Their place is that of --at, or comes from the positions of --fixes: a picture gets the last \
        one until it was made, a video all while it was made. When that was, --created says, else \
        the time of the position (of a picture the last, of a video the first), else that of the \
        file. JPEG, QuickTime and MPEG-4 are known by their bytes; the files stay as they are.

        A picture that does not stand upright, by its EXIF, is made upright in the capture. Captures \
        are made of all files, or of none; they go to --folder as folders of four files, or into a \
        GeoPackage, or both. Thumbnails are made by ffmpeg.
        """,
      examples: [
        "fieldpack capture add summit.jpg --at -72.51,43.62 --heading 99 --into field.gpkg",
        "fieldpack capture add a.jpg b.jpg --fixes walk.gpx --created 2012-08-07T15:11:00Z "
          + "--into field.gpkg",
        "fieldpack capture add clip.mov --fixes clip.nmea --folder captures",
      ],
      arguments: [CaptureAddCommand.media],
      options: [
        OptionGroup(nil, CaptureAddCommand.options), SourceArguments.group, CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await CaptureAddCommand(invocation: invocation).run()
    }
  }
}

/// `fieldpack capture add`.
struct CaptureAddCommand {
  static let media = Argument<[String]>.list(
    .file("media", "jpg", "jpeg", "mov", "mp4"), minimum: 1,
    help: "JPEG, QuickTime or MPEG-4 files.")
  static let at = Option<Position?>.value(
    "at", .position, help: "Where they were made, in degrees of WGS 84.")
  static let heading = Option<Double?>.value(
    "heading", .number("deg", atLeast: 0),
    help: "Where the camera looked at the beginning, in degrees from true north.")
  static let created = Option<Double?>.value(
    "created", .unixTime, help: "When they were made: RFC 3339, or seconds since 1970.")

  static let options: [any OptionKey] = [
    CaptureRecordCommand.into, CaptureRecordCommand.folder, at, CaptureRecordCommand.fixes,
    CaptureRecordCommand.layer, FixArguments.device, heading, CaptureRecordCommand.title, created,
    CaptureRecordCommand.noThumbnail, CaptureRecordCommand.keepBytes, QueryArguments.skipErrors,
  ]

  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    let target = try CaptureTarget(
      folder: arguments[CaptureRecordCommand.folder],
      geoPackage: arguments[CaptureRecordCommand.into])
    if let heading = arguments[Self.heading], heading > 360 {
      throw FieldpackError(.invalidArgument, "--heading \(Decimals.short(heading)) is beyond 360")
    }
    switch (arguments[Self.at], arguments[CaptureRecordCommand.fixes]) {
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
      return try await invocation.withFixes(
        of: fixes, layer: arguments[CaptureRecordCommand.layer]
      ) { (source) throws(FieldpackError) in
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
    let making = CaptureMaking(
      identity: try .stored(), makesThumbnail: !arguments[CaptureRecordCommand.noThumbnail],
      keepsBytes: arguments[CaptureRecordCommand.keepBytes])
    let adding = CaptureAdding(making, folder: target.folder, into: target.destination)
    defer { target.removeEmpty() }
    let (created, title) = (arguments[Self.created], arguments[CaptureRecordCommand.title])
    let heading = arguments[Self.heading]
    let added = try await adding.run(arguments[Self.media]) { (media) throws(FieldpackError) in
      var draft = try positions.draft(
        of: media.kind, createdAt: created, otherwise: media.changedAt, duration: media.duration)
      draft.title = title
      draft.heading = heading
      if let heading, draft.points.first?.heading == nil, !draft.points.isEmpty {
        draft.points[0].heading = heading
      }
      return draft
    }
    if arguments[CommonOptions.json] {
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
