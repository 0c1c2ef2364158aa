import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static var captureShowCommand: Command {
    Command(
      "show", abstract: "Show a capture with its points.",
      examples: ["fieldpack capture show field.gpkg 338d2c23…358d"], body: CaptureShowCommand.self)
  }
}

/// `fieldpack capture show`.
private struct CaptureShowCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var capture: String

    init(_ reader: inout OptionReader) {
      _file = reader.capturesFile()
      _capture = reader.capture()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withCaptures(options.file) { (catalogue) throws(FieldpackError) in
      let capture = try await catalogue.capture(options.capture)
      let missing = try await catalogue.missingFiles(of: [capture])[capture.key] ?? []
      let points = try await catalogue.geodata(of: capture).points
      if invocation.isJSON {
        try invocation.print([
          "capture": capture.document(missing: missing), "points": .array(points.map(\.document)),
        ])
      } else {
        try invocation.print(text(capture, missing, points))
      }
      return ExitStatus.success
    }
  }

  private func text(_ capture: Capture, _ missing: [String], _ points: [CapturePoint]) -> String {
    let info = capture.info
    let facts: [(String, String?)] = [
      ("capture", info.token), ("title", info.title), ("kind", info.kind.rawValue),
      ("created", capture.created.description),
      ("longitude", Decimals.short(info.longitude)), ("latitude", Decimals.short(info.latitude)),
      ("heading", info.heading.flatMap { $0 < 0 ? nil : "\(Decimals.text($0, digits: 0))°" }),
      ("lacks", missing.isEmpty ? nil : missing.joined(separator: ", ")),
      ("key", capture.key.description),
    ]
    let lines = facts.compactMap { name, value in
      value.map { DisplayText.visible(DisplayText.pad(name, to: 12) + $0) + "\n" }
    }
    guard !points.isEmpty else { return lines.joined() }
    let columns = [
      TableColumn("seconds", isNumeric: true), TableColumn("longitude", isNumeric: true),
      TableColumn("latitude", isNumeric: true), TableColumn("heading", isNumeric: true),
    ]
    let terminal = invocation.console.terminal
    let rows = points.map { point in
      [
        Decimals.text(point.time, digits: 3), Decimals.short(point.longitude),
        Decimals.short(point.latitude),
        point.heading.map { "\(Decimals.text($0, digits: 0))°" } ?? "",
      ]
    }
    return lines.joined() + "\n"
      + TextTable.text(
        columns, rows, width: terminal.cutWidth, usesUnicode: terminal.usesUnicode)
  }
}
