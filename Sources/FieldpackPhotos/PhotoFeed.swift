public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
public import FieldpackGeometry

/// The points of a GeoPackage's tracks with their pictures, the newest first.
///
/// Points without a picture are in the feed as well.
public struct PhotoFeed: Sendable {
  /// A track point with its picture.
  public struct Entry: Hashable, Sendable {
    public var point: FeatureID
    public var track: Int64
    /// The number of the point in its track.
    public var number: Int64
    public var time: Instant?
    public var position: Position?
    public var state: PhotoState
    public var photo: Photo?
    /// How many photos were found around the point.
    public var candidates = 0
    /// The radius of the search that found nothing, in metres.
    public var radius: Double?
    public var attempts = 0
    /// When the point is tried again.
    public var nextAttempt: Instant?
    /// Why there is no picture.
    public var message: String?
  }

  /// A photo, and the row that holds its bytes.
  public struct Photo: Hashable, Sendable {
    public var feature: FeatureID
    public var provider: String
    public var id: String
    public var title: String
    public var owner: String?
    public var license: String?
    public var source: String
    /// The distance from the point to the photo, in metres.
    public var distance: Double?
    /// The row of layer `media` with the bytes.
    public var media: FeatureID?
    public var contentType: String?
    public var width: Int?
    public var height: Int?
    public var byteCount: Int?
  }

  public var entries: [Entry]

  /// - Parameter track: the feature id of the track; `nil` takes all tracks.
  /// - Throws: `.notFound` where there are no track points, or no such track.
  public init(
    of store: GeoPackageStore, track: Int64? = nil
  ) async throws(FieldpackError) {
    entries = try await store.read { (snapshot) throws(FieldpackError) in
      try Reading(snapshot).entries(of: track, snapshot)
    }
  }

  /// The bytes of a picture; `nil` where the file has none.
  public static func picture(
    _ photo: Photo, of store: GeoPackageStore
  ) async throws(FieldpackError) -> [UInt8]? {
    guard let media = photo.media else { return nil }
    return try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.withMedia(media, in: PhotoLayers.media) { (bytes, _) throws(FieldpackError) in
        bytes.withUnsafeBytes { Array($0) }
      }
    }
  }
}

/// Puts the rows of all layers together.
private struct Reading {
  private var photos: [FeatureID: PhotoFeed.Photo] = [:]
  private var links: [FeatureID: [RelationLink]] = [:]
  private var jobs: [Int64: Feature] = [:]

  init(_ snapshot: GeoPackageSnapshot) throws(FieldpackError) {
    guard let layers = PhotoLayers(try snapshot.relations()) else { return }
    for photo in try snapshot.features(Query(PhotoLayers.photo).withoutGeometry()) {
      if let id = photo.id { photos[id] = Self.photo(photo, id) }
    }
    let columns = ["content_type", "width_px", "height_px", "byte_count"]
    var media: [FeatureID: Feature] = [:]
    for file in try snapshot.features(Query(PhotoLayers.media).select(columns)) {
      if let id = file.id { media[id] = file }
    }
    for link in try snapshot.links(by: layers.pictures) {
      guard let file = media[link.related], photos[link.base]?.media == nil else { continue }
      photos[link.base]?.media = link.related
      photos[link.base]?.contentType = file[Column<String>("content_type")]
      photos[link.base]?.width = file[Column<Int>("width_px")]
      photos[link.base]?.height = file[Column<Int>("height_px")]
      photos[link.base]?.byteCount = file[Column<Int>("byte_count")]
    }
    for link in try snapshot.links(by: layers.candidates) {
      links[link.base, default: []].append(link)
    }
    for job in try snapshot.features(Query(PhotoLayers.job)) {
      // A file that was not written to since the columns of all jobs has the earlier name.
      let point = job[Column<Int64>("subject")] ?? job[Column<Int64>("point_fid")]
      if let point { jobs[point] = job }
    }
  }

  private static func photo(_ feature: Feature, _ id: FeatureID) -> PhotoFeed.Photo {
    func text(_ name: String) -> String? { feature[Column<String>(name)] }
    return PhotoFeed.Photo(
      feature: id, provider: text("provider") ?? "", id: text("photo_id") ?? "",
      title: text("title") ?? "", owner: text("owner"), license: text("license"),
      source: text("source_url") ?? "")
  }

  func entries(
    of track: Int64?, _ snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> [PhotoFeed.Entry] {
    let known = try snapshot.layers().map(\.id)
    guard known.contains(PhotoLayers.point) else {
      throw FieldpackError(
        .notFound, "there is no layer '\(PhotoLayers.point)'", advice: .recordTrack,
        location: .init(layer: PhotoLayers.point))
    }
    if let track, known.contains("track"),
      try snapshot.feature(.integer(track), in: "track") == nil
    {
      throw FieldpackError(
        .notFound, "there is no track \(track)",
        location: .init(layer: "track", feature: .integer(track)))
    }
    let filter = track.map { Column<Int64>("track_fid") == $0 } ?? Filter.all
    let query = Query(PhotoLayers.point, where: filter).order(by: [
      Order("time_unix", descending: true), Order("track_fid", descending: true),
      Order("seq", descending: true),
    ])
    return try snapshot.features(query).compactMap(entry)
  }

  private func entry(_ point: Feature) -> PhotoFeed.Entry? {
    guard let id = point.id, let track = point[Column<Int64>("track_fid")] else { return nil }
    let state = point[Column<String>("photo_state")].flatMap(PhotoState.init) ?? .pending
    var entry = PhotoFeed.Entry(
      point: id, track: track, number: point[Column<Int64>("seq")] ?? 0,
      time: point[Column<Instant>("time")], position: point.geometry?.firstPosition, state: state)
    let links = links[id] ?? []
    entry.candidates = links.count
    if let chosen = links.first(where: { $0.attributes["chosen"] == .integer(1) }) {
      entry.photo = photos[chosen.related]
      entry.photo?.distance = chosen.attributes["distance_m"].flatMap(Double.init(attributeValue:))
    }
    if case .integer(let number) = id, let job = jobs[number] {
      entry.attempts = job[Column<Int>("attempt")] ?? 0
      entry.radius = job[Column<Double>("radius_m")]
      entry.nextAttempt = job[Column<Instant>("next_at")]
      entry.message = job[Column<String>("message")]
    }
    return entry
  }
}
