import FieldpackCore
import FieldpackGeoPackage
import FieldpackMonitoring

/// What an event hub asks of the store whose events it tells.
protocol FollowedStore: Sendable {
  /// Begins to hear of commits.
  func begin()
  /// Stops to hear of commits until the next ``begin()``, because nobody follows.
  func rest()
  func end()
  /// Whether a store that cannot be reached may be there again later.
  var comesBack: Bool { get }
  /// Whether the store itself has committed since ``news(since:_:wantsPositions:limit:)``.
  var hasOwnNews: Bool { get }
  /// A number that changes with commits.
  func commits() async throws(FieldpackError) -> Int
  /// What is known before anything has happened.
  func present(_ commits: Int) async throws(FieldpackError) -> EventHub.Known
  /// What has happened since.
  ///
  /// - Parameters:
  ///   - commits: the number of ``commits()``.
  ///   - limit: how many edits are read at most.
  func news(
    since known: EventHub.Known, _ commits: Int, wantsPositions: Bool, limit: Int
  ) async throws(FieldpackError) -> EventHub.News
  /// The events behind `place`, up to `end`, and the place behind them.
  func missed(
    after place: EventPlace, upTo end: EventPlace, limit: Int
  ) async throws(FieldpackError) -> (events: [LiveEvent], place: EventPlace)
  /// The place before the first event of that time or later.
  func place(since time: Instant) async throws(FieldpackError) -> EventPlace
  /// The devices that have moved since the runs had taken as many fixes as `runs` says, and how many they
  /// have taken now.
  func positions(
    since runs: [Int64: Int64]
  ) async throws(FieldpackError) -> (positions: [LiveEvent], runs: [Int64: Int64])
  /// The layers without a log.
  func unlogged(_ known: EventHub.Known) async throws(FieldpackError) -> Set<LayerID>
  func regions(of layer: LayerID) -> RegionLayer
}
