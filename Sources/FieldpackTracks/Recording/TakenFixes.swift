import FieldpackCore

/// The fixes of a replay that a run took before, which are skipped.
///
/// They are told by their number: their digest, and the last fix of each device, have to be those that
/// the run knows. Where they are not, fixes were added, changed or taken away among them. The source is
/// then read again, and they are told by their time: those of a device up to the last one that was taken
/// of it. What was added before that one is late and stays out; a device that the run does not know is
/// new.
struct TakenFixes: Sendable {
  enum Verdict: Hashable, Sendable {
    case taken, new
    /// The source is not as it was; says how.
    case changed(String)
  }

  private struct Device {
    let state: DeviceState
    var isPassed = false
  }

  private let run: String
  private let count: Int
  private var number = 0
  private let digest: FixesDigest?
  private var readDigest = FixesDigest()
  private var isByTime = false
  /// By the number of their last fix.
  private let lastFixes: [Int: DeviceState]
  private var devices: [String: Device]

  init(of run: StoredRun, _ state: MonitorState) {
    self.run = run.name
    count = run.fixes
    digest = run.digest
    lastFixes = Dictionary(state.devices.map { ($0.fix, $0) }) { first, _ in first }
    devices = Dictionary(state.devices.map { ($0.device, Device(state: $0)) }) { first, _ in first }
  }

  /// Whether the run took the next fix of the source.
  mutating func verdict(on fix: Fix) -> Verdict {
    isByTime ? verdictByTime(on: fix) : verdictByNumber(on: fix)
  }

  private mutating func verdictByNumber(on fix: Fix) -> Verdict {
    guard number < count else { return .new }
    defer { number += 1 }
    readDigest.add(fix)
    if let known = lastFixes[number], !fix.isLast(of: known) {
      return .changed("its fix \(number) is another one now")
    }
    guard number == count - 1, let digest, readDigest != digest else { return .taken }
    return .changed("its first \(count) fixes are not those that the run took")
  }

  private mutating func verdictByTime(on fix: Fix) -> Verdict {
    guard var device = devices[fix.device], !device.isPassed else { return .new }
    if fix.isLast(of: device.state) {
      device.isPassed = true
      devices[fix.device] = device
      return .taken
    }
    guard let time = fix.time, let last = device.state.time, time > last else { return .taken }
    let name = fix.device.isEmpty ? "" : " of device '\(fix.device)'"
    return .changed("the last fix\(name) that the run took, of \(last), is not there any more")
  }

  /// How the source is not as it was, where it ended before all that the run took.
  var endVerdict: Verdict {
    guard !isByTime, number < count else { return .new }
    return .changed("it has \(number) fixes now, and the run took \(count)")
  }

  /// Goes over to the times of the fixes, for a source that is read again.
  ///
  /// - Throws: `.invalidArgument` where they do not tell what was taken.
  mutating func goByTime(since how: String) throws(FieldpackError) {
    guard !isByTime, devices.values.allSatisfy({ $0.state.time != nil }) else {
      throw FieldpackError(
        .invalidArgument,
        "the run '\(run)' cannot go on with a source that was changed: \(how). Try: another name, "
          + "which begins anew", location: .init(layer: FieldData.run))
    }
    isByTime = true
  }
}

extension Fix {
  /// Whether this is the fix that a device was left at.
  fileprivate func isLast(of known: DeviceState) -> Bool {
    device == known.device && longitude == known.longitude && latitude == known.latitude
      && (time == nil || time == known.time)
  }
}
