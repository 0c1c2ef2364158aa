import Fieldpack
import FieldpackCore

/// What `fieldpack capture record` tells.
struct CaptureRecordReport {
  let invocation: Invocation
  let left: [LeftRecording]
  private var isJSON: Bool { invocation.isJSON }

  /// Shows points until the source ends.
  func follow(_ states: CaptureRecorderStates) async throws(FieldpackError) {
    for await state in states {
      switch state {
      case .recording(_, let new):
        guard !new.isEmpty else { continue }
        try show(new)
      case .sourceEnded: return
      case .ready, .finishing, .finished, .discarded, .failed, .left: break
      }
    }
  }

  private func show(_ points: [CapturePoint]) throws(FieldpackError) {
    if isJSON {
      try invocation.print(["points": .array(points.map(\.document))])
    } else {
      for point in points {
        let heading = point.heading.map { " \(Decimals.text($0, digits: 0))°" } ?? ""
        try invocation.print(
          "\(Decimals.text(point.time, digits: 3)) s: \(point.longitude) \(point.latitude)"
            + "\(heading)\n")
      }
    }
    try invocation.output.flush()
  }

  // MARK: The end

  /// - Parameter failure: what ended the positions early.
  func show(
    _ recorded: RecordedCapture, _ failure: FieldpackError?
  ) throws(FieldpackError) {
    guard isJSON else { return try invocation.print(Self.text(recorded)) }
    try invocation.print([
      "capture": Self.document(recorded), "left": .array(left.map(Self.document)),
      "error": failure.flatMap { $0.code == .interrupted ? nil : JSONValue(reason: $0) } ?? .null,
    ])
  }

  static func text(_ recorded: RecordedCapture) -> String {
    let points = recorded.points.counting("point")
    var text = "\(recorded.info.token): \(recorded.info.kind.rawValue), \(points)"
    if let folder = recorded.folder { text += ", in \(DisplayText.visible(folder))" }
    text += "\n"
    if let key = recorded.key { text += "\(key)\n" }
    return text
  }

  static func document(_ recorded: RecordedCapture) -> JSONValue {
    [
      "token": .text(recorded.info.token), "title": .text(recorded.info.title),
      "kind": .text(recorded.info.kind.rawValue), "point_count": JSONValue(recorded.points),
      "folder": JSONValue(recorded.folder), "key": JSONValue(recorded.key?.description),
    ]
  }

  // MARK: What was left

  /// Tells what became of recordings that were killed.
  func tellLeft() {
    for left in left {
      let points = left.points.counting("point")
      switch left.outcome {
      case .completed(let recorded):
        let name = recorded.folder ?? recorded.key?.description ?? ""
        invocation.console.note(
          "a recording that was cut short is whole now: \(name), \(points)")
        if let error = left.mediaError {
          invocation.console.note(
            "its media are kept as they are, without a thumbnail: \(error.text)")
        }
        if let file = left.awaited, let folder = recorded.folder {
          invocation.console.note(
            "it was to go into \(file). Try: fieldpack import \(folder) --into \(file)")
        }
      case .discarded:
        invocation.console.note(
          "a recording that was cut short had \(left.points == 0 ? "no point" : "no media") and was "
            + "thrown away" + (left.points == 0 ? "" : ", with \(points)"))
      case .kept(let error):
        invocation.console.note(
          "a recording that was cut short is kept in \(left.name): \(error.text)")
      }
    }
  }

  /// Ends the command that has nothing to record.
  func showLeft() throws(FieldpackError) -> Int32 {
    if isJSON {
      try invocation.print([
        "capture": .null, "left": .array(left.map(Self.document)), "error": .null,
      ])
    } else {
      for case .completed(let recorded) in left.map(\.outcome) {
        try invocation.print(Self.text(recorded))
      }
    }
    let areAllWell = left.allSatisfy { if case .kept = $0.outcome { false } else { true } }
    return areAllWell ? ExitStatus.success : ExitStatus.failure
  }

  private static func document(_ left: LeftRecording) -> JSONValue {
    var outcome = "discarded"
    var capture = JSONValue.null
    var error: FieldpackError?
    switch left.outcome {
    case .completed(let recorded):
      (outcome, capture) = ("completed", document(recorded))
      error = left.mediaError
    case .discarded: break
    case .kept(let reason): (outcome, error) = ("kept", reason)
    }
    return [
      "name": .text(left.name), "point_count": JSONValue(left.points), "outcome": .text(outcome),
      "capture": capture, "target": JSONValue(left.awaited),
      "error": error.map { JSONValue(reason: $0) } ?? .null,
    ]
  }
}

extension CapturePoint {
  var document: JSONValue {
    [
      "time_s": .real(time), "longitude": .real(longitude), "latitude": .real(latitude),
      "heading_deg": JSONValue(heading), "accuracy_m": JSONValue(metres: accuracy),
    ]
  }
}
