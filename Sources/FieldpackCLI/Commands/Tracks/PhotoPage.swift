import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FieldpackMaps

/// The points of tracks with their pictures and a map, as one page that needs nothing from elsewhere.
struct PhotoPage {
  let title: String
  let feed: PhotoFeed
  let store: GeoPackageStore

  func write(to output: ByteOutput) async throws(FieldpackError) {
    let pictures = feed.entries.count { $0.photo?.media != nil }
    let page = try CardPage(
      to: output, title: title,
      summary: "\(feed.entries.count.counting("point")), \(pictures.counting("picture"))",
      map: map(), mapLabel: "Map of the points")
    for entry in feed.entries { try page.add(try await card(entry)) }
    page.end()
  }

  // MARK: Cards

  private func card(_ entry: PhotoFeed.Entry) async throws(FieldpackError) -> CardPage.Card {
    let name = entry.photo.map { $0.title.isEmpty ? "Photo \($0.id)" : $0.title }
    return CardPage.Card(
      title: name ?? "Point \(entry.number)", lines: lines(entry),
      picture: try await picture(entry) ?? .none(reason: reason(entry)))
  }

  private func picture(
    _ entry: PhotoFeed.Entry
  ) async throws(FieldpackError) -> CardPage.Picture? {
    guard let photo = entry.photo, let bytes = try await PhotoFeed.picture(photo, of: store),
      let type = MediaType(bytes), MediaType.shown.contains(type)
    else { return nil }
    return .image(
      bytes, contentType: type.rawValue,
      size: PictureSize(of: bytes).map { ($0.width, $0.height) },
      alternative: alternative(entry, photo))
  }

  /// What a reader who does not see the picture is told.
  private func alternative(_ entry: PhotoFeed.Entry, _ photo: PhotoFeed.Photo) -> String {
    var text = photo.title.isEmpty ? "A photo" : "Photo: \(photo.title)"
    if let owner = photo.owner { text += ", by \(owner)" }
    text += ", "
    if let distance = photo.distance { text += "\(Decimals.text(distance, digits: 0)) m " }
    return text + (photo.distance == nil ? "near" : "from") + " point \(entry.number) of the track"
  }

  private func reason(_ entry: PhotoFeed.Entry) -> String {
    switch entry.state {
    case .pending: "No picture yet"
    case .found: "The picture cannot be shown"
    case .none:
      entry.radius.map { "No photo within \(Decimals.short($0 / 1000)) km" } ?? "No photo around"
    case .failed: "The picture could not be had"
    case .duplicate: "All photos around are those of other points"
    }
  }

  private func lines(_ entry: PhotoFeed.Entry) -> [String] {
    var lines: [String] = []
    let time = entry.time.map { time in
      // To the second: nobody walks faster.
      String(time.description.prefix(19)).replacing("T", with: " ") + " UTC"
    }
    lines.append(
      ["point \(entry.number)", time].compactMap { $0 }.joined(separator: " · "))
    if let position = entry.position {
      lines.append(
        "\(Decimals.text(position.y, digits: 5)), \(Decimals.text(position.x, digits: 5))"
          + (entry.photo?.distance.map { " · \(Decimals.text($0, digits: 0)) m away" } ?? ""))
    }
    if let photo = entry.photo {
      let of = [photo.owner.map { "by \($0)" }, photo.license.map { "licence \($0)" }]
      let text = of.compactMap { $0 }.joined(separator: " · ")
      if !text.isEmpty { lines.append(text) }
    }
    return lines
  }

  // MARK: Map

  /// The tracks through their points, and where the photos were taken.
  private func map() -> [UInt8] {
    var envelope = Envelope.empty
    for position in feed.entries.compactMap(\.position) { envelope.formUnion(Self.box(position)) }
    var map = SVGMap(title: "The points on a map", envelope, in: .wgs84)
    let tracks = Dictionary(grouping: feed.entries, by: \.track).sorted { $0.0 < $1.0 }
    map.draw(
      MapLayer(
        "track",
        tracks.map { _, entries in
          let positions = entries.sorted { $0.number < $1.number }.compactMap(\.position)
          return .lineString(CoordinateSequence(positions, dimensions: .xy))
        }))
    for hasPicture in [false, true] {
      let positions = feed.entries.filter { ($0.photo?.media != nil) == hasPicture }
        .compactMap(\.position)
      guard !positions.isEmpty else { continue }
      map.draw(
        MapLayer(
          hasPicture ? "points with a picture" : "points without one",
          positions.map { .point(x: $0.x, y: $0.y) }))
    }
    return map.finished()
  }

  private static func box(_ position: Position) -> Envelope {
    Envelope(minX: position.x, minY: position.y, maxX: position.x, maxY: position.y)
  }
}
