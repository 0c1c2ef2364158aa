import FieldpackCore
import FieldpackField
import FieldpackGeometry

/// One replay of a layer.
actor Replay {
  /// How many fixes are given at a time where no pace is kept, or somewhat more.
  static let batchSize = 16_384

  private let store: any Store
  private let layer: LayerID
  private let options: ReplaySource.Options
  private let report: QueryReport
  private let clock: FieldClock
  private var rows: FixRows?
  private var batches: FeatureBatches.Iterator?
  /// Fixes that are read and not given; those before `given` are.
  private var fixes: [Fix] = []
  private var given = 0
  private var pace: ReplayPace?
  /// Fixes that were given, of all batches.
  private var passed = 0
  /// What the replay ends with, once all fixes before it are given.
  private var failure: FieldpackError?

  init(
    _ store: any Store, _ layer: LayerID, _ options: ReplaySource.Options, _ report: QueryReport,
    _ clock: FieldClock
  ) {
    self.store = store
    self.layer = layer
    self.options = options
    self.report = report
    self.clock = clock
  }

  func next() async throws(FieldpackError) -> [LocationUpdate]? {
    if batches == nil { try await begin() }
    while given == fixes.count {
      if let failure { throw failure }
      guard try await fetch() else { return nil }
    }
    let count = try await due()
    let updates = fixes[given..<given + count].map { LocationUpdate.fix($0) }
    given += count
    return updates
  }

  private func begin() async throws(FieldpackError) {
    let schemas = try await store.schemas()
    guard let schema = schemas.first(where: { $0.layer == layer }) else {
      throw FieldpackError(
        LocationFailure.unavailable, "layer '\(layer)' is not in store '\(store.id)'")
    }
    var rows = try FixRows(schema, of: store.id, options)
    if rows.needsDevices { rows.devices = try await devices(of: schemas) }
    pace = try ReplayPace(options, hasTimes: rows.hasTimes, layer, from: clock.uptime)
    batches = try await store.query(rows.query).makeAsyncIterator()
    self.rows = rows
  }

  /// The devices of the tracks that have one.
  private func devices(of schemas: [Schema]) async throws(FieldpackError) -> [FeatureID: String] {
    guard let track = schemas.first(where: { $0.layer == FieldData.track }),
      track.columnIndex("device") != nil
    else { return [:] }
    let query = Query(layers: [FieldData.track]).select(["device"]).in(stores: [store.id])
    var devices: [FeatureID: String] = [:]
    for try await batch in try await store.query(query.withoutGeometry()) {
      for index in 0..<batch.count where batch[index].kind(at: 0) == .text {
        devices[batch[index].id] = batch[index].text(at: 0)
      }
    }
    return devices
  }

  /// Reads what comes next, and as much as is given at a time where no pace is kept; `false` at the end.
  private func fetch() async throws(FieldpackError) -> Bool {
    fixes.removeAll(keepingCapacity: true)
    given = 0
    repeat {
      guard !Task.isCancelled else { throw Self.cancelled }
      do throws(FieldpackError) {
        guard let batch = try await batches?.next(), let rows else { return !fixes.isEmpty }
        try append(batch, rows)
      } catch {
        failure = error
      }
    } while pace == nil && failure == nil && fixes.count < Self.batchSize
    return true
  }

  private func append(_ batch: FeatureBatch, _ rows: FixRows) throws(FieldpackError) {
    for index in 0..<batch.count {
      do throws(FieldpackError) {
        fixes.append(try rows.fix(batch[index]))
      } catch {
        guard options.skipsErrors else { throw error }
        report.add(skipped: SkippedFeature(error))
      }
    }
  }

  /// How many of the fixes that are read come next, once the first of them is due.
  private func due() async throws(FieldpackError) -> Int {
    let limit = fixes.count - given
    guard !Task.isCancelled else { throw Self.cancelled }
    guard let first = pace?.moment(of: fixes[given], number: passed) else { return limit }
    if first > clock.uptime {
      do { try await clock.sleep(until: first) } catch { throw Self.cancelled }
    }
    let now = clock.uptime
    var count = 1
    while count < limit,
      let next = pace?.moment(of: fixes[given + count], number: passed + count), next <= now
    {
      count += 1
    }
    passed += count
    return count
  }

  private static let cancelled = FieldpackError(
    .interrupted, "the replay of fixes was cancelled")
}

/// When each fix of a replay is due, by the uptime of its clock.
struct ReplayPace {
  private let speed: Double
  private let rate: Double?
  private let start: Duration
  private var firstTime: Instant?

  /// - Throws: `.invalidArgument` for a finite speed without times or rate.
  init?(
    _ options: ReplaySource.Options, hasTimes: Bool, _ layer: LayerID,
    from start: Duration
  ) throws(FieldpackError) {
    guard case .times(let speed) = options.speed else { return nil }
    guard speed > 0, speed.isFinite, options.rate.map({ $0 > 0 && $0.isFinite }) ?? true else {
      throw FieldpackError(.invalidArgument, "speed and rate of a replay are more than 0")
    }
    guard hasTimes || options.rate != nil else {
      throw FieldpackError(
        .invalidArgument,
        "layer '\(layer)' has no times to keep the pace of", advice: .setPace,
        location: .init(layer: layer))
    }
    self.speed = speed
    rate = options.rate
    self.start = start
  }

  /// When a fix is due that so many come before; one without a time is due at once.
  mutating func moment(of fix: Fix, number: Int) -> Duration {
    if let rate { return moment(after: Double(number) / rate / speed) }
    guard let time = fix.time else { return start }
    let first = firstTime ?? time
    firstTime = first
    let seconds = (Double(time.milliseconds) - Double(first.milliseconds)) / 1000
    return moment(after: seconds / speed)
  }

  private func moment(after seconds: Double) -> Duration { start + .bounded(seconds: seconds) }
}
