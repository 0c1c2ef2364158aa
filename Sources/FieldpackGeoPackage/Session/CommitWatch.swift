package import FieldpackCore
import FieldpackSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Counts what others commit to a store's file, for each that wants to know.
///
/// Until the store writes, a connection of its own looks for that; it holds no lock between two
/// looks. From then on the writer looks, which alone can tell its own commits from others'.
package final class CommitWatch: Sendable {
  struct Watcher {
    var count = 0
    /// Knows the file as it was when watching began, until the writer has looked.
    var start: Connection?
  }

  /// A change by another connection of the store's.
  struct Change {
    /// Knows the file as it was before the change waited for the lock.
    var witness: Connection?
    var hasLocked = false

    func findsCommits() -> Bool { (try? witness?.findsForeignCommits()) == true }
  }

  struct State {
    var watchers: [Int: Watcher] = [:]
    var last = 0
    /// Looks for commits until there is a writer.
    var observer: Connection?
    /// The state of the file is not known, so that the next look finds a commit.
    var isUnsure = false
    var hasWriter = false
    var isClosed = false
    /// What waits for the lock, or has it.
    var beside: [Int: Change] = [:]
    /// The store itself writes by another connection; nobody looks meanwhile.
    var suspensions = 0
    var identity: FileIdentity?
    /// The store's own commits, by the layers that they changed.
    var own: [SQLName: Int] = [:]
    /// Those of which the layers are not known.
    var ownOfAny = 0

    mutating func countCommit() { for number in watchers.keys { watchers[number]?.count += 1 } }
  }

  private let path: String
  private let id: StoreID
  let state: Locked<State>

  init(path: String, id: StoreID) {
    self.path = path
    self.id = id
    state = Locked(State())
  }

  /// Starts to look, from the state that the file is in now; gives the watcher's number.
  func begin() -> Int {
    state.withLock { state in
      var watcher = Watcher()
      if state.watchers.isEmpty {
        state.identity = FileIdentity(path)
        state.isUnsure = false
        if !state.hasWriter { observe(&state) }
      } else if state.suspensions == 0 {
        find(&state)
      }
      if state.hasWriter, !state.isClosed { watcher.start = reader() }
      if state.hasWriter { witness(&state) }
      state.last += 1
      state.watchers[state.last] = watcher
      return state.last
    }
  }

  /// To be called once for each `begin`.
  func end(_ number: Int) {
    state.withLock { state in
      state.watchers[number] = nil
      if state.watchers.isEmpty { state.observer = nil }
    }
  }

  /// A connection that knows the file as it is now; `nil` where the file is locked.
  private func reader() -> Connection? {
    let connection = try? Connection(path: path, mode: .readOnly, busyTimeout: .zero)
    guard let connection, (try? connection.findsForeignCommits()) != nil else { return nil }
    return connection
  }

  /// Has each change that waits for the lock know the file, where the writer alone would not find in
  /// time what others commit meanwhile.
  private func witness(_ state: inout State) {
    guard !state.isClosed else { return }
    for (number, change) in state.beside where !change.hasLocked && change.witness == nil {
      state.beside[number]?.witness = reader()
    }
  }

  /// Opens the observer. A file that is locked is asked again at the next look.
  private func observe(_ state: inout State) {
    guard !state.isClosed else { return }
    state.observer = reader()
    state.isUnsure = state.observer == nil
  }

  /// Looks with the observer, where there is one, and gives the watcher's count.
  ///
  /// - Throws: `.unavailable` where another file has taken the place of the store's.
  func look(for number: Int) throws(FieldpackError) -> Int {
    try state.withLock { (state) throws(FieldpackError) in
      guard state.identity == nil || state.identity == FileIdentity(path) else {
        throw FieldpackError(
          .unavailable,
          "the file of store '\(id)' is not the one that was opened: \(path) was replaced or "
            + "removed. Try: open the store again", location: .init(store: id))
      }
      if state.suspensions == 0 { find(&state) }
      return state.watchers[number]?.count ?? 0
    }
  }

  private func find(_ state: inout State) {
    guard !state.watchers.isEmpty, !state.hasWriter else { return }
    if state.isUnsure {
      observe(&state)
      if state.observer != nil { state.countCommit() }
    } else if let observer = state.observer, (try? observer.findsForeignCommits()) == true {
      // One that is locked is found at the next look.
      state.countCommit()
    }
  }

  /// Looks for the last time before the writer does.
  func handOver() {
    state.withLock { state in
      // Before the look: what is committed between the two is found twice, and not never.
      if !state.watchers.isEmpty { witness(&state) }
      if state.suspensions == 0 { find(&state) }
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
      if !state.watchers.isEmpty { state.isUnsure = true }
    }
  }

  /// Whether a watcher began since the writer has looked, which is to look before it changes
  /// anything then.
  var awaitsWriter: Bool {
    state.withLock { state in state.watchers.values.contains { $0.start != nil } }
  }

  /// Whether a change that waits for the lock would take the writer's commits for others'.
  var awaitsOwnCommits: Bool {
    state.withLock { state in
      state.beside.values.contains { !$0.hasLocked && $0.witness != nil }
    }
  }

  /// Has the writer look.
  ///
  /// - Parameter finds: whether it finds commits of others.
  private func note(_ finds: () -> Bool) {
    state.withLock { state in
      let counts = state.suspensions == 0
      // Before the writer: what is committed between the two looks is found twice, and not never.
      if counts { for change in state.beside.values { _ = change.findsCommits() } }
      let isFound = finds()
      for (number, watcher) in state.watchers {
        // Behind the writer, for the same reason.
        let isNew = watcher.start.map { (try? $0.findsForeignCommits()) != false } ?? true
        state.watchers[number]?.start = nil
        if isFound, counts, isNew { state.watchers[number]?.count += 1 }
      }
    }
  }

  /// Has the writer look; a file that is locked is looked at again the next time.
  func note(_ writer: Connection) { note { (try? writer.findsForeignCommits()) == true } }

  // MARK: The store's other connections

  /// To be called before a change waits for the file's lock, and before the writer looks; gives the
  /// change's number.
  func beginBeside() -> Int {
    state.withLock { state in
      let isWatched = state.hasWriter && !state.watchers.isEmpty && !state.isClosed
      state.last += 1
      state.beside[state.last] = Change(witness: isWatched ? reader() : nil)
      return state.last
    }
  }

  /// Looks a last time, and no more until ``endBeside(_:)``. To be called each time that the change
  /// has got the lock, from when on nobody else commits.
  func suspend(for number: Int) {
    state.withLock { state in
      guard let change = state.beside[number] else { return }
      if state.suspensions == (change.hasLocked ? 1 : 0) {
        find(&state)
        if change.findsCommits() { state.countCommit() }
      }
      if !change.hasLocked { state.suspensions += 1 }
      state.beside[number]?.hasLocked = true
    }
  }

  /// Looks again, but not at what has been committed since ``suspend(for:)``.
  func endBeside(_ number: Int) {
    state.withLock { state in
      guard let change = state.beside.removeValue(forKey: number), change.hasLocked else { return }
      _ = try? state.observer?.findsForeignCommits()
      for other in state.beside.values { _ = other.findsCommits() }
      state.suspensions -= 1
    }
  }

  func close() {
    state.withLock { state in
      state.isClosed = true
      state.observer = nil
      for number in state.watchers.keys { state.watchers[number]?.start = nil }
      for number in state.beside.keys { state.beside[number]?.witness = nil }
    }
  }
}

extension GeoPackageStore {
  /// Starts to count the commits of others to the file; gives the watcher's number.
  package func beginWatching() -> Int { watch.begin() }

  /// To be called once for each ``beginWatching()``.
  package func endWatching(_ watcher: Int) { watch.end(watcher) }

  /// How many times commits of others were found for a watcher, this time included.
  ///
  /// - Throws: `.unavailable` where the store is closed or its file replaced.
  package func foreignCommits(_ watcher: Int) async throws(FieldpackError) -> Int {
    try await pools.lookForForeignCommits()
    return try watch.look(for: watcher)
  }

  /// Runs `body`, which changes the file by a connection of its own, and does not take that for a
  /// change of somebody else's.
  ///
  /// - Parameter body: calls what it is given whenever it has got the file's lock.
  package func changingBeside<R: Sendable>(
    _ body: (_ didLock: @escaping @Sendable () -> Void) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let watch = watch
    let change = watch.beginBeside()
    defer {
      watch.endBeside(change)
      watch.noteOwn(nil)
    }
    try await pools.lookForForeignCommits()
    let result: Result<R, FieldpackError>
    do throws(FieldpackError) {
      result = .success(try await body { watch.suspend(for: change) })
    } catch {
      result = .failure(error)
    }
    try? await pools.lookForForeignCommits()
    return try result.get()
  }
}
