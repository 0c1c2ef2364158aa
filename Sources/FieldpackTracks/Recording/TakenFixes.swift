import FieldpackCore

/// The fixes of a replay that a run took before, which are skipped.
///
/// The last fix of each device has to be the one that the run knows: else one was added, changed or
/// taken away before it, and what comes next is not what the run has not taken yet.
struct TakenFixes: Sendable {
  private let run: String
  private let count: Int
  private var number = 0
  /// By the number of their last fix.
  private let devices: [Int: DeviceState]

  init(of run: StoredRun, _ state: MonitorState) {
    self.run = run.name
    count = run.fixes
    devices = Dictionary(state.devices.map { ($0.fix, $0) }) { first, _ in first }
  }

  /// Whether the next fix is one of them.
  ///
  /// - Throws: `.invalidArgument` where the run took another one.
  mutating func skip(_ fix: Fix) throws(FieldpackError) -> Bool {
    guard number < count else { return false }
    defer { number += 1 }
    guard let known = devices[number] else { return true }
    guard fix.device == known.device, fix.longitude == known.longitude,
      fix.latitude == known.latitude, fix.time == nil || fix.time == known.time
    else { throw changed("its fix \(number) is another one now") }
    return true
  }

  func checkEnd() throws(FieldpackError) {
    guard number < count else { return }
    throw changed("it has \(number) fixes now, and the run took \(count)")
  }

  private func changed(_ how: String) -> FieldpackError {
    FieldpackError(
      .invalidArgument,
      "the run '\(run)' cannot go on with a source that was changed: \(how). Try: another name, which "
        + "begins anew", location: .init(layer: FieldData.run))
  }
}
