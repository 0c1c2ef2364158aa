import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var captureCommand: Command {
    Command(
      "capture", abstract: "Make, list, show, export, upload, fetch and delete captures.",
      discussion: """
        A capture is a picture or a video with its positions. Folders of captures are imported by: \
        fieldpack import FOLDER --into FILE.gpkg
        """,
      subcommands: [
        captureAddCommand, captureRecordCommand, captureListCommand, captureShowCommand,
        captureExportCommand, captureUploadCommand, captureFetchCommand, captureTitleCommand,
        captureDeleteCommand,
      ], family: positionsFamily)
  }

  private static var captureExportCommand: Command {
    Command(
      "export", abstract: "Write captures as folders of files, or draw them on a map.",
      discussion: """
        Each capture gets a folder of its token's name in the folder --output, with the four files \
        that its device keeps; one that exists is refused. An --output in .svg is a map: a pin for \
        each capture, turned to where it looked, and the tracks of videos. All captures are \
        written where none is named.
        """,
      examples: [
        "fieldpack capture export field.gpkg --output StraboCaptures",
        "fieldpack capture export field.gpkg --day 2012-08-07 --output captures.svg",
      ],
      body: CaptureExportCommand.self)
  }

  private static var captureTitleCommand: Command {
    Command(
      "title", abstract: "Give a capture another title.",
      examples: ["fieldpack capture title field.gpkg 338d2c23…358d \"Mount Tom\""],
      body: CaptureTitleCommand.self)
  }

  private static var captureDeleteCommand: Command {
    Command(
      "delete", abstract: "Delete captures with their points and files.",
      discussion: "All of the captures are deleted, or none is.",
      examples: ["fieldpack capture delete field.gpkg 338d2c23…358d"],
      body: CaptureDeleteCommand.self)
  }
}

extension OptionReader {
  mutating func capturesFile() -> Required<String> {
    geoPackage("The GeoPackage with the captures.")
  }

  mutating func capture() -> Required<String> {
    argument(.text("capture"), help: "The token or the key tuple of a capture.")
  }

  mutating func captures(minimum: Int = 0) -> [String] {
    arguments(
      .text("capture"), minimum: minimum, help: "Tokens or key tuples of captures.")
  }
}

extension Invocation {
  /// Opens a GeoPackage with captures, runs `body` and closes it, whatever happens.
  func withCaptures(
    _ path: String, _ profile: OpeningProfile = .foreign,
    _ body: (CaptureCatalogue) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    try await withGeoPackage(path, profile, usesWAL: false) { (store) throws(FieldpackError) in
      try await body(CaptureCatalogue(store))
    }
  }
}

extension CaptureCatalogue {
  /// Each capture once.
  func captures(named names: [String]) async throws(FieldpackError) -> [Capture] {
    var captures: [Capture] = []
    for name in names {
      let capture = try await capture(name)
      if !captures.contains(capture) { captures.append(capture) }
    }
    return captures
  }
}

/// `fieldpack capture export`.
private struct CaptureExportCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let captures: [String]
    @Required var output: String
    let overwrites: Bool
    let selected: CaptureSelectionArguments

    init(_ reader: inout OptionReader) {
      _file = reader.capturesFile()
      captures = reader.captures()
      _output = reader.required(
        "output", short: "o", .text("folder|svg", completion: .files(["svg"])),
        help: "The folder to write to, created where it is missing, or the map to draw.")
      overwrites = reader.flag("overwrite", help: "Replace a map that exists.")
      selected = reader.group()
    }

    var isMap: Bool { output.lowercased().hasSuffix(".svg") }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try check()
    // Refused before anything is read, where the file exists.
    let map =
      options.isMap
      ? try ByteOutput(replacing: options.output, overwrite: options.overwrites) : nil
    return try await invocation.withCaptures(options.file) { (catalogue) throws(FieldpackError) in
      let captures =
        options.captures.isEmpty
        ? try await catalogue.list(options.selected.selection)
        : try await catalogue.captures(named: options.captures)
      if let map {
        try await draw(captures, of: catalogue, to: map)
      } else {
        try show(try await catalogue.export(captures, to: options.output))
      }
      return ExitStatus.success
    }
  }

  private func check() throws(FieldpackError) {
    if options.output.lowercased().hasSuffix(".html") {
      throw FieldpackError(
        .invalidArgument,
        "captures are exported to a folder or drawn as SVG, not as HTML. Try: --output map.svg")
    }
    if options.overwrites, !options.isMap {
      throw FieldpackError(
        .invalidArgument,
        "--overwrite replaces a map; a folder of captures is never replaced. Try: another folder")
    }
    if !options.captures.isEmpty, options.selected.isGiven {
      throw FieldpackError(
        .invalidArgument,
        "captures are named, or selected by options, not both. Try: the names alone")
    }
  }

  private func draw(
    _ captures: [Capture], of catalogue: CaptureCatalogue, to map: ByteOutput
  ) async throws(FieldpackError) {
    let name = options.file.split(separator: "/").last.map(String.init)
    let drawing = CaptureDrawing(
      title: name ?? "captures", captures: captures, lines: try await catalogue.lines(of: captures))
    map.buffer.append(contentsOf: drawing.svg())
    try map.finish()
    if invocation.isJSON {
      try invocation.print([
        "output": .text(options.output), "capture_count": JSONValue(captures.count),
      ])
    } else {
      try invocation.print(
        "\(DisplayText.visible(options.output)): \(captures.count.counting("capture"))\n")
    }
  }

  private func show(_ exported: [CaptureCatalogue.Exported]) throws(FieldpackError) {
    if invocation.isJSON {
      let entries = exported.map { entry -> JSONValue in
        [
          "token": .text(entry.capture.info.token), "folder": .text(entry.folder),
          "missing_files": JSONValue(entry.missing),
        ]
      }
      return try invocation.print(["exported": .array(entries)])
    }
    for entry in exported {
      try invocation.print("\(DisplayText.visible(entry.folder))\n")
      guard !entry.missing.isEmpty else { continue }
      invocation.console.note(
        "\(entry.capture.info.token) lacks \(entry.missing.joined(separator: " and "))")
    }
  }
}

/// `fieldpack capture title`.
private struct CaptureTitleCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var capture: String
    @Required var title: String
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.capturesFile()
      _capture = reader.capture()
      _title = reader.argument(.text("title"), help: "The new title.")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withCaptures(options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      var capture = try await catalogue.capture(options.capture)
      try await catalogue.setTitle(options.title, of: capture)
      capture.info.title = options.title
      if invocation.isJSON {
        try invocation.print(["capture": capture.document(missing: nil)])
      } else {
        let title = DisplayText.visible(options.title)
        try invocation.print("\(capture.info.token) is now '\(title)'\n")
      }
      return ExitStatus.success
    }
  }
}

/// `fieldpack capture delete`.
private struct CaptureDeleteCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let captures: [String]
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.capturesFile()
      captures = reader.captures(minimum: 1)
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withCaptures(options.file, options.profile) {
      (catalogue) throws(FieldpackError) in
      let captures = try await catalogue.captures(named: options.captures)
      try invocation.print(try await catalogue.delete(captures))
      return ExitStatus.success
    }
  }
}
