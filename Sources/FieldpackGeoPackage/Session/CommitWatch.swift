package import FieldpackCore
import FieldpackSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Counts the commits of others to a store's file, for each watcher.
///
/// Until the store writes, an observer looks for commits: a connection of its own that holds no
/// lock between two looks. From the store's first write on its writer looks, because a connection
/// tells only its own commits from those of others.
package final class CommitWatch: Sendable {
  struct Watcher {
    var count = 0
    /// A connection that knows the file as it was when watching began; kept until the writer has
    /// looked.
    var start: Connection?
  }

  /// A change that the store makes by a connection other than its writer.
  struct Change {
    /// A connection that knows the file as it was before the change waited for the lock.
    var witness: Connection?
    var hasLocked = false

    func findsCommits() -> Bool { (try? witness?.findsForeignCommits()) == true }
  }

  struct State {
    var watchers: [Int: Watcher] = [:]
    var last = 0
    /// The connection that looks for commits until there is a writer.
    var observer: Connection?
    /// Whether the observer does not know the state of the file; the next look then counts a
    /// commit.
    var isUnsure = false
    var hasWriter = false
    var isClosed = false
    /// The changes beside the writer that wait for the lock or hold it, by their numbers.
    var beside: [Int: Change] = [:]
    /// The number of changes beside the writer that hold the lock; nobody looks meanwhile.
    var suspensions = 0
    var identity: FileIdentity?
    /// How many commits of the store changed each layer.
    var own: [SQLName: Int] = [:]
    /// How many commits of the store changed layers that are not known.
    var ownOfAny = 0
    /// Who is told what the store commits.
    var observers: [@Sendable (ChangeLog) -> Void] = []

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

  /// Starts to count commits that come after the current state of the file; gives the watcher's
  /// number.
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

  /// Ends what ``begin()`` began; call it once for each watcher.
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

  /// Gives each change that waits for the lock a witness: others may commit before the change gets
  /// the lock, and the writer would find that only later.
  private func witness(_ state: inout State) {
    guard !state.isClosed else { return }
    for (number, change) in state.beside where !change.hasLocked && change.witness == nil {
      state.beside[number]?.witness = reader()
    }
  }

  /// Opens the observer. Where the file is locked, the next look tries again.
  private func observe(_ state: inout State) {
    guard !state.isClosed else { return }
    state.observer = reader()
    state.isUnsure = state.observer == nil
  }

  /// Looks once more, by the observer where there is one, and gives the watcher's count.
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
      // A commit that still holds the lock is found at the next look.
      state.countCommit()
    }
  }

  /// Looks by the observer for the last time; from now on the writer looks.
  func handOver() {
    state.withLock { state in
      // The witness comes before the look: count a commit twice rather than miss it.
      if !state.watchers.isEmpty { witness(&state) }
      if state.suspensions == 0 { find(&state) }
      state.observer = nil
      state.hasWriter = true
    }
  }

  /// Gives the looking back to the observer, after a writer that could not be opened.
  func takeBack() {
    state.withLock { state in
      guard state.hasWriter else { return }
      state.hasWriter = false
      // Nobody looked in between.
      if !state.watchers.isEmpty { state.isUnsure = true }
    }
  }

  /// Whether a watcher began after the writer's last look. The writer must look again before it
  /// changes anything.
  var awaitsWriter: Bool {
    state.withLock { state in state.watchers.values.contains { $0.start != nil } }
  }

  /// Whether the witness of a waiting change would count the writer's own commits as those of
  /// others.
  var awaitsOwnCommits: Bool {
    state.withLock { state in
      state.beside.values.contains { !$0.hasLocked && $0.witness != nil }
    }
  }

  /// Counts a look of the writer.
  ///
  /// - Parameter finds: makes the writer look; tells whether it found commits of others.
  private func note(_ finds: () -> Bool) {
    state.withLock { state in
      let counts = state.suspensions == 0
      // The witnesses look before the writer: count a commit twice rather than miss it.
      if counts { for change in state.beside.values { _ = change.findsCommits() } }
      let isFound = finds()
      for (number, watcher) in state.watchers {
        // The watcher's own connection looks after the writer, for the same reason.
        let isNew = watcher.start.map { (try? $0.findsForeignCommits()) != false } ?? true
        state.watchers[number]?.start = nil
        if isFound, counts, isNew { state.watchers[number]?.count += 1 }
      }
    }
  }

  /// Has the writer look. A file that is locked is looked at the next time.
  func note(_ writer: Connection) { note { (try? writer.findsForeignCommits()) == true } }

  // MARK: The store's other connections

  /// Announces a change beside the writer; gives the change's number. Call it before the change
  /// waits for the file's lock and before the writer looks.
  func beginBeside() -> Int {
    state.withLock { state in
      let isWatched = state.hasWriter && !state.watchers.isEmpty && !state.isClosed
      state.last += 1
      state.beside[state.last] = Change(witness: isWatched ? reader() : nil)
      return state.last
    }
  }

  /// Looks a last time, then no more until ``endBeside(_:)``. Call it each time that the change has
  /// got the lock: from then on nobody else can commit.
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

  /// Ends a change beside the writer. The commits since ``suspend(for:)`` are not counted.
  func endBeside(_ number: Int) {
    state.withLock { state in
      guard let change = state.beside.removeValue(forKey: number), change.hasLocked else { return }
      _ = try? state.observer?.findsForeignCommits()
      for other in state.beside.values { _ = other.findsCommits() }
      state.suspensions -= 1
    }
  }

  /// Tells the observers what the store has committed.
  package func tell(_ log: ChangeLog) {
    guard !log.runs.isEmpty else { return }
    for observer in state.withLock({ $0.observers }) { observer(log) }
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

  /// Ends what ``beginWatching()`` began; call it once for each watcher.
  package func endWatching(_ watcher: Int) { watch.end(watcher) }

  /// Looks for commits of others; gives how many looks so far have found some for the watcher.
  ///
  /// - Throws: `.unavailable` where the store is closed or its file replaced.
  package func foreignCommits(_ watcher: Int) async throws(FieldpackError) -> Int {
    try await pools.lookForForeignCommits()
    return try watch.look(for: watcher)
  }

  /// Runs `body`, which changes the file by a connection of its own; watchers do not count this
  /// change.
  ///
  /// - Parameter body: must call its argument each time that it has got the file's lock.
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
