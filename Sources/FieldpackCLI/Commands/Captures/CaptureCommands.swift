import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var captureCommand: Command {
    Command(
      "capture", abstract: "Show, export and upload pictures and videos with their positions.",
      discussion: "Folders of captures are imported by: fieldpack import FOLDER --into FILE.gpkg",
      subcommands: [
        captureListCommand, captureAddCommand, captureRecordCommand, captureExportCommand,
        captureUploadCommand, captureTitleCommand, captureDeleteCommand,
      ], family: positionsFamily)
  }

  private static var captureExportCommand: Command {
    Command(
      "export", abstract: "Write captures as folders of four files, as their devices keep them.",
      discussion: """
        Each capture gets a folder of its token's name; one that exists is refused. All captures \
        are written where none is named.
        """,
      examples: ["fieldpack capture export field.gpkg --output StraboCaptures"],
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
      examples: ["fieldpack capture delete field.gpkg 338d2c23…358d"],
      body: CaptureDeleteCommand.self)
  }
}

extension OptionReader {
  mutating func capturesFile() -> Required<String> {
    geoPackage("The GeoPackage with the captures.")
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

    init(_ reader: inout OptionReader) {
      _file = reader.capturesFile()
      captures = reader.captures()
      _output = reader.required(
        "output", short: "o", .text("folder", completion: .folder),
        help: "The folder to write to, created where it is missing.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withCaptures(options.file) { (catalogue) throws(FieldpackError) in
      let captures =
        options.captures.isEmpty
        ? try await catalogue.list() : try await catalogue.captures(named: options.captures)
      try show(try await catalogue.export(captures, to: options.output))
      return ExitStatus.success
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
      _capture = reader.argument(
        .text("capture"), help: "The token or the key tuple of a capture.")
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
      try await catalogue.delete(captures)
      if invocation.isJSON {
        try invocation.print(["deleted": .array(captures.map { .text($0.info.token) })])
      } else {
        try invocation.print("\(captures.count.counting("capture")) deleted\n")
      }
      return ExitStatus.success
    }
  }
}
