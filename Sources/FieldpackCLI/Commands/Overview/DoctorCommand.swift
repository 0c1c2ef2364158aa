import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static let upkeepFamily = "Check what is installed; completions for a shell."

  static var doctorCommand: Command {
    Command(
      "doctor", abstract: "Check libraries, cache and sources.",
      discussion: """
        The status is 1 when something does not work: a library is too old, a file cannot be \
        written, or a store does not open.
        """,
      examples: ["fieldpack doctor", "fieldpack doctor stores.scfg"],
      family: upkeepFamily, body: DoctorCommand.self)
  }
}

/// `fieldpack doctor`.
private struct DoctorCommand: CommandBody {
  struct Options: OptionGroup {
    let sources: [String]
    let allowsPaths: [String]

    init(_ reader: inout OptionReader) {
      sources = reader.arguments(
        .whole("source", completion: .source(SourceArguments.extensions)),
        help: "A source to open: a config, a GeoPackage or another file.")
      allowsPaths = reader.allowedPaths()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    var opening = SourceOptions()
    opening.allowing = options.allowsPaths
    opening.logger = invocation.logger
    let doctor = Doctor(opening)
    var findings = await doctor.libraries() + doctor.system()
    for source in options.sources {
      try checkCancellation()
      findings += await doctor.look(at: source)
    }
    if invocation.isJSON {
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
