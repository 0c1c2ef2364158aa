import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// Makes the edits of many requests.
///
/// The edits that come in while the disk is written are committed together, because a commit takes longer
/// than the edits themselves. Each edit still happens as a whole or not at all, and is on the disk before
/// its client has the answer.
actor EditQueue {
  typealias Body<R> = @Sendable (GeoPackageWriter) throws(FieldpackError) -> R

  private struct Edit: Sendable {
    /// How many features the edit makes.
    let weight: Int
    /// Makes the edit in a savepoint, and keeps the result; returns the error of an edit that failed.
    let make: @Sendable (GeoPackageWriter) -> FieldpackError?
    /// Called once the edit is committed, or with the reason why it is not.
    let end: @Sendable (FieldpackError?) -> Void
  }

  private let store: GeoPackageStore
  private var waiting: [Edit] = []
  private var isWriting = false
  private static let mostTogether = 100
  /// The most features of one commit, unless a single edit makes more.
  private static let mostFeatures = 1000

  init(of store: GeoPackageStore) { self.store = store }

  /// How many edits wait for the next commit.
  var count: Int { waiting.count }

  /// Runs `body`, which only creates, updates and deletes features; comes back once that is on the disk.
  ///
  /// - Parameters:
  ///   - weight: how many features `body` makes.
  ///   - body: runs once more, alone, where its commit with the edits of others has failed.
  func edit<R: Sendable>(
    weight: Int = 1, _ body: @escaping Body<R>
  ) async throws(FieldpackError) -> R {
    let outcome = Locked<Result<R, FieldpackError>?>(nil)
    let failure = await withCheckedContinuation { continuation in
      waiting.append(
        Edit(weight: weight) { writer in
          let made = Result { () throws(FieldpackError) in
            try writer.wholeRows { () throws(FieldpackError) in try body(writer) }
          }
          outcome.withLock { $0 = made }
          if case .failure(let error) = made { return error }
          return nil
        } end: {
          continuation.resume(returning: $0)
        })
      guard !isWriting else { return }
      isWriting = true
      Task { await write() }
    }
    if let failure { throw failure }
    guard let made = outcome.withLock({ $0 }) else {
      throw FieldpackError(.unavailable, "the edit was not made")
    }
    return try made.get()
  }

  /// The edits of the next commit, at least one.
  private func takeNext() -> [Edit] {
    var (count, weight) = (0, 0)
    for edit in waiting.prefix(Self.mostTogether) {
      weight += edit.weight
      guard count == 0 || weight <= Self.mostFeatures else { break }
      count += 1
    }
    defer { waiting.removeFirst(count) }
    return Array(waiting.prefix(count))
  }

  private func write() async {
    while !waiting.isEmpty {
      let edits = takeNext()
      do throws(FieldpackError) {
        try await commit(edits)
        for edit in edits { edit.end(nil) }
      } catch  where error.code == .constraint && edits.count > 1 {
        // One of the edits has broken a rule that SQLite checks only at the end of a transaction.
        for edit in edits { await writeAlone(edit) }
      } catch {
        for edit in edits { edit.end(error) }
      }
    }
    isWriting = false
  }

  private func writeAlone(_ edit: Edit) async {
    do throws(FieldpackError) {
      try await commit([edit])
      edit.end(nil)
    } catch { edit.end(error) }
  }

  private func commit(_ edits: [Edit]) async throws(FieldpackError) {
    try await store.edit { (writer: GeoPackageWriter) throws(FieldpackError) in
      for edit in edits {
        // Some failures, such as that of a full disk, end the transaction.
        if let error = edit.make(writer), !writer.connection.isInTransaction { throw error }
      }
    }
  }
}
