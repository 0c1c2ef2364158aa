import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMedia

/// A track point that waits for a picture.
struct PhotoPoint: Hashable, Sendable {
  var id: Int64
  var track: Int64
  /// The number of the point in its track.
  var seq: Int64
  var position: Position

  /// `nil` for a row that lacks what a point has.
  init?(_ feature: Feature) {
    guard case .integer(let id) = feature.id,
      let track = feature[Column<Int64>("track_fid")], let seq = feature[Column<Int64>("seq")],
      let position = feature.geometry?.firstPosition
    else { return nil }
    (self.id, self.track, self.seq, self.position) = (id, track, seq, position)
  }
}

/// What was found for a point before anything is stored.
struct PhotoFinding: Sendable {
  /// In the order of the provider.
  var candidates: [PhotoCandidate] = []
  var chosen: PhotoCandidate?
  /// Whether the photo is that of another point of the track, and known to be.
  var isRepeated = false
  /// Of the photo that was chosen, where the file does not have it.
  var picture: Picture?
  /// The radius of the last search, in metres.
  var radius: Double?
  /// What went wrong with the search, or with a picture.
  var failure: FieldpackError?
  /// Whether the provider could not be asked, which says nothing of the point.
  var isUnavailable = false
}

/// The bytes of a picture, of which it is known what they are.
struct Picture: Hashable, Sendable {
  var bytes: [UInt8]
  var type: MediaType
  var size: PictureSize?
  var digest: String

  /// - Throws: `.invalidData` for bytes that are no picture.
  init(_ bytes: [UInt8], of candidate: PhotoCandidate) throws(FieldpackError) {
    guard let type = MediaType(bytes), MediaType.shown.contains(type) else {
      throw FieldpackError(
        .invalidData, "what came for photo \(candidate.id) is none of JPEG, PNG, GIF and WebP")
    }
    self.bytes = bytes
    self.type = type
    size = PictureSize(of: bytes)
    digest = SHA256.hex(bytes)
  }

  /// What the names of its files end with.
  var fileExtension: String {
    type == .jpeg ? "jpg" : String(type.rawValue.dropFirst("image/".count))
  }
}

/// What the file knows that bears on the pictures of a track.
struct PhotoKnowledge: Sendable {
  let track: Int64
  /// The photos of the track's points by their ids with the provider, with the last point's number.
  private(set) var used: [String: Int64]
  /// Photos whose pictures are in the file.
  private(set) var pictured: Set<String>

  init(
    of track: Int64, provider: String, _ snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) {
    self.track = track
    guard let layers = PhotoLayers(try snapshot.relations()) else {
      (used, pictured) = ([:], [])
      return
    }
    let photos = try snapshot.features(
      Query(PhotoLayers.photo, where: Column<String>("provider") == provider)
        .withoutGeometry().select("photo_id"))
    var names: [FeatureID: String] = [:]
    for photo in photos {
      if let id = photo.id { names[id] = photo[Column<String>("photo_id")] }
    }
    pictured = Set(try snapshot.links(by: layers.pictures).compactMap { names[$0.base] })
    let points = try snapshot.features(
      Query(PhotoLayers.point, where: Column<Int64>("track_fid") == track)
        .withoutGeometry().select("seq"))
    var numbers: [FeatureID: Int64] = [:]
    for point in points { if let id = point.id { numbers[id] = point[Column<Int64>("seq")] } }
    var used: [String: Int64] = [:]
    for link in try snapshot.links(by: layers.candidates)
    where link.attributes["chosen"] == .integer(1) {
      guard let name = names[link.related], let number = numbers[link.base] else { continue }
      used[name] = max(number, used[name] ?? .min)
    }
    self.used = used
  }

  /// What is known after a point of the track got its picture.
  func adding(_ outcome: PhotoFetch.Outcome, _ point: PhotoPoint) -> PhotoKnowledge {
    guard let photo = outcome.photo else { return self }
    var known = self
    known.used[photo.id] = max(point.seq, used[photo.id] ?? .min)
    known.pictured.insert(photo.id)
    return known
  }
}
