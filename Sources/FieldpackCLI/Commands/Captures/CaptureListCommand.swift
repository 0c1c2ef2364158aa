import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// `fieldpack capture list`.
struct CaptureListCommand {
  let invocation: Invocation
  let catalogue: CaptureCatalogue
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    // Refused before anything is read, where the file exists.
    let picture = try arguments[CaptureArguments.svg].map { (path) throws(FieldpackError) in
      try ByteOutput(replacing: path, overwrite: arguments[ExportArguments.overwrite])
    }
    let captures = try await catalogue.list(selection)
    if let picture { try await draw(captures, to: picture) }
    let missing = try await catalogue.missingFiles(of: captures)
    var points: [KeyTuple: CapturePoint] = [:]
    if let time = arguments[CaptureArguments.time] {
      for capture in captures {
        points[capture.key] = try await catalogue.point(of: capture, at: time)
      }
    }
    if arguments[CommonOptions.json] {
      let entries = captures.map { capture in
        capture.document(missing: missing[capture.key] ?? [], at: points[capture.key])
      }
      try invocation.print(["captures": .array(entries)])
    } else {
      try invocation.print(text(captures, missing, points))
    }
    return ExitStatus.success
  }

  private func draw(
    _ captures: [Capture], to picture: ByteOutput
  ) async throws(FieldpackError) {
    let name = arguments[CaptureArguments.file].split(separator: "/").last.map(String.init)
    let drawing = CaptureDrawing(
      title: name ?? "captures", captures: captures, lines: try await catalogue.lines(of: captures))
    picture.buffer.append(contentsOf: drawing.svg())
    try picture.finish()
  }

  private var selection: CaptureSelection {
    CaptureSelection(
      day: arguments[CaptureArguments.day], box: arguments[CaptureArguments.box],
      center: arguments[CaptureArguments.near], radius: arguments[CaptureArguments.radius],
      kind: arguments[CaptureArguments.kind], limit: arguments[CaptureArguments.limit])
  }

  private func text(
    _ captures: [Capture], _ missing: [KeyTuple: [String]], _ points: [KeyTuple: CapturePoint]
  ) -> String {
    let count = "\(captures.count) capture\(captures.count == 1 ? "" : "s")"
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
