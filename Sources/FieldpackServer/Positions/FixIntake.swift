import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackLocation
import FieldpackSQLite
import FieldpackTracks

/// Watches the positions that devices send, and keeps detections and states in the file, as one run.
///
/// A fix counts once: a fix that is not later than the last of its device is known already. So a
/// client may send again what may not have arrived.
actor FixIntake {
  enum Outcome: Sendable {
    case taken
    /// Not later than the last fix of the device.
    case known
    /// Too far in the future, which would make all later fixes known.
    case future
  }

  private let store: GeoPackageStore
  private let options: PositionOptions
  private let logger: Logger
  private let clock: FieldClock
  private var run: Run?
  private var beginning: Task<Result<Run, FieldpackError>, Never>?
  private var isClosed = false

  /// One start of the run.
  private final class Run: Sendable {
    let queue = FixQueue()
    let times: Locked<[String: Instant]>
    /// How many fixes the run has taken, with those that wait.
    let count: Locked<Int>

    init(times: [String: Instant], count: Int) {
      self.times = Locked(times)
      self.count = Locked(count)
      queue.note(count)
    }
  }

  init(
    of store: GeoPackageStore, _ options: PositionOptions, logger: Logger = .silent,
    clock: FieldClock = .system
  ) {
    self.store = store
    self.options = options
    self.logger = logger
    self.clock = clock
  }

  private static let mostAhead: Int64 = 600_000

  /// Takes fixes; comes back once they are in the file.
  ///
  /// - Returns: what became of each.
  func take(_ fixes: [Fix]) async throws(FieldpackError) -> [Outcome] {
    let run = try await current()
    let limit = clock.now.milliseconds + Self.mostAhead
    var outcomes: [Outcome] = []
    var fresh: [Fix] = []
    run.times.withLock { times in
      for fix in fixes {
        if let time = fix.time {
          guard time.milliseconds <= limit else {
            outcomes.append(.future)
            continue
          }
          if let last = times[fix.device], time <= last {
            outcomes.append(.known)
            continue
          }
          times[fix.device] = time
        }
        outcomes.append(.taken)
        fresh.append(fix)
      }
    }
    // What is known may still be on its way to the disk, from a request before.
    guard !fresh.isEmpty || outcomes.contains(.known) else { return outcomes }
    let number = run.count.withLock { count in
      count += fresh.count
      return count
    }
    try await run.queue.add(fresh, upTo: number)
    return outcomes
  }

  /// The run, which goes on where the last start of the server stopped.
  private func current() async throws(FieldpackError) -> Run {
    guard !isClosed else { throw FieldpackError(.unavailable, "the server is closing") }
    if let run, !run.queue.isEnded { return run }
    let (store, options) = (store, options)
    let task =
      beginning
      ?? Task {
        do throws(FieldpackError) {
          return .success(try await Self.begin(store, options, self.logger, self.clock))
        } catch { return .failure(error) }
      }
    beginning = task
    let begun = await task.value
    beginning = nil
    let started = try begun.get()
    run = started
    return started
  }

  private static func begin(
    _ store: GeoPackageStore, _ options: PositionOptions, _ logger: Logger, _ clock: FieldClock
  ) async throws(FieldpackError) -> Run {
    let (monitor, layer) = try await options.monitor(in: store)
    let name = options.run
    let (times, count) = try await store.read {
      (snapshot: GeoPackageSnapshot) throws(FieldpackError) -> ([String: Instant], Int) in
      guard try snapshot.hasTable(FieldData.state.rawValue) else { return ([:], 0) }
      var times: [String: Instant] = [:]
      for row in try snapshot.rows(
        "SELECT device, time_ms FROM monitor_state "
          + "WHERE run_id = (SELECT id FROM monitor_run WHERE name = ?)", [.text(name)])
      {
        if let device = row[0].textValue, let time = row[1].integerValue {
          times[device] = Instant(milliseconds: time)
        }
      }
      let fixes = try snapshot.rows(
        "SELECT fixes FROM monitor_run WHERE name = ?", [.text(name)])
      return (times, Int(fixes.first?.first?.integerValue ?? 0))
    }
    let run = Run(times: times, count: count)
    let recorded = RecordedMonitor(monitor, in: store, as: name, watching: layer, clock: clock)
    let steps = recorded.watch(run.queue, origin: "HTTP")
    Task {
      do throws(FieldpackError) {
        try await steps.run { (step) throws(FieldpackError) in run.queue.note(step.fixes) }
        run.queue.end(FieldpackError(.unavailable, "the server is closing"))
      } catch {
        logger.error("positions cannot be kept", ["reason": .text("\(error)")])
        run.queue.end(error)
      }
    }
    return run
  }

  /// Takes no more; comes back once the run has ended.
  func close() async {
    isClosed = true
    await run?.queue.close()
  }
}
