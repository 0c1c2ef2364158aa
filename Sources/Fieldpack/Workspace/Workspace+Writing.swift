public import FieldpackCore

extension Workspace {
  /// Runs `body` in one transaction on a store: all of its changes are committed, or none when it
  /// throws.
  ///
  ///     let ids = try await workspace.write(store: "survey") { writer in
  ///       try writer.update(101, in: "wells", set: ["depth": 95.5])
  ///       try writer.delete(102, in: "wells")
  ///       return [try writer.create(well, in: "wells")]
  ///     }
  ///
  /// - Throws: what `body` throws, also where that is no `FieldpackError`; as ``writableStore(_:)``.
  public nonisolated func write<R: Sendable>(
    store id: StoreID, _ body: @Sendable (inout FeatureWriter) throws -> R
  ) async throws -> R {
    let store = try writableStore(id)
    let cause = Locked<(any Error)?>(nil)
    do {
      return try await store.write { (writer) throws(FieldpackError) in
        do {
          return try body(&writer)
        } catch {
          cause.withLock { $0 = error }
          throw error as? FieldpackError
            ?? FieldpackError(.invalidData, "\(error)", location: .init(store: id))
        }
      }
    } catch {
      throw cause.withLock { $0 } ?? error
    }
  }
}
