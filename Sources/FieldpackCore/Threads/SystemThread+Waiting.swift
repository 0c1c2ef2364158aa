import FieldpackThreads

extension SystemThread {
  /// What `body` gives; the calling thread waits for it.
  ///
  /// Only for threads of a connection or of `start`: a thread of the cooperative pool that waits keeps
  /// `body` from running.
  package static func waiting<R: Sendable>(
    for body: @escaping @Sendable () async throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R {
    let result = Locked<Result<R, FieldpackError>?>(nil)
    Task.detached {
      do throws(FieldpackError) {
        let value = try await body()
        result.change { $0 = .success(value) }
      } catch { result.change { $0 = .failure(error) } }
    }
    return try result.wait { $0 }.get()
  }
}
