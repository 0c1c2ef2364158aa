import FieldpackCore
import FieldpackHTTP

/// What goes over from one run to the next.
struct PhotoPass: Sendable {
  /// Whether the provider could not be asked, which ended the run.
  var isUnavailable = false
  /// How long the provider asked to wait, where it did.
  var asked: Duration?
  /// Whether somebody waits for the end: nothing that does not answer is then asked again.
  var isHurried: @Sendable () -> Bool = { false }
}

/// The search for the pictures of a track: every point at one radius before any at the next, and within
/// a radius the nearest pair of point and photo first.
///
/// A photo so goes to the point that is nearest to it, and not to the first that looks so far.
struct PhotoRounds {
  /// The file's side of the search.
  struct Storing {
    var knowledge: () async throws(FieldpackError) -> PhotoKnowledge
    /// Stores what was found for a point.
    var store: (PhotoFinding, PhotoPoint) async throws(FieldpackError) -> PhotoRecord.Result
    /// Called with what was stored.
    var report: (PhotoFetch.Outcome) -> Void
  }

  private let provider: any PhotoProvider
  private let settings: PhotoFetch.Settings
  private let isHurried: @Sendable () -> Bool
  private let storing: Storing
  private var known: PhotoKnowledge
  /// Of the points that have no picture yet, in the order of the track.
  private var open: [PhotoSearch]
  private(set) var isUnavailable = false
  /// How long the provider asked to wait before it is asked again.
  private(set) var asked: Duration?

  init(
    _ points: [PhotoPoint], provider: any PhotoProvider, settings: PhotoFetch.Settings,
    isHurried: @escaping @Sendable () -> Bool, _ storing: Storing
  ) async throws(FieldpackError) {
    self.provider = provider
    self.settings = settings
    self.isHurried = isHurried
    self.storing = storing
    known = try await storing.knowledge()
    open = points.map(PhotoSearch.init)
  }

  /// Searches wider and wider until each point has a picture or there is none.
  ///
  /// - Throws: what the file throws, and what concerns all points, such as a wrong key.
  mutating func run() async throws(FieldpackError) {
    for radius in settings.radii where radius <= provider.maximumRadius {
      let rest = try await look(within: radius)
      try await assign()
      open += rest
      if isUnavailable { return }
    }
    if settings.allowsRepeats { try await repeatPhotos() }
    while !isUnavailable, !open.isEmpty { try await settle(0) }
  }

  // MARK: Looking

  /// Asks for the photos around each point; gives the searches that were not asked for, since the
  /// provider went away or a wider search is of no use.
  private mutating func look(within radius: Double) async throws(FieldpackError) -> [PhotoSearch] {
    let (provider, settings) = (provider, settings)
    var rest: [PhotoSearch] = []
    var looked: [PhotoSearch] = []
    for search in open {
      guard !isUnavailable, !search.isExhausted else {
        rest.append(search)
        continue
      }
      try checkCancellation()
      var search = search
      let goesOn = try await asking(&search) {
        (search: inout PhotoSearch) async throws(FieldpackError) in
        try await search.look(within: radius, provider, settings)
      }
      if goesOn { looked.append(search) }
    }
    open = looked
    return rest
  }

  /// Runs a request for a point. Where it fails, the point's part of the run ends.
  ///
  /// - Returns: whether the search goes on.
  private mutating func asking(
    _ search: inout PhotoSearch,
    _ request: (inout PhotoSearch) async throws(FieldpackError) -> Void
  ) async throws(FieldpackError) -> Bool {
    do throws(FieldpackError) {
      try await request(&search)
      return true
    } catch {
      // A wrong key is wrong for every point: the user has to know, and no point is to blame.
      if [.interrupted, .permission, .configuration].contains(error.code) { throw error }
      search.finding = PhotoFinding(
        failure: error, isUnavailable: error.code == .unavailable)
      try await store(search)
      return false
    }
  }

  // MARK: Choosing

  /// Gives photos to points, the nearest pair first, until no point can take one.
  private mutating func assign() async throws(FieldpackError) {
    while !isUnavailable {
      let offers = open.enumerated().flatMap { index, search in
        search.offers(known).enumerated().map { rank, offer in
          (point: search.point.id, index: index, rank: rank, offer: offer)
        }
      }.sorted { ($0.offer.distance, $0.index, $0.rank) < ($1.offer.distance, $1.index, $1.rank) }
      guard !offers.isEmpty else {
        guard try await lookFurther() else { return }
        continue
      }
      for (point, _, _, offer) in offers where known.used[offer.candidate.id] == nil {
        guard let index = open.firstIndex(where: { $0.point.id == point }) else { continue }
        try await take(offer.candidate, at: index)
        if isUnavailable { return }
      }
    }
  }

  private mutating func lookFurther() async throws(FieldpackError) -> Bool {
    let (provider, settings, known) = (provider, settings, known)
    var hasAsked = false
    for search in open where !isUnavailable {
      try checkCancellation()
      var search = search
      var asked = false
      let goesOn = try await asking(&search) {
        (search: inout PhotoSearch) async throws(FieldpackError) in
        asked = try await search.lookFurther(past: known, provider, settings)
      }
      hasAsked = hasAsked || asked
      guard let index = open.firstIndex(where: { $0.point.id == search.point.id }) else { continue }
      if goesOn { open[index] = search } else { open.remove(at: index) }
    }
    return hasAsked
  }

  private mutating func take(
    _ candidate: PhotoCandidate, at index: Int
  ) async throws(FieldpackError) {
    try checkCancellation()
    var search = open[index]
    try await search.take(
      candidate, known, provider, settings, isHurried: isHurried())
    open[index] = search
    if search.finding.chosen != nil || search.finding.isUnavailable { try await settle(index) }
  }

  /// Gives the points that are left the photos whose last use is the longest ago.
  private mutating func repeatPhotos() async throws(FieldpackError) {
    for point in open.map(\.point) where !isUnavailable {
      guard let index = open.firstIndex(where: { $0.point.id == point.id }) else { continue }
      let used = open[index].finding.candidates.enumerated().compactMap { rank, candidate in
        known.used[candidate.id].map { (seq: $0, rank: rank, candidate: candidate) }
      }.sorted { ($0.seq, $0.rank) < ($1.seq, $1.rank) }
      for (_, _, candidate) in used {
        open[index].finding.isRepeated = true
        try await take(candidate, at: index)
        if open.count <= index || open[index].point.id != point.id || isUnavailable { break }
      }
    }
  }

  // MARK: Storing

  /// Stores what was found for a point, which is then done, unless its photo is taken meanwhile.
  private mutating func settle(_ index: Int) async throws(FieldpackError) {
    let search = open.remove(at: index)
    guard try await !store(search) else { return }
    var again = search
    again.leave()
    open.insert(again, at: index)
  }

  /// - Returns: whether the point is done.
  @discardableResult
  private mutating func store(_ search: PhotoSearch) async throws(FieldpackError) -> Bool {
    let result = search.result(settings)
    switch try await storing.store(result, search.point) {
    case .stored(let outcome):
      known = known.adding(outcome, search.point)
      if result.isUnavailable { (isUnavailable, asked) = (true, result.failure?.askedPause) }
      storing.report(outcome)
    case .settled: break
    case .taken:
      known = try await storing.knowledge()
      return false
    }
    return true
  }

  private func checkCancellation() throws(FieldpackError) {
    if Task.isCancelled { throw FieldpackError(.interrupted, "the search was cancelled") }
  }
}
