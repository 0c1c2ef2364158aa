import Fieldpack
import FieldpackCore

/// Prints detections: rows of a table, or members of the one document of `--json`; those of fixes that
/// come as they are made at once, and as lines of text.
struct DetectionOutput {
  private let invocation: Invocation
  private let isJSON: Bool
  /// Whether each detection is shown as it comes.
  private let isFollowed: Bool
  /// Whether what is printed is not kept back.
  private let isLive: Bool
  private var table: TextTable
  private var count = 0

  init(_ invocation: Invocation, isLive: Bool, follows: Bool) {
    self.invocation = invocation
    self.isLive = isLive
    isJSON = invocation.isJSON
    isFollowed = follows || isLive && !isJSON
    let terminal = invocation.console.terminal
    table = TextTable(
      [
        TableColumn("fix", isNumeric: true), TableColumn("kind"), TableColumn("device"),
        TableColumn("region"), TableColumn("time"), TableColumn("distance_m", isNumeric: true),
      ], width: terminal.cutWidth, usesUnicode: terminal.usesUnicode)
  }

  func begin() throws(FieldpackError) {
    if isJSON, !isFollowed { try invocation.print("{\"detections\":[") }
  }

  mutating func add(_ detections: [Detection]) throws(FieldpackError) {
    guard !isFollowed else { return try follow(detections) }
    for detection in detections {
      if isJSON {
        if count > 0 { invocation.output.buffer.append(UInt8(ascii: ",")) }
        detection.document.append(to: &invocation.output.buffer)
      } else {
        table.add(detection.cells, to: &invocation.output.buffer)
      }
      count += 1
      try invocation.output.flushIfFull()
    }
    if isLive { try invocation.output.flush() }
  }

  private func follow(_ detections: [Detection]) throws(FieldpackError) {
    for detection in detections {
      if isJSON {
        try invocation.print(detection.document)
      } else {
        try invocation.print(detection.line)
      }
    }
    try invocation.output.flush()
  }

  /// - Parameter isWhole: whether no error ended it.
  mutating func finish(isWhole: Bool = true) throws(FieldpackError) {
    if isFollowed { return }
    if isJSON {
      try invocation.print("]}\n")
    } else if count > 0 {
      table.finish(to: &invocation.output.buffer)
    } else if isWhole {
      invocation.console.note("there are no detections")
    }
    try invocation.output.flushIfFull()
  }
}

extension Detection {
  var document: JSONValue {
    [
      "fix": JSONValue(fix), "kind": .text(kind.rawValue),
      "device": device.isEmpty ? .null : .text(device), "region": JSONValue(region),
      "time": JSONValue(time?.description), "distance_m": JSONValue(metres: distance),
    ]
  }

  /// Time, fix, kind, region, device and metres, as far as known.
  fileprivate var line: String {
    let words = [
      time?.description, "fix \(fix)", kind.rawValue, region.map { "region \($0)" },
      device.isEmpty ? nil : DisplayText.visible(device), distance.map { Metres.text($0) },
    ]
    return words.compactMap { $0 }.joined(separator: " ") + "\n"
  }

  fileprivate var cells: [String] {
    [
      "\(fix)", kind.rawValue, device, region.map { "\($0)" } ?? "", time?.description ?? "",
      distance.map { Decimals.text($0, digits: 1) } ?? "",
    ]
  }
}
