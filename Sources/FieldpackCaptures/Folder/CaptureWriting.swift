import FieldpackCore

extension CaptureInfo {
  /// The file `capture-info.json`.
  var document: JSONNode {
    var members: [JSONNode.Member] = []
    func add(_ name: String, _ value: JSONNode?) {
      if let value { members.append(.init(name: name, value: value)) }
    }
    add("token", .text(token))
    add("title", .text(title))
    add("media_type", .text(kind.rawValue))
    add("created_at", .number(createdAt))
    add("uploaded_at", .number(uploadedAtStated))
    add("coords", .list([.number(latitude), .number(longitude)]))
    add("heading", heading.map(JSONNode.number))
    add("orientation", orientation.map { .text($0.rawValue) })
    add("geodata_file", .text(geodataFile))
    add("thumbnail_file", .text(thumbnailFile))
    add("media_file", .text(mediaFile))
    return .members(members + JSONNode.members(of: extraJSON))
  }
}

extension CaptureGeodata {
  /// The geo-data file.
  var document: JSONNode {
    .members(
      [.init(name: "points", value: .list(points.map(\.document)))]
        + JSONNode.members(of: extraJSON))
  }
}

extension CapturePoint {
  var document: JSONNode {
    var members: [JSONNode.Member] = [
      .init(name: "timestamp", value: .number(time)),
      .init(name: "coords", value: .list([.number(latitude), .number(longitude)])),
    ]
    if let accuracy { members.append(.init(name: "accuracy", value: .number(accuracy))) }
    if let heading { members.append(.init(name: "heading", value: .number(heading))) }
    return .members(members + JSONNode.members(of: extraJSON))
  }
}

extension JSONNode {
  /// The members of an object that was kept as text; none where it is something else.
  fileprivate static func members(of text: String?) -> [Member] {
    guard let text, case .members(let members)? = try? JSONNodeReader.read(text) else { return [] }
    return members
  }
}
