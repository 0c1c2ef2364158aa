import FieldpackCore
import FieldpackField
import FieldpackLocation
import FieldpackMonitoring

/// The fixes of a replay that a run took before, which are skipped.
///
/// They are told by their number: their digest, and the last fix of each device, have to be those that
/// the run knows. Where they are not, fixes were added, changed or taken away among them. The source is
/// then read once to see that the last fixes are there, and once more to go on after these, device by
/// device: what comes before the last fix of a device, or has its time, is taken as known; a device that
/// the run does not know is new.
struct TakenFixes: Sendable {
  enum Verdict: Hashable, Sendable {
    case taken, new
    /// The source has to be read again from its first fix.
    case again
  }

  private enum Way {
    case byNumber, looking, byTime
  }

  private struct Device {
    let state: DeviceState
    /// Whether its last fix has come.
    var isPassed = false
    /// Whether a later one came while that had not.
    var hasLater = false
  }

  private let run: String
  private let count: Int
  private let digest: FixesDigest?
  /// By the number of their last fix.
  private let lastFixes: [Int: DeviceState]
  private var devices: [String: Device]
  private var way = Way.byNumber
  private var number = 0
  private var readDigest = FixesDigest()
  /// How the source is not as it was, once it is read by time.
  private var change: String?

  init(of run: StoredRun, _ state: MonitorState) {
    self.run = run.name
    count = run.fixes
    digest = run.digest
    lastFixes = Dictionary(state.devices.map { ($0.fix, $0) }) { first, _ in first }
    devices = Dictionary(state.devices.map { ($0.device, Device(state: $0)) }) { first, _ in first }
  }

  /// What the run knew of the devices, without late fixes: those after the last ones come again.
  var stateByTime: MonitorState {
    let states = devices.values.map { device in
      var state = device.state
      state.late = nil
      return state
    }
    return MonitorState(
      devices: states.sorted { $0.device.utf8.lexicographicallyPrecedes($1.device.utf8) })
  }

  /// What the log is to be told where the source is not as it was, once it is read on by the times of
  /// its fixes.
  func message(at now: Instant) -> String? {
    guard way == .byTime, let change else { return nil }
    let ahead = stateByTime.devices.filter { $0.time ?? now > now }.map { state in
      "; \(state.device.isEmpty ? "its" : "of '\(state.device)' the") last one, of "
        + "\(state.time ?? now), lies in the future, and none before that is new"
    }
    return
      "the source was changed: \(change); goes on after the last fix of each device, and passes over "
      + "what was added before" + ahead.joined()
  }

  /// Whether the run took the next fix of the source.
  ///
  /// - Throws: `.invalidArgument` where it cannot be told.
  mutating func verdict(on fix: Fix) throws(FieldpackError) -> Verdict {
    switch way {
    case .byNumber: return try verdictByNumber(on: fix)
    case .looking:
      number += 1
      _ = try verdictByTime(on: fix)
      return .taken
    case .byTime: return try verdictByTime(on: fix)
    }
  }

  /// Whether the source has to be read again after its last fix.
  ///
  /// - Throws: `.invalidArgument` where what it gave does not tell what the run took.
  mutating func verdictAtEnd() throws(FieldpackError) -> Verdict {
    switch way {
    case .byNumber:
      guard number < count else { return .new }
      return try look(since: "it has \(number) fixes now, and the run took \(count)")
    case .looking:
      if let lost = devices.values.first(where: { $0.hasLater && !$0.isPassed })?.state {
        let name = lost.device.isEmpty ? "" : " of device '\(lost.device)'"
        let time = lost.time.map { ", of \($0)," } ?? ""
        throw changed("the last fix\(name) that the run took\(time) is not there any more")
      }
      guard number == 0 || devices.values.contains(where: \.isPassed) else {
        throw changed("none of the last fixes that the run took is there any more")
      }
      for name in devices.keys { devices[name]?.isPassed = false }
      way = .byTime
      return .again
    case .byTime: return .new
    }
  }

  private mutating func verdictByNumber(on fix: Fix) throws(FieldpackError) -> Verdict {
    guard number < count else { return .new }
    defer { number += 1 }
    readDigest.add(fix)
    if let known = lastFixes[number], !fix.isLast(of: known), fix.time != nil || known.time == nil {
      return try look(since: "its fix \(number) is another one now")
    }
    guard number == count - 1, let digest, readDigest != digest else { return .taken }
    return try look(since: "its first \(count) fixes are not those that the run took")
  }

  private mutating func verdictByTime(on fix: Fix) throws(FieldpackError) -> Verdict {
    guard var device = devices[fix.device] else { return .new }
    guard let time = fix.time, let last = device.state.time else {
      throw changed("\(change ?? "its order is another one"), and not all fixes have times")
    }
    if !device.isPassed {
      device.isPassed = fix.isLast(of: device.state)
      device.hasLater = device.hasLater || time > last
      devices[fix.device] = device
      return .taken
    }
    return time == last ? .taken : .new
  }

  /// Goes over to the times of the fixes.
  private mutating func look(since how: String) throws(FieldpackError) -> Verdict {
    guard devices.values.allSatisfy({ $0.state.time != nil }) else { throw changed(how) }
    change = how
    way = .looking
    number = 0
    return .again
  }

  private func changed(_ how: String) -> FieldpackError {
    FieldpackError(
      .invalidArgument,
      "the run '\(run)' cannot go on with a source that was changed: \(how). Try: another name, "
        + "which begins anew", location: .init(layer: FieldData.run))
  }
}

extension Fix {
  /// Whether this is the fix that a device was left at.
  fileprivate func isLast(of known: DeviceState) -> Bool {
    device == known.device && longitude == known.longitude && latitude == known.latitude
      && time == known.time
  }
}
