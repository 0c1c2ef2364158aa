package import FieldpackCore
import FieldpackSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Counts what others commit to a store's file while somebody wants to know.
///
/// Until the store writes, a connection of its own looks for that; it holds no lock between two
/// looks. From then on the writer looks, which alone can tell its own commits from others'.
final class CommitWatch: Sendable {
  private struct State {
    var users = 0
    var count = 0
    /// Looks for commits until there is a writer.
    var observer: Connection?
    /// The state of the file is not known, so that the next look finds a commit.
    var isUnsure = false
    var hasWriter = false
    /// The store itself writes by another connection; nobody looks meanwhile.
    var suspensions = 0
    var identity: FileIdentity?
  }

  /// Which file a path led to.
  private struct FileIdentity: Equatable {
    let device: UInt64
    let inode: UInt64

    init?(_ path: String) {
      var information = stat()
      guard stat(path, &information) == 0 else { return nil }
      device = UInt64(information.st_dev)
      inode = UInt64(information.st_ino)
    }
  }

  private let path: String
  private let id: StoreID
  private let state: Locked<State>

  init(path: String, id: StoreID) {
    self.path = path
    self.id = id
    state = Locked(State())
  }

  /// Starts to look, from the state that the file is in now; gives the count so far.
  func begin() -> Int {
    state.withLock { state in
      state.users += 1
      if state.users == 1 {
        state.identity = FileIdentity(path)
        state.isUnsure = false
        if !state.hasWriter { observe(&state) }
      }
      return state.count
    }
  }

  /// To be called once for each `begin`.
  func end() {
    state.withLock { state in
      state.users -= 1
      if state.users == 0 { state.observer = nil }
    }
  }

  /// Opens the observer. A file that is locked is asked again at the next look.
  private func observe(_ state: inout State) {
    let connection = try? Connection(path: path, mode: .readOnly, busyTimeout: .zero)
    guard let connection, (try? connection.findsForeignCommits()) != nil else {
      state.isUnsure = true
      return
    }
    state.observer = connection
  }

  /// Looks with the observer, where there is one, and gives the count.
  ///
  /// - Throws: `.unavailable` where another file has taken the place of the store's.
  func look() throws(FieldpackError) -> Int {
    try state.withLock { (state) throws(FieldpackError) in
      guard state.identity == nil || state.identity == FileIdentity(path) else {
        throw FieldpackError(
          .unavailable,
          "the file of store '\(id)' is not the one that was opened: \(path) was replaced or "
            + "removed. Try: open the store again", location: .init(store: id))
      }
      find(&state)
      return state.count
    }
  }

  private func find(_ state: inout State) {
    guard state.users > 0, state.suspensions == 0, !state.hasWriter else { return }
    if state.isUnsure {
      observe(&state)
      if state.observer != nil {
        state.isUnsure = false
        state.count += 1
      }
    } else if let observer = state.observer, (try? observer.findsForeignCommits()) == true {
      // One that is locked is found at the next look.
      state.count += 1
    }
  }

  /// Looks for the last time before the writer does.
  func handOver() {
    state.withLock { state in
      find(&state)
      state.observer = nil
      state.hasWriter = true
    }
  }

  /// The writer is not to be had after all.
  func takeBack() {
    state.withLock { state in
      guard state.hasWriter else { return }
      state.hasWriter = false
      // What was committed in between is not known.
      if state.users > 0 { state.isUnsure = true }
    }
  }

  /// What the writer sees, when it has looked.
  func note(_ found: Bool) {
    state.withLock { state in
      if found, state.users > 0, state.suspensions == 0 { state.count += 1 }
    }
  }

  /// Looks a last time, and no more until ``resume()``.
  func suspend() {
    state.withLock { state in
      find(&state)
      state.suspensions += 1
    }
  }

  /// Looks again, but not at what has been committed since ``suspend()``.
  func resume() {
    state.withLock { state in
      _ = try? state.observer?.findsForeignCommits()
      state.suspensions -= 1
    }
  }

  func close() { state.withLock { $0.observer = nil } }
}

extension GeoPackageStore {
  /// Starts to count the commits of others to the file; gives the count so far.
  package func beginWatching() -> Int { watch.begin() }

  /// To be called once for each ``beginWatching()``.
  package func endWatching() { watch.end() }

  /// How many times commits of others were found, this time included.
  ///
  /// - Throws: `.unavailable` where the store is closed or its file replaced.
  package func foreignCommits() async throws(FieldpackError) -> Int {
    try await pools.lookForForeignCommits()
    return try watch.look()
  }

  /// Runs `body`, which changes the file by a connection of its own, and does not take that for a
  /// change of somebody else's.
  package func changingBeside<R: Sendable>(
    _ body: () async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await pools.lookForForeignCommits()
    watch.suspend()
    do throws(FieldpackError) {
      let result = try await body()
      try? await pools.lookForForeignCommits()
      watch.resume()
      return result
    } catch {
      try? await pools.lookForForeignCommits()
      watch.resume()
      throw error
    }
  }
}
