public import FieldpackCore

extension MotionRequest {
  /// The body as JSON in one line, in the order of members that the protocol documents.
  ///
  /// Names are escaped; numbers are the shortest that read back bit by bit.
  /// - Throws: `.invalidArgument` for a number that is not finite, and a reading that lacks a
  ///   section of the body.
  public func body() throws(FieldpackError) -> [UInt8] {
    switch self {
    case .start(let start): try start.body()
    case .data(let data): try data.body()
    }
  }
}

extension MotionRequest.Start {
  fileprivate func body() throws(FieldpackError) -> [UInt8] {
    var text = MotionText()
    text.add(#"{"type":"start","timestamp":""#)
    try text.add(timestamp, "the timestamp")
    text.add(#"","device":{"#)
    let members = [
      ("systemVersion", device.systemVersion), ("systemName", device.systemName),
      ("name", device.name), ("identifierForVendor", device.identifierForVendor ?? ""),
      ("model", device.model), ("localizedModel", device.localizedModel),
    ]
    for (index, member) in members.enumerated() {
      text.add((index == 0 ? "\"" : ",\"") + member.0 + "\":")
      text.add(quoting: member.1)
    }
    text.add("}}")
    return text.bytes
  }
}

extension MotionRequest.Data {
  fileprivate func body() throws(FieldpackError) -> [UInt8] {
    var text = MotionText()
    text.add(#"{"type":"data","uuid":"#)
    text.add(quoting: session)
    text.add(#","timestamp":""#)
    try text.add(timestamp, "the timestamp")
    text.add("\"")
    for section in sections.sections {
      text.add(",\"\(section.rawValue)\":{")
      for (index, channel) in section.channels.enumerated() {
        text.add((index == 0 ? "\"" : ",\"") + channel.member + "\":[")
        try append(channel, to: &text)
        text.add("]")
      }
      text.add("}")
    }
    text.add("}")
    return text.bytes
  }

  private func append(
    _ channel: MotionChannel, to text: inout MotionText
  ) throws(FieldpackError) {
    for (index, reading) in readings.enumerated() {
      guard let value = reading[channel] else {
        throw FieldpackError(
          .invalidArgument,
          "reading \(index + 1) has no \(channel.section.rawValue), which the batch holds")
      }
      if index > 0 { text.add(",") }
      try text.add(value, "\(channel.rawValue) of reading \(index + 1)")
    }
  }
}

private struct MotionText {
  var bytes: [UInt8] = []

  mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func add(quoting text: String) { JSONText.append(text, to: &bytes) }

  /// With its fraction, so that a negative zero stays one.
  mutating func add(_ value: Double, _ what: String) throws(FieldpackError) {
    guard value.isFinite else {
      throw FieldpackError(
        .invalidArgument, "\(what) is \(value), which JSON cannot hold. Try: leave the section out")
    }
    bytes.append(contentsOf: value.description.utf8)
  }
}
