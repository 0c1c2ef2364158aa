public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection

/// Finds pictures for those track points of a GeoPackage that wait for one.
///
/// Each point has its `photo_state`, and `photo_job` says what was tried and when to try again, so
/// that a new run continues where the last one ended. Tracks are taken one after the other, and a photo
/// goes to the nearest point of a track. Each point is one transaction, which begins when all requests are answered, so that a recording waits for a
/// few rows and one picture at most.
///
///     let fetch = try await PhotoFetch(store: store, provider: FlickrProvider())
///     try await fetch.run { outcome in print(outcome.state) }
public struct PhotoFetch: Sendable {
  /// How pictures are searched.
  public struct Settings: Sendable {
    /// The radii in metres: all points are searched around at one of them before any at the next.
    public var radii: [Double] = [500]
    /// How many photos are asked for at first. More are asked for where none of these can be taken.
    public var limit = 10
    /// Whether a photo may become the picture of several points of a track where there is no other.
    public var allowsRepeats = false
    /// The size of the largest picture that is taken, in bytes.
    public var maximumLength = 16 << 20
    /// How many times a point is tried before it counts as failed.
    public var attempts = 5
    /// How long a point waits to be tried again: half a minute, doubled up to an hour.
    public var backOff = BackOff(first: .seconds(30), limit: .seconds(3600))

    public init() {}
  }

  /// What became of a point.
  public struct Outcome: Hashable, Sendable {
    public var point: FeatureID
    public var track: Int64
    public var state: PhotoState
    /// The photo that was taken.
    public var photo: PhotoCandidate?
    /// The distance from the point to the photo, in metres.
    public var distance: Double?
    /// The radius of the last search, in metres.
    public var radius: Double?
    /// Why there is no picture.
    public var message: String?
  }

  /// The radii of a search that widens, in metres.
  static let standardRadii: [Double] = [500, 1000, 2000, 5000, 10_000, 20_000, 32_000]

  /// The radii of a search that ends at this one, in metres.
  public static func radii(within metres: Double) -> [Double] {
    standardRadii.filter { $0 < metres } + [metres]
  }

  let store: GeoPackageStore
  let provider: any PhotoProvider
  let settings: Settings
  let clock: FieldClock

  /// - Throws: `.notFound` where there are no track points.
  public init(
    store: GeoPackageStore, provider: any PhotoProvider, settings: Settings = .init(),
    clock: FieldClock = .system
  ) async throws(FieldpackError) {
    self.store = store
    self.provider = provider
    self.settings = settings
    self.clock = clock
    try await waitingWhileBusy(clock) { () async throws(FieldpackError) in
      try await store.write { (writer) throws(FieldpackError) in
        _ = try PhotoLayers.prepare(writer)
        try PhotoLayers.index(writer)
      }
    }
  }

  /// Tries all points that are due, once.
  ///
  /// Where the provider cannot be reached (`.unavailable`), the run ends, and the remaining points
  /// stay as they are.
  /// - Parameters:
  ///   - track: limits the run to the points of this track.
  ///   - report: called after each point.
  /// - Throws: what the file throws; `.interrupted` when cancelled; a refusal that concerns all
  ///   points, such as a wrong key.
  public func run(
    track: Int64? = nil, _ report: @escaping (Outcome) -> Void = { _ in }
  ) async throws(FieldpackError) {
    var pass = PhotoPass()
    try await run(tracks: track.map { [$0] }, &pass, report)
  }

  /// - Parameter tracks: only those of these tracks; `nil` is all.
  func run(
    tracks: Set<Int64>?, _ pass: inout PhotoPass, _ report: @escaping (Outcome) -> Void
  ) async throws(FieldpackError) {
    (pass.isUnavailable, pass.asked) = (false, nil)
    var points = try await due(tracks)[...]
    while let track = points.first?.track, !pass.isUnavailable {
      let mine = points.prefix { $0.track == track }
      points = points.dropFirst(mine.count)
      var rounds = try await PhotoRounds(
        Array(mine), provider: provider, settings: settings, isHurried: pass.isHurried,
        storing(track, report))
      try await rounds.run()
      (pass.isUnavailable, pass.asked) = (rounds.isUnavailable, rounds.asked)
    }
  }

  /// Makes points without a picture due at once, and returns their number.
  @discardableResult
  public func retry(track: Int64? = nil) async throws(FieldpackError) -> Int {
    let states = [PhotoState.none, .failed, .duplicate].map(\.rawValue)
    var filter = Column<String>("photo_state").isIn(states + [PhotoState.pending.rawValue])
    if let track { filter = filter && Column<Int64>("track_fid") == track }
    return try await waitingWhileBusy(clock) { [filter] () async throws(FieldpackError) in
      try await store.write { [filter] (writer) throws(FieldpackError) in
        let points = try writer.features(
          Query(PhotoLayers.point, where: filter).withoutGeometry().select("photo_state"))
        for point in points {
          guard let id = point.id else { continue }
          if case .integer(let number) = id {
            try PhotoLayers.jobs.delete(of: .integer(number), writer)
          }
          try writer.update(
            id, in: PhotoLayers.point, set: ["photo_state": .text(PhotoState.pending.rawValue)])
        }
        return points.count
      }
    }
  }

  // MARK: Which points

  /// The points that wait for a picture and may be tried now.
  private func due(_ tracks: Set<Int64>?) async throws(FieldpackError) -> [PhotoPoint] {
    var filter = Column<String>("photo_state") == PhotoState.pending.rawValue
    if let tracks { filter = filter && Column<Int64>("track_fid").isIn(tracks.sorted()) }
    let query = Query(PhotoLayers.point, where: filter).select("track_fid", "seq").order(
      by: [Order("track_fid"), Order("seq")])
    let now = clock.now
    return try await store.read { (snapshot) throws(FieldpackError) in
      let waiting = Set(
        try PhotoLayers.jobs.all(snapshot).filter { !$0.isDue(at: now) }.map(\.subject))
      return try snapshot.features(query).compactMap(PhotoPoint.init)
        .filter { !waiting.contains(.integer($0.id)) }
    }
  }

  // MARK: One track

  private func storing(
    _ track: Int64, _ report: @escaping (Outcome) -> Void
  ) -> PhotoRounds.Storing {
    PhotoRounds.Storing(
      knowledge: { () async throws(FieldpackError) in
        try await store.read { (snapshot) throws(FieldpackError) in
          try PhotoKnowledge(of: track, provider: provider.name, snapshot)
        }
      },
      store: { (finding, point) async throws(FieldpackError) in
        try await waitingWhileBusy(clock) { () async throws(FieldpackError) in
          try await store.write { (writer) throws(FieldpackError) in
            try PhotoRecord(
              point: point, finding: finding, provider: provider.name, settings: settings,
              now: clock.now
            ).store(writer)
          }
        }
      }, report: report)
  }
}

/// Runs `body` until the file is not busy.
func waitingWhileBusy<R>(
  _ clock: FieldClock, _ body: () async throws(FieldpackError) -> R
) async throws(FieldpackError) -> R {
  while true {
    do throws(FieldpackError) {
      return try await body()
    } catch {
      guard error.code == .busy else { throw error }
      do { try await clock.sleep(for: .milliseconds(200)) } catch {
        throw FieldpackError(.interrupted, "the search was cancelled")
      }
    }
  }
}
