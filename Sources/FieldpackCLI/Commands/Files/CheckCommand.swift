import Fieldpack
import FieldpackCheck
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static let careFamily = "Check and repair a GeoPackage; make it fast."

  static var checkCommand: Command {
    Command(
      "check", abstract: "Check a GeoPackage against the standard; repair it.",
      discussion: """
        Reads the whole file and reports every breach of the GeoPackage standard, 1.0 to 1.4, \
        and its extensions: the requirement, the table, the row and the reason. Geometries that \
        cannot be read, R-trees that lack entries or have too many, and wrong extents and counts \
        are reported, too.

        --geometry finds geometries that are not valid: the row, the reason and the place. With \
        --repair they are made valid; where a polygon or line falls into several, the column's \
        type becomes that of collections.

        --repair mends in one transaction what can be mended; no row of a layer is lost. \
        --upgrade makes the file one of a later version. The status is 0 where no error is found \
        or left, 65 where one is, and 1 where the file could not be checked.
        """,
      examples: [
        "fieldpack check field.gpkg",
        "fieldpack check field.gpkg --json",
        "fieldpack check field.gpkg --repair",
        "fieldpack check field.gpkg --geometry --repair",
        "fieldpack check field.gpkg --upgrade 1.4",
      ],
      family: careFamily, body: CheckCommand.self)
  }
}

/// `fieldpack check`.
private struct CheckCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let checksValidity: Bool
    let repairs: Bool
    let upgrade: GeoPackageVersion?

    init(_ reader: inout OptionReader) {
      _file = reader.geoPackage("The GeoPackage.")
      checksValidity = reader.flag(
        "geometry", help: "Check that geometries are valid, too, and repair them with --repair.")
      repairs = reader.flag("repair", help: "Repair what can be repaired.")
      upgrade = reader.value(
        "upgrade", .choice("version"), help: "Upgrade the file to this version of GeoPackage.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let path = options.file
    let display = ProgressDisplay(
      "checking", total: nil, unit: .features, console: invocation.console)
    defer { display.finish() }
    let isJSON = invocation.isJSON
    let findings = Locked(FindingSpool())
    var checking = CheckOptions()
    checking.checksValidity = options.checksValidity
    checking.repairs = options.repairs
    checking.upgrade = options.upgrade
    checking.logger = invocation.logger
    checking.progress = { (done) throws(FieldpackError) in display.update(done) }
    if isJSON {
      checking.receive = { (finding) throws(FieldpackError) in
        try findings.withLock { (spool) throws(FieldpackError) in try spool.append(finding) }
      }
    }
    let report: CheckReport
    do throws(FieldpackError) {
      report = try await FileCheck(checking).run(path)
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
