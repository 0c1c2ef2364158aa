// FieldpackCore's API has `Locked`, so modules that import FieldpackCore get FieldpackThreads, too.
@_exported public import FieldpackThreads

extension SystemThread {
  /// The error where no thread can be started.
  package static let shortage = FieldpackError(
    .unavailable,
    "no thread could be started: a limit of this user's processes and threads (ulimit -u), of memory "
      + "(ulimit -v) or of stacks (ulimit -s) is reached. Try: raise it, or end other programs")

  /// Starts `count` threads with the system's default stack size, to see whether they can run, and
  /// ends them.
  ///
  /// - Throws: `.unavailable` where they cannot all run at the same time.
  package static func checkRoom(for count: Int) throws(FieldpackError) {
    let isOver = Locked(false)
    defer { isOver.change { $0 = true } }
    for _ in 0..<count {
      let isRunning = start(stackSize: nil) { isOver.wait { $0 ? () : nil } }
      guard isRunning else { throw shortage }
    }
  }
}
