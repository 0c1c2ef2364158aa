import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var captureFetchCommand: Command {
    Command(
      "fetch", abstract: "Get a capture from a server of Fieldpack.",
      discussion: """
        The capture becomes a folder of its files below the folder --into, or is stored in the \
        GeoPackage --into as an import does. The files must have the digests that the server \
        states. A run that was broken off is gone on with where it ended.
        """,
      examples: [
        "fieldpack capture fetch http://127.0.0.1:8085 338d2c23…358d --into field.gpkg",
        "fieldpack capture fetch https://example.org/data 338d2c23…358d --into StraboCaptures",
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

    init(_ reader: inout OptionReader) {
      _url = reader.argument(.text("url"), help: "The address of the server: http or https.")
      _token = reader.argument(.text("token"), help: "The token of the capture.")
      target =
        reader.value(
          "into", .text("folder|gpkg", completion: .files(["gpkg"])),
          help: "The folder to write to, or the GeoPackage to store in. (default: this folder)")
        ?? "."
    }

    var isFile: Bool { target.lowercased().hasSuffix(".gpkg") }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let fetch = try CaptureFetch(from: options.url)
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
