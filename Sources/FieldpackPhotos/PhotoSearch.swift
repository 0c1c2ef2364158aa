import FieldpackCore
import FieldpackGeometry
import FieldpackProjection

/// The search for the picture of one point, as far as it has come.
struct PhotoSearch {
  /// As many as Flickr gives at once.
  static let maximumLimit = 250

  /// A photo that the point may take.
  struct Offer {
    var candidate: PhotoCandidate
    /// In metres from the point; `.infinity` where the photo has no place.
    var distance: Double
  }

  let point: PhotoPoint
  var finding = PhotoFinding()
  /// Photos whose pictures were asked for in vain.
  private(set) var tried: Set<String> = []
  /// How many photos were asked for; 0 before the first request within a radius.
  private var limit = 0
  /// Whether the provider may have more photos within the radius than it gave.
  private var hasMore = false

  init(_ point: PhotoPoint) { self.point = point }

  /// Whether wider radii would find no other photos: the provider had more within this one than it gives.
  var isExhausted: Bool { hasMore }

  /// Asks for the photos within a radius.
  mutating func look(
    within radius: Double, _ provider: any PhotoProvider, _ settings: PhotoFetch.Settings
  ) async throws(FieldpackError) {
    finding.radius = radius
    try await ask(for: max(1, settings.limit), provider)
  }

  /// Asks for more photos within the radius, where none that is known can be taken; whether it asked.
  mutating func lookFurther(
    past known: PhotoKnowledge, _ provider: any PhotoProvider, _ settings: PhotoFetch.Settings
  ) async throws(FieldpackError) -> Bool {
    let first = max(1, settings.limit)
    let largest = max(Self.maximumLimit, first)
    guard hasMore, limit < largest else { return false }
    // With as many more as are known to be of no use one has to be among them.
    try await ask(for: min(largest, limit + max(first, known.used.count + tried.count)), provider)
    return true
  }

  private mutating func ask(
    for limit: Int, _ provider: any PhotoProvider
  ) async throws(FieldpackError) {
    self.limit = limit
    let page = try await provider.candidates(
      near: point.position, radius: finding.radius ?? 0, limit: limit
    ).prefix(limit)
    var seen: Set<String> = []
    finding.candidates = page.filter { seen.insert($0.id).inserted }
    hasMore = page.count >= limit
  }

  /// The photos that the point may take, in the provider's order.
  func offers(_ known: PhotoKnowledge) -> [Offer] {
    finding.candidates
      .filter { known.used[$0.id] == nil && !tried.contains($0.id) }
      .map { candidate in
        let distance = candidate.position.map {
          Geodesic.wgs84.distance(from: point.position, to: $0)
        }
        return Offer(candidate: candidate, distance: distance ?? .infinity)
      }
  }

  /// Chooses a photo where its picture is to be had; else notes that it is not.
  ///
  /// - Throws: what is no fault of the picture.
  mutating func take(
    _ candidate: PhotoCandidate, _ known: PhotoKnowledge, _ provider: any PhotoProvider,
    _ settings: PhotoFetch.Settings, isHurried: Bool
  ) async throws(FieldpackError) {
    if known.pictured.contains(candidate.id) {
      finding.chosen = candidate
      return
    }
    do throws(FieldpackError) {
      let bytes = try await provider.image(of: candidate, maximumLength: settings.maximumLength)
      finding.picture = try Picture(bytes, of: candidate)
      finding.chosen = candidate
    } catch {
      // A picture that is gone, is none or does not come says nothing of the others.
      let ofPicture: Set<FieldpackError.Code> = [
        .notFound, .invalidData, .permission, .unavailable,
      ]
      guard ofPicture.contains(error.code) else { throw error }
      tried.insert(candidate.id)
      if finding.failure?.code != .unavailable { finding.failure = error }
      if error.code == .unavailable, isHurried { finding.isUnavailable = true }
    }
  }

  /// Forgets the photo that was chosen, which another program took meanwhile.
  mutating func leave() { (finding.chosen, finding.picture) = (nil, nil) }

  /// What is stored: as many candidates as one asks for at first, and the one that was chosen.
  func result(_ settings: PhotoFetch.Settings) -> PhotoFinding {
    var result = finding
    if result.chosen != nil { result.failure = nil }
    var kept = Array(finding.candidates.prefix(max(1, settings.limit)))
    if let chosen = finding.chosen, !kept.contains(where: { $0.id == chosen.id }) {
      kept.append(chosen)
    }
    result.candidates = kept
    return result
  }
}
