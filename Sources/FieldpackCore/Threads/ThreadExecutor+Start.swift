import FieldpackThreads

extension ThreadExecutor {
  /// An executor whose thread runs.
  ///
  /// - Throws: `.unavailable` where no thread can be started.
  package static func started() throws(FieldpackError) -> ThreadExecutor {
    guard let executor = ThreadExecutor() else { throw SystemThread.shortage }
    return executor
  }
}
