import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Makes the edits of many requests.
///
/// The edits that come in while the disk is written are committed together, because a commit takes longer
/// than the edits themselves. Each edit still happens as a whole or not at all, and is on the disk before
/// its client has the answer.
///
/// No actor, because each edit would have to wait for a thread of the actor.
final class EditQueue: Sendable {
  typealias Body<R> = @Sendable (GeoPackageWriter) throws(FieldpackError) -> R

  private struct Edit: Sendable {
    /// How many features the edit makes.
    let weight: Int
    /// Makes the edit in a savepoint, and keeps the result; returns the error of an edit that failed.
    let make: @Sendable (GeoPackageWriter) -> FieldpackError?
    /// Called once the edit is committed, or with the reason why it is not.
    let end: @Sendable (FieldpackError?) -> Void
  }

  private struct State {
    var waiting: [Edit] = []
    /// Whether a task makes the edits that wait.
    var isWriting = false
  }

  private let store: GeoPackageStore
  private let state = Locked(State())
  private static let mostTogether = 100
  /// The most features of one commit, unless a single edit makes more.
  private static let mostFeatures = 1000
  /// How often, and how many microseconds at a time, a commit waits for more edits.
  private static let (pauses, pause) = (4, UInt32(50))

  init(of store: GeoPackageStore) { self.store = store }

  /// How many edits wait for the next commit.
  var count: Int { state.withLock { $0.waiting.count } }

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
      add(
        Edit(weight: weight) { writer in
          let made = Result { () throws(FieldpackError) in
            try writer.wholeRows { () throws(FieldpackError) in try body(writer) }
          }
          outcome.withLock { $0 = made }
          if case .failure(let error) = made { return error }
          return nil
        } end: { failure in
          // The answer to many features takes long, and other clients wait behind it.
          guard weight == 1 else { return continuation.resume(returning: failure) }
          StartingExecutor.goOn { continuation.resume(returning: failure) }
        })
    }
    if let failure { throw failure }
    guard let made = outcome.withLock({ $0 }) else {
      throw FieldpackError(.unavailable, "the edit was not made")
    }
    return try made.get()
  }

  private func add(_ edit: Edit) {
    let isFirst = state.withLock { state in
      state.waiting.append(edit)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if isFirst { Task { await write() } }
  }

  /// The edits of the next commit.
  private func takeNext() -> [Edit] {
    state.withLock { state in
      var (count, weight) = (0, 0)
      for edit in state.waiting.prefix(Self.mostTogether) {
        weight += edit.weight
        guard count == 0 || weight <= Self.mostFeatures else { break }
        count += 1
      }
      defer { state.waiting.removeFirst(count) }
      return Array(state.waiting.prefix(count))
    }
  }

  /// Waits a little until as many edits are there as the last commit had: their clients have just got their
  /// answers, and send the next edits now. One commit of all takes less than one for the first of them and
  /// one for the others. A client that is alone never waits.
  private func wait(for expected: Int) {
    for _ in 0..<Self.pauses where count < expected { usleep(Self.pause) }
  }

  /// Makes edits until none waits.
  private func write() async {
    var expected = 1
    repeat {
      let taken = Locked<[Edit]>([])
      var failure: FieldpackError?
      do throws(FieldpackError) {
        try await commit { [expected] in
          self.wait(for: expected)
          let edits = self.takeNext()
          taken.withLock { $0 = edits }
          return edits
        }
      } catch { failure = error }
      var edits = taken.withLock { $0 }
      expected = edits.count
      if failure?.code == .constraint, edits.count > 1 {
        // One of the edits has broken a rule that SQLite checks only at the end of a transaction.
        for edit in edits { await writeAlone(edit) }
      } else {
        // Where no transaction could begin, the edits have not been taken yet.
        if edits.isEmpty { edits = takeNext() }
        for edit in edits { edit.end(failure) }
      }
    } while goesOn()
  }

  /// Whether more edits wait; else the next edit begins a new task.
  private func goesOn() -> Bool {
    state.withLock { state in
      state.isWriting = !state.waiting.isEmpty
      return state.isWriting
    }
  }

  private func writeAlone(_ edit: Edit) async {
    do throws(FieldpackError) {
      try await commit { [edit] }
      edit.end(nil)
    } catch { edit.end(error) }
  }

  private func commit(_ next: @Sendable () -> [Edit]) async throws(FieldpackError) {
    try await store.edit { (writer: GeoPackageWriter) throws(FieldpackError) in
      for edit in next() {
        // Some failures, such as that of a full disk, end the transaction.
        if let error = edit.make(writer), !writer.connection.isInTransaction { throw error }
      }
    }
  }
}
