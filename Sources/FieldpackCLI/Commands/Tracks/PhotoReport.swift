import Fieldpack
import FieldpackCore

/// What the commands on photos print.
struct PhotoReport {
  let file: String
  let feed: PhotoFeed
  /// How many points came to each state; `nil` where nothing was looked for.
  var fetched: [PhotoState: Int]?
  /// The page that was written.
  var page: String?

  func print(_ invocation: Invocation) throws(FieldpackError) {
    if invocation.isJSON {
      try invocation.print(document)
    } else {
      try invocation.print(text(invocation.console.terminal))
    }
  }

  // MARK: Text

  /// What is known of a photo, and the points that have it.
  func facts(_ photo: PhotoFeed.Photo) -> String {
    let size = photo.width.flatMap { width in photo.height.map { "\(width) × \($0)" } }
    let points = feed.entries.map { entry in
      "track \(entry.track), point \(entry.number)"
        + (entry.photo?.distance.map { ", \(Metres.text($0)) away" } ?? "")
    }
    let facts: [(String, String?)] =
      [
        ("photo", photo.id), ("title", photo.title), ("provider", photo.provider),
        ("owner", photo.owner), ("license", photo.license), ("source", photo.source),
        ("type", photo.contentType), ("size", size),
        ("bytes", photo.byteCount.map(String.init)),
      ] + points.map { ("point", $0) }
    return facts.compactMap { name, value in
      value.map { DisplayText.visible(DisplayText.pad(name, to: 12) + $0) + "\n" }
    }.joined()
  }

  func text(_ terminal: Terminal) -> String {
    var text = ""
    if !feed.entries.isEmpty {
      let columns = [
        TableColumn("time"), TableColumn("track", isNumeric: true),
        TableColumn("point", isNumeric: true), TableColumn("state"), TableColumn("photo"),
        TableColumn("away", isNumeric: true), TableColumn("id"),
      ]
      text += TextTable.text(
        columns, feed.entries.map(Self.row), width: terminal.cutWidth,
        usesUnicode: terminal.usesUnicode)
      text += "\n"
    }
    text += "\(feed.entries.count.counting("point")), "
    text += "\(feed.entries.count { $0.photo?.media != nil }.counting("picture"))"
    if let fetched { text += "; looked for: " + Self.text(of: fetched) }
    text += "\n"
    if let page { text += "written to \(DisplayText.visible(page))\n" }
    return text
  }

  /// How many points came to each state: `2 found, 1 none`.
  static func text(of fetched: [PhotoState: Int]) -> String {
    let states = PhotoState.allCases.compactMap { state in
      fetched[state].map { "\($0) \(state.rawValue)" }
    }
    return states.isEmpty ? "none" : states.joined(separator: ", ")
  }

  private static func row(_ entry: PhotoFeed.Entry) -> [String] {
    let photo = entry.photo
    let title = photo.map { $0.title.isEmpty ? $0.id : $0.title } ?? entry.message ?? ""
    return [
      entry.time?.description ?? "", "\(entry.track)", "\(entry.number)", entry.state.rawValue,
      title, photo?.distance.map { Metres.text($0) } ?? "", photo?.id ?? "",
    ]
  }

  // MARK: JSON

  var document: JSONValue {
    [
      "target": .text(file), "fetched": fetched.map(Self.document(of:)) ?? .null,
      "output": JSONValue(page), "points": .array(feed.entries.map(Self.document)),
    ]
  }

  /// What a search beside a recording came to, or what ended it.
  ///
  /// - Throws: `.interrupted`.
  static func end(
    of photos: PhotoFollowing?
  ) async throws(FieldpackError) -> (counts: [PhotoState: Int]?, refusal: FieldpackError?) {
    guard let photos else { return (nil, nil) }
    do throws(FieldpackError) {
      return (try await photos.finish(), nil)
    } catch {
      guard error.code != .interrupted else { throw error }
      return (nil, error)
    }
  }

  static func document(of fetched: [PhotoState: Int]) -> JSONValue {
    .object(
      PhotoState.allCases.map { .init(name: $0.rawValue, value: JSONValue(fetched[$0] ?? 0)) })
  }

  private static func document(_ entry: PhotoFeed.Entry) -> JSONValue {
    [
      "point": JSONValue(entry.point), "track": .integer(entry.track),
      "seq": .integer(entry.number),
      "time": JSONValue(entry.time), "longitude": JSONValue(entry.position?.x),
      "latitude": JSONValue(entry.position?.y), "photo_state": .text(entry.state.rawValue),
      "photo": entry.photo.map(document) ?? .null, "candidate_count": JSONValue(entry.candidates),
      "radius_m": JSONValue(metres: entry.radius), "attempt_count": JSONValue(entry.attempts),
      "next_attempt_at": JSONValue(entry.nextAttempt), "message": JSONValue(entry.message),
    ]
  }

  private static func document(_ photo: PhotoFeed.Photo) -> JSONValue {
    [
      "id": .text(photo.id), "provider": .text(photo.provider), "title": .text(photo.title),
      "owner": JSONValue(photo.owner), "license": JSONValue(photo.license),
      "uri": .text(photo.source), "distance_m": JSONValue(metres: photo.distance),
      "media": JSONValue(photo.media), "content_type": JSONValue(photo.contentType),
      "width_px": JSONValue(photo.width), "height_px": JSONValue(photo.height),
      "size_bytes": JSONValue(photo.byteCount),
    ]
  }
}
