import Fieldpack
import FieldpackCheck
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var checkCommand: Command {
    Command(
      "check", abstract: "Hold a GeoPackage against the standard, and mend it.",
      discussion: """
        Reads the whole file and reports what is against the GeoPackage standard, 1.0 to 1.4 and \
        its extensions, each finding with its requirement, table, row and reason: also every \
        geometry that cannot be read, every entry that an R-tree lacks or should not have, and \
        extents and counts that are wrong. With --repair what can be mended is mended, in one \
        transaction: no row of a layer is lost. With --upgrade the file is made one of a later \
        version. Ends with status 0 where nothing of level error is found, or left; 65 where \
        something is; 1 where the file could not be checked.
        """,
      examples: [
        "fieldpack check field.gpkg",
        "fieldpack check field.gpkg --json",
        "fieldpack check field.gpkg --repair",
        "fieldpack check field.gpkg --upgrade 1.4",
      ],
      arguments: [CheckCommand.target],
      options: [
        OptionGroup(nil, [CheckCommand.repair, CheckCommand.upgrade]), CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await CheckCommand(invocation: invocation).run()
    }
  }
}

/// `fieldpack check`.
struct CheckCommand {
  static let target = Argument<String>.required(
    .text("gpkg", completion: .source(["gpkg"])), help: "The GeoPackage.")
  static let repair = Option<Bool>.flag("repair", help: "Mend what can be mended.")
  static let upgrade = Option<GeoPackageVersion?>.value(
    "upgrade", .choice("version"), help: "Make the file one of this version of GeoPackage.")

  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    let path = arguments[Self.target]
    let display = ProgressDisplay(
      "checking", total: nil, unit: .features, console: invocation.console)
    defer { display.finish() }
    let isJSON = arguments[CommonOptions.json]
    let findings = Locked(FindingSpool())
    var options = CheckOptions()
    options.repairs = arguments[Self.repair]
    options.upgrade = arguments[Self.upgrade]
    options.logger = invocation.logger
    options.progress = { (done) throws(FieldpackError) in display.update(done) }
    if isJSON {
      options.receive = { (finding) throws(FieldpackError) in
        try findings.withLock { (spool) throws(FieldpackError) in try spool.append(finding) }
      }
    }
    let report: CheckReport
    do throws(FieldpackError) {
      report = try await FileCheck(options).run(path)
    } catch {
      guard error.code != .invalidArgument, error.code != .interrupted else { throw error }
      display.finish()
      invocation.console.report(error)
      return ExitStatus.failure
    }
    display.finish()
    if isJSON {
      let document = CheckDocument(report, path: path)
      try findings.withLock { (spool) throws(FieldpackError) in
        try document.print(spool, to: invocation.output)
      }
    } else {
      let terminal = invocation.console.terminal
      try invocation.print(CheckText(report, path: path, width: terminal.width).text)
    }
    try invocation.output.flush()
    for note in report.notes { invocation.console.note(note) }
    return report.isConformant ? ExitStatus.success : FieldpackError.Code.invalidData.exitStatus
  }
}
