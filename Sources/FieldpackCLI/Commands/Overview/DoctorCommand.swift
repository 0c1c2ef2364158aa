import Fieldpack
import FieldpackCore
import FoundationEssentials

extension FieldpackTool {
  static let upkeepFamily = "Check what is installed; completions for a shell."

  static var doctorCommand: Command {
    Command(
      "doctor", abstract: "Check libraries, cache and sources.",
      discussion: """
        Ends with status 1 when something does not work: a library that is too old, a file that \
        cannot be written, a store that does not open.
        """,
      examples: ["fieldpack doctor", "fieldpack doctor stores.scfg"],
      arguments: [DoctorCommand.sources],
      options: [OptionGroup(nil, [DoctorCommand.allowPath]), CommonOptions.group],
      family: upkeepFamily
    ) { invocation throws(FieldpackError) in
      try await DoctorCommand(invocation: invocation).run()
    }
  }
}

/// `fieldpack doctor`.
struct DoctorCommand {
  static let sources = Argument<[String]>.list(
    .file(
      "source", "scfg", "gpkg", "geojson", "json", "geojsonl", "gpx", "csv", "nmea", "igc",
      "tcx"),
    help: "A source to open: a config, a GeoPackage or another file.")
  static let allowPath = Option<[String]>.values(
    "allow-path", .text("folder", completion: .folder),
    help: "A folder that the uris of a config may lead to; may be repeated.")

  let invocation: Invocation

  func run() async throws(FieldpackError) -> Int32 {
    var options = SourceOptions()
    options.allowing = invocation.arguments[Self.allowPath].map { URL(fileURLWithPath: $0) }
    options.logger = invocation.logger
    let doctor = Doctor(options)
    var findings = await doctor.libraries() + doctor.system()
    for source in invocation.arguments[Self.sources] {
      try checkCancellation()
      findings += await doctor.look(at: source)
    }
    if invocation.arguments[CommonOptions.json] {
      try invocation.print(document(findings))
    } else {
      try invocation.print(text(findings))
    }
    return findings.contains { $0.state == .problem } ? ExitStatus.failure : ExitStatus.success
  }

  private func document(_ findings: [DoctorFinding]) -> JSONValue {
    [
      "version": .text(FieldpackTool.version),
      "is_well": .boolean(!findings.contains { $0.state == .problem }),
      "findings": .array(
        findings.map { finding in
          [
            "section": .text(finding.section), "name": .text(finding.name),
            "state": .text(finding.state.rawValue), "message": .text(finding.text),
          ]
        }),
    ]
  }

  private func text(_ findings: [DoctorFinding]) -> String {
    let terminal = invocation.console.terminal
    let columns = [TableColumn("state"), TableColumn("what"), TableColumn("detail")]
    var text = "fieldpack \(FieldpackTool.version)\n"
    var sections: [String] = []
    for finding in findings where !sections.contains(finding.section) {
      sections.append(finding.section)
      let rows = findings.filter { $0.section == finding.section }
      text += "\n\(DisplayText.visible(finding.section))\n"
      text += TextTable.text(
        columns, rows.map { [$0.state.rawValue, $0.name, $0.text] }, width: terminal.cutWidth,
        usesUnicode: terminal.usesUnicode)
    }
    return text
  }
}
