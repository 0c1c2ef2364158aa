import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var captureCommand: Command {
    Command(
      "capture", abstract: "Show, export and upload pictures and videos with their positions.",
      discussion: "Folders of captures are imported by: fieldpack import FOLDER --into FILE.gpkg",
      options: [CommonOptions.group],
      subcommands: [
        captureListCommand, captureAddCommand, captureRecordCommand, captureExportCommand,
        captureUploadCommand,
        captureTitleCommand, captureDeleteCommand,
      ], family: positionsFamily)
  }

  private static var captureListCommand: Command {
    Command(
      "list", abstract: "List the captures of a GeoPackage, the newest first.",
      discussion: """
        A capture lacks a file that was not in its folder when it was imported. With --at the place \
        that a video had reached at that time is shown instead of the place where it began. With \
        --svg they are drawn, too: a pin for each, turned to where it looked, and the tracks.
        """,
      examples: [
        "fieldpack capture list field.gpkg", "fieldpack capture list field.gpkg --day 2012-08-07",
        "fieldpack capture list field.gpkg --near -72.5,43.6 --radius 500 --json",
      ],
      arguments: [CaptureArguments.file],
      options: [
        OptionGroup(
          nil, CaptureArguments.selection + [CaptureArguments.svg, ExportArguments.overwrite]),
        CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await invocation.withCaptures { (captures) throws(FieldpackError) in
        try await CaptureListCommand(invocation: invocation, catalogue: captures).run()
      }
    }
  }

  private static var captureExportCommand: Command {
    Command(
      "export", abstract: "Write captures as folders of four files, as their devices keep them.",
      discussion: """
        Each capture gets a folder of its token's name; one that exists is refused. All captures \
        are written where none is named.
        """,
      examples: ["fieldpack capture export field.gpkg --output StraboCaptures"],
      arguments: [CaptureArguments.file, CaptureArguments.captures],
      options: [OptionGroup(nil, [CaptureArguments.output]), CommonOptions.group]
    ) { invocation throws(FieldpackError) in
      try await invocation.withCaptures { (catalogue) throws(FieldpackError) in
        let captures = try await invocation.namedCaptures(in: catalogue)
        let exported = try await catalogue.export(
          captures, to: invocation.arguments[CaptureArguments.output])
        try invocation.print(exported)
        return ExitStatus.success
      }
    }
  }

  private static var captureTitleCommand: Command {
    Command(
      "title", abstract: "Give a capture another title.",
      examples: ["fieldpack capture title field.gpkg 338d2c23…358d \"Mount Tom\""],
      arguments: [CaptureArguments.file, CaptureArguments.capture, CaptureArguments.title],
      options: [OptionGroup(nil, [WriteArguments.allowTriggers]), CommonOptions.group]
    ) { invocation throws(FieldpackError) in
      try await invocation.withCaptures { (catalogue) throws(FieldpackError) in
        var capture = try await catalogue.capture(invocation.arguments[CaptureArguments.capture])
        let title = invocation.arguments[CaptureArguments.title]
        try await catalogue.setTitle(title, of: capture)
        capture.info.title = title
        if invocation.arguments[CommonOptions.json] {
          try invocation.print(["capture": capture.document(missing: nil)])
        } else {
          try invocation.print("\(capture.info.token) is now '\(DisplayText.visible(title))'\n")
        }
        return ExitStatus.success
      }
    }
  }

  private static var captureDeleteCommand: Command {
    Command(
      "delete", abstract: "Delete captures with their points and files.",
      examples: ["fieldpack capture delete field.gpkg 338d2c23…358d"],
      arguments: [CaptureArguments.file, CaptureArguments.someCaptures],
      options: [OptionGroup(nil, [WriteArguments.allowTriggers]), CommonOptions.group]
    ) { invocation throws(FieldpackError) in
      try await invocation.withCaptures { (catalogue) throws(FieldpackError) in
        let captures = try await invocation.captures(
          named: invocation.arguments[CaptureArguments.someCaptures], in: catalogue)
        try await catalogue.delete(captures)
        if invocation.arguments[CommonOptions.json] {
          try invocation.print(["deleted": .array(captures.map { .text($0.info.token) })])
        } else {
          let count = captures.count
          try invocation.print("\(count) capture\(count == 1 ? "" : "s") deleted\n")
        }
        return ExitStatus.success
      }
    }
  }
}

/// What the commands on captures take.
enum CaptureArguments {
  static let file = Argument<String>.required(
    .text("gpkg", completion: .source(["gpkg"])), help: "The GeoPackage with the captures.")
  static let capture = Argument<String>.required(
    .text("capture"), help: "The token or the key tuple of a capture.")
  static let captures = Argument<[String]>.list(
    .text("capture"), help: "Tokens or key tuples of captures.")
  static let someCaptures = Argument<[String]>.list(
    .text("capture"), minimum: 1, help: "Tokens or key tuples of captures.")
  static let title = Argument<String>.required(.text("title"), help: "The new title.")
  static let output = Option<String>.required(
    "output", short: "o", .text("folder", completion: .folder),
    help: "The folder to write to, created where it is missing.")

  static let day = Option<CalendarDate?>.value(
    "day", .day, help: "Only those of this day, by the local clock (TZ).")
  static let box = Option<Envelope?>.value(
    "bbox", .box, help: "Only those in this box, in degrees of WGS 84.")
  static let near = Option<Position?>.value(
    "near", .position, help: "Only those near this point.")
  static let radius = Option<Double>.value(
    "radius", .number("m", atLeast: 0), default: 1000, shownAs: "1000",
    help: "How far from --near, in metres.")
  static let kind = Option<CaptureInfo.MediaKind?>.value(
    "kind", .choice("kind"), help: "Only images, or only videos.")
  static let limit = Option<Int?>.value(
    "limit", .integer("n", in: 0...Int.max), help: "No more than so many.")
  static let time = Option<Double?>.value(
    "at", .number("s"), help: "Where videos were after so many seconds.")

  static let svg = Option<String?>.value(
    "svg", .file("file", "svg"), help: "Draw the captures to this file, too.")

  static var selection: [any OptionKey] { [day, box, near, radius, kind, limit, time] }
}

extension ValueForm where Value == CalendarDate {
  /// `YYYY-MM-DD`.
  static var day: ValueForm {
    ValueForm("date") { (text) throws(ValueError) -> CalendarDate in
      guard let day = CalendarDate(text) else {
        throw ValueError("is no date such as 2012-08-07")
      }
      return day
    }
  }
}

extension Invocation {
  /// Opens the command's GeoPackage, runs `body` and closes it, whatever happens.
  func withCaptures(
    _ body: (CaptureCatalogue) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    let path = arguments[CaptureArguments.file]
    let store = try await GeoPackageStore(
      path: path, id: FileImport.storeID(of: path), profile: profile, usesWAL: false,
      logger: logger)
    do throws(FieldpackError) {
      let status = try await body(CaptureCatalogue(store))
      await store.close()
      return status
    } catch {
      await store.close()
      throw error
    }
  }

  /// The captures that the command names, all where it names none.
  func namedCaptures(
    in catalogue: CaptureCatalogue
  ) async throws(FieldpackError) -> [Capture] {
    let names = arguments[CaptureArguments.captures]
    return names.isEmpty
      ? try await catalogue.list() : try await captures(named: names, in: catalogue)
  }

  /// Each capture once.
  func captures(
    named names: [String], in catalogue: CaptureCatalogue
  ) async throws(FieldpackError) -> [Capture] {
    var captures: [Capture] = []
    for name in names {
      let capture = try await catalogue.capture(name)
      if !captures.contains(capture) { captures.append(capture) }
    }
    return captures
  }

  fileprivate func print(_ exported: [CaptureCatalogue.Exported]) throws(FieldpackError) {
    if arguments[CommonOptions.json] {
      let entries = exported.map { entry -> JSONValue in
        [
          "token": .text(entry.capture.info.token), "folder": .text(entry.folder),
          "missing_files": JSONValue(entry.missing),
        ]
      }
      return try print(["exported": .array(entries)])
    }
    for entry in exported {
      try print("\(DisplayText.visible(entry.folder))\n")
      guard !entry.missing.isEmpty else { continue }
      console.note(
        "\(entry.capture.info.token) lacks \(entry.missing.joined(separator: " and "))")
    }
  }
}
