public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
import FieldpackSQLite

/// The samples of a session in a GeoPackage, by time, as the file holds them when the first one is
/// read.
public actor RecordedMotion: TimedMotionSource {
  private static let pageSize = 1024

  public nonisolated let isLive: Bool
  private let store: GeoPackageStore
  private let session: String
  private let speed: Double?
  private let clock: FieldClock
  private var page: [MotionSample] = []
  private var given = 0
  /// Of all samples, by time; `nil` before the first is asked for.
  private var ids: [Int64]?
  /// How many of them are read.
  private var readCount = 0
  /// When the first sample was given, and its time.
  private var start: (uptime: Duration, time: Double)?

  /// - Parameters:
  ///   - session: the session's id. A session that the file does not have gives no samples.
  ///   - speed: how many times faster than in life the samples come; `nil` gives them without
  ///     waiting.
  ///   - isLive: whether samples that cannot be posted in time are lost, as with a sensor.
  public init(
    _ store: GeoPackageStore, session: String, speed: Double? = nil, isLive: Bool = false,
    clock: FieldClock = .system
  ) {
    self.store = store
    self.session = session
    self.speed = speed
    self.isLive = isLive
    self.clock = clock
  }

  public func nextSample() async throws(FieldpackError) -> MotionSample? {
    if given == page.count { try await read() }
    guard given < page.count else { return nil }
    defer { given += 1 }
    let sample = page[given]
    try await wait(for: sample.time)
    return sample
  }

  private func wait(for moment: Double) async throws(FieldpackError) {
    guard let speed else { return }
    let start = start ?? (clock.uptime, moment)
    self.start = start
    let due = start.uptime + .bounded(seconds: (moment - start.time) / speed)
    guard due > clock.uptime else { return }
    do { try await clock.sleep(until: due) } catch { throw MotionClient.cancelled }
  }

  /// Reads the next samples, each by its id: sorting anew for every page would cost the square of
  /// their number.
  private func read() async throws(FieldpackError) {
    if ids == nil { ids = try await sortedIDs() }
    (page, given) = ([], 0)
    while page.isEmpty, let ids, readCount < ids.count {
      let chunk = ids[readCount..<min(readCount + Self.pageSize, ids.count)]
      readCount = chunk.endIndex
      page = try await store.read { (snapshot) throws(FieldpackError) -> [MotionSample] in
        var samples: [MotionSample] = []
        for id in chunk {
          try snapshot.each(Self.sampleSQL, [.integer(id)]) { (row) throws(FieldpackError) in
            let numbers = (1...MotionChannel.allCases.count).map { column in
              row.isNull(column) ? nil : row.real(column)
            }
            samples.append(MotionSample(time: row.real(0), reading: MotionReading(numbers)))
          }
        }
        return samples
      }
    }
  }

  package static let sampleSQL =
    "SELECT t_unix, \(MotionTables.channels) FROM daco_sample WHERE id = ?"

  private func sortedIDs() async throws(FieldpackError) -> [Int64] {
    let session = session
    return try await store.read { (snapshot) throws(FieldpackError) -> [Int64] in
      var ids: [Int64] = []
      guard try snapshot.hasTable(MotionLayers.sample.rawValue) else { return ids }
      try snapshot.each(
        "SELECT s.id FROM daco_batch b JOIN daco_sample s ON s.batch_id = b.id "
          + "WHERE b.session_id = (SELECT id FROM daco_session WHERE uuid = ?) "
          + "ORDER BY s.t_unix, s.id", [.text(session)]
      ) { (row) throws(FieldpackError) in ids.append(row.integer(0)) }
      return ids
    }
  }
}

extension MotionReading {
  /// A reading of twelve numbers in the order of the channels; sections that lack one are absent.
  init(_ values: [Double?]) {
    self.init()
    for (index, section) in MotionSection.allCases.enumerated() {
      let start = index * 3
      guard start + 2 < values.count, let first = values[start], let second = values[start + 1],
        let third = values[start + 2]
      else { continue }
      set(section, first, second, third)
    }
  }
}
