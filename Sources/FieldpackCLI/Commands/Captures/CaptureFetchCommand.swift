import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var captureFetchCommand: Command {
    Command(
      "fetch", abstract: "Get a capture from 'fieldpack serve'.",
      discussion: """
        If --into is a folder, the capture becomes a folder of its files there. If --into is a \
        GeoPackage, the capture is stored in it as by an import. Files whose digest is not the \
        one that the server states are refused. After an interruption the same command goes on \
        where the last run ended.
        """,
      examples: [
        "fieldpack capture fetch http://127.0.0.1:8085 338d2c23…358d --into field.gpkg",
        "fieldpack capture fetch https://example.org/data 338d2c23…358d --into StraboCaptures",
        "fieldpack capture fetch https://example.org 338d2c23…358d --token-from tablet.token",
      ],
      body: CaptureFetchCommand.self)
  }
}

/// `fieldpack capture fetch`.
private struct CaptureFetchCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var url: String
    @Required var token: String
    let target: String
    let access: AccessTokenArguments

    init(_ reader: inout OptionReader) {
      _url = reader.argument(.text("url"), help: "The address of the server: http or https.")
      _token = reader.argument(.text("token"), help: "The token of the capture.")
      target =
        reader.value(
          "into", .text("folder|gpkg", completion: .files(["gpkg"])),
          help: "The folder to write to, or the GeoPackage to store in. (default: this folder)")
        ?? "."
      access = reader.group()
    }

    /// Whether the target is a GeoPackage.
    var isFile: Bool { target.lowercased().hasSuffix(".gpkg") }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    var settings = CaptureFetch.Settings()
    settings.fields = try options.access.fields(for: options.url)
    let fetch = try CaptureFetch(from: options.url, settings: settings)
    let display = ProgressDisplay("fetching", total: nil, unit: .bytes, console: invocation.console)
    defer { display.finish() }
    let report: @Sendable (String, Int) -> Void = { _, received in display.update(received) }
    let token = options.token
    guard options.isFile else {
      let folder = try await fetch.run(token, to: options.target, report: report)
      display.finish()
      return try show(token, in: folder, isNew: true, "\(DisplayText.visible(folder))\n")
    }
    let result = try await fetch.run(
      token, into: options.target, id: FileImport.storeID(of: options.target),
      by: CaptureImport(logger: invocation.logger), report: report)
    display.finish()
    if let refusal = result.refused.first { throw refusal.error }
    let shown = DisplayText.visible(options.target)
    let isNew = !result.imported.isEmpty
    return try show(
      token, in: options.target, isNew: isNew,
      isNew ? "1 capture stored in \(shown)\n" : "\(shown) has the capture already\n")
  }

  private func show(
    _ token: String, in target: String, isNew: Bool, _ text: String
  ) throws(FieldpackError) -> Int32 {
    if invocation.isJSON {
      try invocation.print([
        "token": .text(token), "target": .text(target), "is_new": .boolean(isNew),
      ])
    } else {
      try invocation.print(text)
    }
    return ExitStatus.success
  }
}
