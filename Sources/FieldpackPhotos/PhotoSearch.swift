import FieldpackCore
import FieldpackGeometry

/// What goes over from one run to the next.
struct PhotoPass: Sendable {
  /// Of the track that the last run ended with.
  var known: PhotoKnowledge?
  /// Whether the provider could not be asked, which ended the run.
  var isUnavailable = false
  /// Whether somebody waits for the end: nothing that does not answer is then asked again.
  var isHurried: @Sendable () -> Bool = { false }
}

/// The search for the picture of one point.
struct PhotoSearch {
  /// As many as Flickr gives at once.
  static let maximumLimit = 250

  let provider: any PhotoProvider
  let settings: PhotoFetch.Settings
  let known: PhotoKnowledge
  let isHurried: @Sendable () -> Bool
  /// Photos whose pictures were asked for in vain.
  private var tried: Set<String> = []
  private var finding = PhotoFinding()

  init(
    provider: any PhotoProvider, settings: PhotoFetch.Settings, known: PhotoKnowledge,
    isHurried: @escaping @Sendable () -> Bool
  ) {
    self.provider = provider
    self.settings = settings
    self.known = known
    self.isHurried = isHurried
  }

  /// Searches wider and wider until a photo can be taken, and fetches its picture.
  ///
  /// - Throws: what the search for photos throws. A picture that cannot be had is no error.
  mutating func run(around point: PhotoPoint) async throws(FieldpackError) -> PhotoFinding {
    for radius in settings.radii where radius <= provider.maximumRadius {
      finding.radius = radius
      // More photos than these lie farther off only where the provider gave all it has.
      if try await search(point, radius) || finding.chosen != nil || finding.isUnavailable { break }
    }
    if finding.chosen == nil, settings.allowsRepeats, !finding.isUnavailable {
      // The one whose last use is the longest ago.
      let used = finding.candidates.enumerated().compactMap { rank, candidate in
        known.used[candidate.id].map { (seq: $0, rank: rank, candidate: candidate) }
      }.sorted { ($0.seq, $0.rank) < ($1.seq, $1.rank) }
      try await take(used.map(\.candidate))
      finding.isRepeated = finding.chosen != nil
    }
    if finding.chosen != nil { finding.failure = nil }
    keepNearest()
    return finding
  }

  /// Asks for more and more photos within a radius; whether there are more than were given.
  private mutating func search(
    _ point: PhotoPoint, _ radius: Double
  ) async throws(FieldpackError) -> Bool {
    let first = max(1, settings.limit)
    let largest = max(Self.maximumLimit, first)
    var limit = first
    while true {
      let page = try await provider.candidates(
        near: point.position, radius: radius, limit: limit
      ).prefix(limit)
      finding.candidates = unique(page)
      try await take(finding.candidates.filter { known.used[$0.id] == nil })
      guard page.count >= limit else { return false }
      guard finding.chosen == nil, !finding.isUnavailable, limit < largest else { return true }
      // With as many more as are known to be of no use one has to be among them.
      limit = min(largest, limit + max(first, known.used.count + tried.count))
    }
  }

  /// Each photo once, in order.
  private func unique(_ candidates: ArraySlice<PhotoCandidate>) -> [PhotoCandidate] {
    var seen: Set<String> = []
    return candidates.filter { seen.insert($0.id).inserted }
  }

  /// Takes the first photo whose picture is to be had.
  private mutating func take(_ candidates: [PhotoCandidate]) async throws(FieldpackError) {
    for candidate in candidates where !tried.contains(candidate.id) {
      if known.pictured.contains(candidate.id) {
        finding.chosen = candidate
        return
      }
      do throws(FieldpackError) {
        let bytes = try await provider.image(
          of: candidate, maximumLength: settings.maximumLength)
        finding.picture = try Picture(bytes, of: candidate)
        finding.chosen = candidate
        return
      } catch {
        // A picture that is gone, is none or does not come says nothing of the others.
        let ofPicture: Set<FieldpackError.Code> = [
          .notFound, .invalidData, .permission, .unavailable,
        ]
        guard ofPicture.contains(error.code) else { throw error }
        tried.insert(candidate.id)
        if finding.failure?.code != .unavailable { finding.failure = error }
        if error.code == .unavailable, isHurried() {
          finding.isUnavailable = true
          return
        }
      }
    }
  }

  /// Leaves as many candidates as one asks for at first, and the one that was chosen.
  private mutating func keepNearest() {
    var kept = Array(finding.candidates.prefix(max(1, settings.limit)))
    if let chosen = finding.chosen, !kept.contains(where: { $0.id == chosen.id }) {
      kept.append(chosen)
    }
    finding.candidates = kept
  }
}
