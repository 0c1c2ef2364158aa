import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var captureListCommand: Command {
    Command(
      "list", abstract: "List the captures of a GeoPackage, the newest first.",
      discussion: """
        A capture lacks a file that was not in its folder when it was imported. With --at a \
        video is shown at the place where it was after so many seconds, and not where it began.
        """,
      examples: [
        "fieldpack capture list field.gpkg", "fieldpack capture list field.gpkg --day 2012-08-07",
        "fieldpack capture list field.gpkg --near -72.5,43.6 --max-distance 500 --json",
      ],
      body: CaptureListCommand.self)
  }
}

/// Which captures are meant.
struct CaptureSelectionArguments: OptionGroup {
  let selection: CaptureSelection

  /// Whether an option narrows the captures down.
  var isGiven: Bool { selection != CaptureSelection(radius: selection.radius) }

  init(_ reader: inout OptionReader) {
    selection = CaptureSelection(
      day: reader.value(
        "day", .day, help: "Only those of this day, by the local clock (TZ)."),
      box: reader.value(
        "bbox", .box, help: "Only those in this box, in degrees of WGS 84."),
      center: reader.value("near", .position, help: "Only those near this point."),
      radius: reader.value(
        "max-distance", .number("m", atLeast: 0), default: 1000, shownAs: "1000",
        help: "How far from --near, in metres."),
      kind: reader.value("kind", .choice("kind"), help: "Only images, or only videos."),
      limit: reader.value(
        "limit", .integer("n", in: 0...Int.max), help: "At most so many captures."))
  }
}

extension ValueForm where Value == CalendarDate {
  /// `YYYY-MM-DD`.
  static var day: ValueForm {
    ValueForm("date") { (text) throws(ValueError) -> CalendarDate in
      guard let day = CalendarDate(text) else {
        throw ValueError("is no date such as 2012-08-07")
      }
      return day
    }
  }
}

/// `fieldpack capture list`.
private struct CaptureListCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let captures: CaptureSelectionArguments
    let time: Double?

    init(_ reader: inout OptionReader) {
      _file = reader.capturesFile()
      captures = reader.group()
      time = reader.value(
        "at", .number("s"), help: "Show each video at the place where it was after so many seconds."
      )
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withCaptures(options.file) { (catalogue) throws(FieldpackError) in
      try await list(catalogue)
    }
  }

  private func list(_ catalogue: CaptureCatalogue) async throws(FieldpackError) -> Int32 {
    let captures = try await catalogue.list(options.captures.selection)
    let missing = try await catalogue.missingFiles(of: captures)
    var points: [KeyTuple: CapturePoint] = [:]
    if let time = options.time {
      for capture in captures {
        points[capture.key] = try await catalogue.point(of: capture, at: time)
      }
    }
    if invocation.isJSON {
      let entries = captures.map { capture in
        capture.document(missing: missing[capture.key] ?? [], at: points[capture.key])
      }
      try invocation.print(["captures": .array(entries)])
    } else {
      try invocation.print(text(captures, missing, points))
    }
    return ExitStatus.success
  }

  private func text(
    _ captures: [Capture], _ missing: [KeyTuple: [String]], _ points: [KeyTuple: CapturePoint]
  ) -> String {
    let count = captures.count.counting("capture")
    guard !captures.isEmpty else { return "\(count)\n" }
    let columns = [
      TableColumn("created"), TableColumn("title"), TableColumn("kind"),
      TableColumn("longitude", isNumeric: true), TableColumn("latitude", isNumeric: true),
      TableColumn("heading", isNumeric: true), TableColumn("lacks"), TableColumn("token"),
    ]
    let terminal = invocation.console.terminal
    let rows = captures.map { capture in
      row(capture, missing[capture.key] ?? [], points[capture.key])
    }
    return TextTable.text(
      columns, rows, width: terminal.cutWidth, usesUnicode: terminal.usesUnicode)
      + "\n\(count)\n"
  }

  private func row(_ capture: Capture, _ missing: [String], _ point: CapturePoint?) -> [String] {
    let info = capture.info
    let heading = point?.heading ?? info.heading
    return [
      capture.created.description, info.title, info.kind.rawValue,
      Decimals.short(point?.longitude ?? info.longitude),
      Decimals.short(point?.latitude ?? info.latitude),
      heading.map { $0 < 0 ? "" : "\(Decimals.text($0, digits: 0))°" } ?? "",
      missing.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
        .joined(separator: ", "),
      info.token,
    ]
  }
}

extension Capture {
  var created: Instant { Instant(milliseconds: Int64((info.createdAt * 1000).rounded(.down))) }

  /// - Parameters:
  ///   - missing: the files that it lacks; `nil` where that was not looked for.
  ///   - point: where it was at the time that was asked for.
  func document(missing: [String]?, at point: CapturePoint? = nil) -> JSONValue {
    [
      "key": .text(key.description), "token": .text(info.token), "title": .text(info.title),
      "kind": .text(info.kind.rawValue), "created_at": .text(created.description),
      "uploaded_at": JSONValue(
        info.uploadedAt.map {
          Instant(milliseconds: Int64(($0 * 1000).rounded(.down))).description
        }), "longitude": .real(info.longitude), "latitude": .real(info.latitude),
      "heading_deg": JSONValue(info.heading), "orientation": JSONValue(info.orientation?.rawValue),
      "missing_files": missing.map { JSONValue($0) } ?? .null,
      "point": point?.document ?? .null,
    ]
  }
}
