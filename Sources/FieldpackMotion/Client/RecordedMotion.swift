public import FieldpackCore
public import FieldpackGeoPackage
import FieldpackSQLite

/// The samples of a session that a GeoPackage holds, by time.
public actor RecordedMotion: TimedMotionSource {
  private static let pageSize: Int64 = 1024

  public nonisolated let isLive: Bool
  private let store: GeoPackageStore
  private let session: String
  private let speed: Double?
  private let time: MotionTime
  private var page: [MotionSample] = []
  private var given = 0
  private var place: (time: Double, id: Int64)? = (-Double.infinity, Int64.min)
  /// When the first sample was given, and its time.
  private var start: (now: Double, time: Double)?

  /// - Parameters:
  ///   - session: its id; one that the file does not have holds no samples.
  ///   - speed: how many times as fast as they were made the samples come; `nil` without waiting.
  ///   - isLive: whether what cannot be posted in time is lost, as of a sensor.
  public init(
    _ store: GeoPackageStore, session: String, speed: Double? = nil, isLive: Bool = false,
    time: MotionTime = .system
  ) {
    self.store = store
    self.session = session
    self.speed = speed
    self.isLive = isLive
    self.time = time
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
    let start = start ?? (time.now(), moment)
    self.start = start
    let seconds = start.now + (moment - start.time) / speed - time.now()
    guard seconds > 0 else { return }
    do { try await time.sleep(seconds) } catch { throw MotionClient.cancelled }
  }

  private func read() async throws(FieldpackError) {
    guard let place else { return }
    let session = session
    let rows = try await store.read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasTable(MotionLayers.sample.rawValue) else { return [[SQLiteValue]]() }
      return try snapshot.rows(
        "SELECT s.t_unix, s.id, \(MotionTables.channels) FROM daco_batch b "
          + "JOIN daco_sample s ON s.batch_id = b.id "
          + "WHERE b.session_id = (SELECT id FROM daco_session WHERE uuid = ?) "
          + "AND (s.t_unix, s.id) > (?, ?) ORDER BY s.t_unix, s.id LIMIT ?",
        [.text(session), .real(place.time), .integer(place.id), .integer(Self.pageSize)])
    }
    given = 0
    page = rows.map { row in
      MotionSample(time: row[0].number ?? 0, reading: MotionReading(row[2...].map(\.number)))
    }
    self.place = rows.last.flatMap { row in
      row[0].number.flatMap { time in row[1].wholeNumber.map { (time, $0) } }
    }
  }
}

extension MotionReading {
  /// A reading of twelve numbers in the order of the channels; sections that lack one are absent.
  init(_ values: [Double?]) {
    self.init()
    for (index, section) in MotionSection.allCases.enumerated() {
      let place = index * 3
      guard place + 2 < values.count, let first = values[place], let second = values[place + 1],
        let third = values[place + 2]
      else { continue }
      set(section, first, second, third)
    }
  }
}
