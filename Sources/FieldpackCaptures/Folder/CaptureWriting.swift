package import FieldpackCore

extension CaptureInfo {
  /// The file `capture-info.json`.
  package var document: JSONValue {
    var members: [JSONValue.Member] = []
    func add(_ name: String, _ value: JSONValue?) {
      if let value { members.append(.init(name: name, value: value)) }
    }
    add("token", .text(token))
    add("title", .text(title))
    add("media_type", .text(kind.rawValue))
    add("created_at", .number(createdAt))
    add("uploaded_at", .number(uploadedAtStated))
    add("coords", .array([.number(latitude), .number(longitude)]))
    add("heading", heading.map(JSONValue.number))
    add("orientation", orientation.map { .text($0.rawValue) })
    add("geodata_file", .text(geodataFile))
    add("thumbnail_file", .text(thumbnailFile))
    add("media_file", .text(mediaFile))
    return .object(members + JSONValue.members(of: extraJSON))
  }
}

extension CaptureGeodata {
  /// The geo-data file.
  package var document: JSONValue {
    .object(
      [.init(name: "points", value: .array(points.map(\.document)))]
        + JSONValue.members(of: extraJSON))
  }
}

extension CapturePoint {
  /// What stands for an accuracy, in metres, and a heading that are unknown: Strabo's readers need
  /// both, and its own imports write these.
  private static let unknown = (accuracy: 15.0, heading: 0.0)

  var document: JSONValue {
    let members: [JSONValue.Member] = [
      .init(name: "timestamp", value: .number(time)),
      .init(name: "coords", value: .array([.number(latitude), .number(longitude)])),
      .init(name: "accuracy", value: .number(accuracy ?? Self.unknown.accuracy)),
      .init(name: "heading", value: .number(heading ?? Self.unknown.heading)),
    ]
    return .object(members + JSONValue.members(of: extraJSON))
  }
}

extension JSONValue {
  /// The members of an object that was kept as text; none where it is something else.
  fileprivate static func members(of text: String?) -> [Member] {
    guard let text, case .object(let members)? = try? JSONValueReader.read(text) else { return [] }
    return members
  }

  /// A whole number stands without a fraction.
  static func number(_ value: Double) -> JSONValue {
    Int64(exactly: value).map(JSONValue.integer) ?? .real(value)
  }
}
