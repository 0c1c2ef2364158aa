import Fieldpack
import FieldpackCore

extension JSONValue {
  init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
  init(_ value: Instant?) { self = value.map { .text($0.description) } ?? .null }
}

/// Lengths as people read them.
enum Metres {
  static func text(_ metres: Double) -> String {
    guard metres.isFinite, abs(metres) < 1e15 else { return "" }
    let tenths = Int((metres * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10)) m"
  }
}

extension RecordedTrack {
  /// The name, with the device where there is one, else the id.
  var label: String {
    let parts = [name, device.flatMap { $0.isEmpty ? nil : $0 }].compactMap { $0 }
    return parts.isEmpty ? "\(id)" : parts.joined(separator: " ")
  }

  /// `region 80 m`, `distance 100 m`, `all`, or what another program wrote.
  var monitorText: String {
    switch monitor {
    case .boundary: "region \(Metres.text(threshold))"
    case .distance where threshold == 0: "all"
    case .distance: "distance \(Metres.text(threshold))"
    case .import: "import"
    case nil: ""
    }
  }

  var document: JSONValue {
    [
      "id": .integer(id), "ordinal": JSONValue(ordinal), "name": JSONValue(name),
      "device": JSONValue(device), "monitor": JSONValue(monitor?.rawValue),
      "threshold_m": .real(threshold), "points": JSONValue(pointCount),
      "length_m": .real(length), "started": JSONValue(startedAt),
      "stopped": JSONValue(stoppedAt),
    ]
  }
}

extension TrackPoint {
  var document: JSONValue {
    [
      "id": .integer(id), "track": .integer(track), "seq": JSONValue(sequence),
      "fix": JSONValue(fix), "time": JSONValue(time), "longitude": .real(longitude),
      "latitude": .real(latitude), "ele_m": JSONValue(elevation),
      "accuracy_m": JSONValue(accuracy), "course_deg": JSONValue(course),
      "speed_mps": JSONValue(speed), "id_md5": .text(placeID), "photo_state": .text(photoState),
    ]
  }
}

extension TrackLogEntry {
  /// Time, level, run, what happened and which fix.
  var line: String {
    let device = device.flatMap { $0.isEmpty ? nil : " of \(DisplayText.visible($0))" } ?? ""
    let source = fix.map { " (fix \($0)\(device))" } ?? ""
    let head = [time?.description, level?.rawValue].compactMap { $0 }.joined(separator: " ")
    return "\(head) \(DisplayText.visible(run)): \(DisplayText.visible(message))\(source)\n"
  }

  var document: JSONValue {
    [
      "id": .integer(id), "run": .text(run), "time": JSONValue(time),
      "level": JSONValue(level?.rawValue), "message": .text(message), "fix": JSONValue(fix),
      "device": JSONValue(device),
    ]
  }
}
