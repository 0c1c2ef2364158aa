import Fieldpack
import FieldpackCore

extension JSONValue {
  init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
  init(_ value: Instant?) { self = value.map { .text($0.description) } ?? .null }
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

  /// What made points of fixes: `region`, `distance` or `all`; `import` where another program did.
  var samplingName: String? {
    switch monitor {
    case .boundary: "region"
    case .distance: threshold == 0 ? "all" : "distance"
    case .import: "import"
    case nil: nil
    }
  }

  var document: JSONValue {
    [
      "track": .integer(id), "ordinal": JSONValue(ordinal), "name": JSONValue(name),
      "device": JSONValue(device), "sampling": JSONValue(samplingName),
      "threshold_m": JSONValue(metres: threshold), "point_count": JSONValue(pointCount),
      "length_m": JSONValue(metres: length), "started_at": JSONValue(startedAt),
      "stopped_at": JSONValue(stoppedAt),
    ]
  }
}

extension TrackPoint {
  var document: JSONValue {
    [
      "point": .integer(id), "track": .integer(track), "seq": JSONValue(sequence),
      "fix": JSONValue(fix), "time": JSONValue(time), "longitude": .real(longitude),
      "latitude": .real(latitude), "ele_m": JSONValue(elevation),
      "accuracy_m": JSONValue(metres: accuracy), "course_deg": JSONValue(course),
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
      "entry": .integer(id), "run": .text(run), "time": JSONValue(time),
      "level": JSONValue(level?.rawValue), "message": .text(message), "fix": JSONValue(fix),
      "device": JSONValue(device),
    ]
  }
}
