import Fieldpack
import FieldpackCore

/// `fieldpack import` of folders of captures.
struct CaptureImportCommand {
  let invocation: Invocation
  let options: ImportCommand.Options

  /// Whether all that is to be imported are captures.
  ///
  /// - Throws: `.invalidArgument` where captures and other files stand together.
  static func takes(_ paths: [String]) throws(FieldpackError) -> Bool {
    let folders = paths.filter(CaptureFolder.isCaptures)
    guard !folders.isEmpty else { return false }
    guard folders.count == paths.count else {
      throw FieldpackError(
        .invalidArgument,
        "\(folders[0]) holds captures, which are imported alone. Try: two commands")
    }
    return true
  }

  func run() async throws(FieldpackError) -> Int32 {
    try check()
    let target = options.into.path
    let display = ProgressDisplay(
      "importing", total: nil, unit: .features, console: invocation.console)
    defer { display.finish() }
    var count = 0
    let report = try await CaptureImport(
      creating: options.version ?? .v14, profile: options.profile,
      logger: invocation.logger
    ).run(options.files, into: target, id: FileImport.storeID(of: target)) { _ in
      count += 1
      display.update(count)
    }
    display.finish()
    for entry in report.imported {
      for note in entry.notes { invocation.console.note("\(entry.name) \(note)") }
    }
    if invocation.isJSON {
      try invocation.print(document(report, target))
    } else {
      try invocation.print(text(report, target))
    }
    guard !report.refused.isEmpty else { return ExitStatus.success }
    return options.skipsErrors
      ? ExitStatus.skippedFeatures : ExitStatus.failure
  }

  /// Captures have layers of their own.
  private func check() throws(FieldpackError) {
    let others: [(String, Bool)] = [
      ("--layer", options.layer != nil),
      ("--only", !options.only.isEmpty),
      ("--srs", options.srs != nil),
      ("--source-srs", options.sourceSRS != nil),
      ("--mode", options.mode != nil),
      ("--id", options.idColumn != nil),
      ("--format", options.format != nil),
      ("--cluster", options.clusters),
      ("--dry-run", options.isDryRun),
    ]
    guard let other = others.first(where: \.1) else { return }
    throw FieldpackError(.invalidArgument, "\(other.0) does not go with a folder of captures")
  }

  // MARK: Output

  private func text(_ report: CaptureImport.Report, _ target: String) -> String {
    let shown = DisplayText.visible(target)
    var text = "\(report.imported.count.counting("capture")) imported into \(shown)\n"
    if !report.known.isEmpty { text += "\(report.known.count.counting("capture")) there before\n" }
    if report.filesAdded > 0 {
      text += "\(report.filesAdded) of the files that they lacked added\n"
    }
    let incomplete = report.imported.filter { !$0.missing.isEmpty }
    if !incomplete.isEmpty { text += "\n\(incomplete.count.counting("capture")) incomplete:\n" }
    for entry in incomplete {
      let names = entry.missing.joined(separator: ", ")
      text += "  \(DisplayText.visible("\(entry.name) lacks \(names)"))\n"
    }
    if !report.refused.isEmpty {
      text += "\n\(report.refused.count.counting("capture")) refused:\n"
    }
    for refusal in report.refused {
      text += "  \(DisplayText.visible("\(refusal.name): \(refusal.error.text)"))\n"
    }
    return text
  }

  private func document(_ report: CaptureImport.Report, _ target: String) -> JSONValue {
    func entry(_ entry: CaptureImport.Report.Entry) -> JSONValue {
      [
        "name": .text(entry.name), "token": .text(entry.token),
        "key": .text(entry.key.description), "missing_files": JSONValue(entry.missing),
      ]
    }
    return [
      "target": .text(target), "imported": .array(report.imported.map(entry)),
      "known": .array(report.known.map(entry)), "added_file_count": JSONValue(report.filesAdded),
      "refused": .array(
        report.refused.map { ["name": .text($0.name), "error": JSONValue(reason: $0.error)] }),
    ]
  }
}
