import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static var captureUploadCommand: Command {
    Command(
      "upload", abstract: "Send captures to a server, the four files of each in one form.",
      discussion: """
        Without a capture all that were never uploaded are sent, the newest first. A failure \
        that may pass is tried again, up to three times, no sooner than the server asks by \
        Retry-After; a later run goes on with what is left. A capture counts as uploaded when the \
        server has confirmed it. The status is 1 where one was not uploaded.
        """,
      examples: [
        "fieldpack capture upload field.gpkg --to https://example.org/upload",
        "fieldpack capture upload field.gpkg --to http://localhost:8080/upload --field email=a@b.c",
      ],
      body: CaptureUploadCommand.self)
  }
}

/// `fieldpack capture upload`.
private struct CaptureUploadCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let captures: [String]
    @Required var url: String
    let fields: [UploadField]
    let usesOldBoundary: Bool
    let access: AccessTokenArguments

    init(_ reader: inout OptionReader) {
      _file = reader.capturesFile()
      captures = reader.captures()
      _url = reader.required("to", .text("url"), help: "Where to send them: http or https.")
      fields = reader.values(
        "field", .formField, help: "Send this field before the files; it is not stored.")
      usesOldBoundary = reader.flag(
        "old-boundary",
        help: "Use the boundary of older programs, for servers that accept no other.")
      access = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withCaptures(options.file) { (catalogue) throws(FieldpackError) in
      try await upload(from: catalogue)
    }
  }

  private func upload(from catalogue: CaptureCatalogue) async throws(FieldpackError) -> Int32 {
    var settings = CaptureUpload.Settings()
    settings.fields = options.fields.map { ($0.name, $0.value) }
    settings.usesOldBoundary = options.usesOldBoundary
    settings.header = try options.access.fields(for: options.url)
    let upload = try CaptureUpload(catalogue, to: options.url, settings: settings)
    let names = options.captures
    let captures =
      names.isEmpty
      ? try await catalogue.list(CaptureSelection(isUploaded: false))
      : try await catalogue.captures(named: names)
    let display = ProgressDisplay(
      "uploading", total: captures.count, unit: .features, console: invocation.console)
    defer { display.finish() }
    let done = Locked(0)
    let outcomes = try await upload.run(captures) { _, event in
      switch event {
      case .succeeded, .failed:
        display.update(
          done.withLock { done in
            done += 1
            return done
          })
      case .started, .progress, .waiting: break
      }
    }
    display.finish()
    try show(outcomes)
    return outcomes.contains { $0.error != nil } ? ExitStatus.failure : ExitStatus.success
  }

  private func show(_ outcomes: [CaptureUpload.Outcome]) throws(FieldpackError) {
    if invocation.isJSON {
      let entries = outcomes.map { outcome -> JSONValue in
        [
          "token": .text(outcome.capture.info.token),
          "is_uploaded": .boolean(outcome.error == nil),
          "http_status": JSONValue(outcome.status),
          "attempt_count": JSONValue(outcome.attempts),
          "error": outcome.error.map { JSONValue(reason: $0) } ?? .null,
        ]
      }
      return try invocation.print(["captures": .array(entries)])
    }
    let sent = outcomes.count { $0.error == nil }
    try invocation.print("\(sent) of \(outcomes.count) captures uploaded\n")
    for outcome in outcomes {
      guard let error = outcome.error else { continue }
      let token = outcome.capture.info.token
      try invocation.print("  \(DisplayText.visible("\(token): \(error.text)"))\n")
    }
  }
}

/// A field of a form, as `--field` takes it.
struct UploadField: Sendable {
  var name: String
  var value: String
}

extension ValueForm where Value == UploadField {
  /// `name=value`.
  static var formField: ValueForm {
    ValueForm("name=value") { (text) throws(ValueError) -> UploadField in
      let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[0].isEmpty else {
        throw ValueError("is no name and value such as email=a@b.c")
      }
      return UploadField(name: String(sides[0]), value: String(sides[1]))
    }
  }
}
