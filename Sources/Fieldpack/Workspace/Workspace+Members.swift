public import FieldpackCore
import FieldpackGeoPackage

/// The stores of a workspace, and what their configs say beside them.
struct MemberTable: Sendable {
  fileprivate(set) var members: [Workspace.Member]
  var config: WorkspaceConfig?
  var isClosed = false
  private var lastOpening = 0

  init(members: [Workspace.Member], config: WorkspaceConfig?) {
    self.members = members
    self.config = config
  }

  fileprivate func index(_ id: StoreID) -> Int? { members.firstIndex { $0.id == id } }

  /// Puts a store without anything open in the place of the one with its id, or at the end.
  ///
  /// - Returns: the member that was there, whose store is to be closed.
  fileprivate mutating func place(
    _ config: StoreConfig, _ state: StoreState
  ) -> Workspace.Member? {
    lastOpening += 1
    let new = Workspace.Member(config: config, state: state, opening: lastOpening)
    guard let index = index(config.id) else {
      members.append(new)
      return nil
    }
    defer { members[index] = new }
    return members[index]
  }

  /// Sets what became of a store.
  ///
  /// - Parameter opening: the opening that the outcome is of.
  /// - Returns: `false` where the store has been removed, replaced or opened anew meanwhile.
  fileprivate mutating func set(
    _ state: StoreState, _ store: (any Store)?, of id: StoreID, opening: Int
  ) -> Bool {
    guard !isClosed, let index = index(id), members[index].opening == opening else { return false }
    members[index] = Workspace.Member(
      config: members[index].config, store: store, state: state, opening: opening)
    return true
  }

  fileprivate mutating func remove(_ id: StoreID) -> Workspace.Member? {
    index(id).map { members.remove(at: $0) }
  }
}

extension Workspace {
  /// Adds a store and opens it. One of the same id is closed, and the new one takes its place.
  ///
  /// Queries on the store that is closed end with `.unavailable`.
  /// - Throws: what opening the store throws; it is then a member that failed. `.invalidArgument` for
  ///   more stores than ``WorkspaceConfig/maximumStores``, `.unavailable` in a workspace that is
  ///   closed.
  @discardableResult
  public func add(_ config: StoreConfig) async throws(FieldpackError) -> any Store {
    try await register(config)
    return try await start(config.id)
  }

  /// Closes the store of the config's id, and opens it anew by the config.
  ///
  /// - Throws: `.notFound` where the workspace has no such store, else as ``add(_:)``.
  @discardableResult
  public func update(_ config: StoreConfig) async throws(FieldpackError) -> any Store {
    _ = try member(config.id)
    return try await add(config)
  }

  /// Closes a store and takes it out of the workspace. Its file stays.
  ///
  /// - Throws: `.notFound` where the workspace has no such store.
  public func remove(_ id: StoreID) async throws(FieldpackError) {
    guard let member = table.withLock({ $0.remove(id) }) else { throw unknown(id) }
    await member.kept?.close()
  }

  // MARK: One step at a time

  /// Adds a store without opening it; one of the same id is closed and replaced.
  package func register(_ config: StoreConfig) async throws(FieldpackError) {
    let before = try table.withLock { (table) throws(FieldpackError) in
      guard !table.isClosed else { throw Self.closed(config.id) }
      guard table.index(config.id) != nil || table.members.count < WorkspaceConfig.maximumStores
      else {
        throw config.failure(
          .invalidArgument, "the workspace has \(table.members.count) stores, the most there can be"
        )
      }
      return table.place(config, .stopped)
    }
    await before?.kept?.close()
  }

  /// Opens a store that is not open; one that is paused is resumed.
  package func start(_ id: StoreID) async throws(FieldpackError) -> any Store {
    let member = try member(id)
    if let store = member.kept {
      _ = pause(id, false)
      return store
    }
    let opening = try await close(id, .opening)
    let found: any Store
    do throws(FieldpackError) {
      found = try await OpeningLog(member.config, context.logger).store {
        () async throws(FieldpackError) in try await registry.open(member.config, in: context)
      }
    } catch {
      _ = table.withLock { $0.set(.failed(error), nil, of: id, opening: opening) }
      throw error
    }
    observe(found)
    guard table.withLock({ $0.set(.open, found, of: id, opening: opening) }) else {
      await found.close()
      throw FieldpackError(
        .unavailable, "store '\(id)' was closed or replaced while it was opened",
        location: .init(store: id))
    }
    return found
  }

  /// Takes an open store into the queries, in the place of a member.
  package func open(_ store: any Store) async throws(FieldpackError) {
    let opening = try await close(store.id, .opening)
    _ = table.withLock { $0.set(.open, store, of: store.id, opening: opening) }
  }

  /// Closes a store, which stays a member.
  ///
  /// - Parameter state: what it does instead.
  package func stop(
    _ id: StoreID, as state: StoreState = .stopped
  ) async throws(FieldpackError) {
    _ = try await close(id, state)
  }

  /// - Returns: the number by which what becomes of the store is told.
  private func close(
    _ id: StoreID, _ state: StoreState
  ) async throws(FieldpackError) -> Int {
    let (before, opening) = try table.withLock { (table) throws(FieldpackError) -> (Member, Int) in
      guard !table.isClosed else { throw Self.closed(id) }
      guard let index = table.index(id) else { throw unknown(id, table) }
      let before = table.members[index]
      _ = table.place(before.config, state)
      return (before, table.members[index].opening)
    }
    await before.kept?.close()
    return opening
  }

  /// Takes a store out of the queries without closing it, or back into them.
  ///
  /// - Returns: whether that changed anything; only an open store is paused, only a paused one resumed.
  package nonisolated func pause(_ id: StoreID, _ isPaused: Bool = true) -> Bool {
    table.withLock { table in
      guard let index = table.index(id) else { return false }
      let member = table.members[index]
      switch (member.state, isPaused) {
      case (.open, true):
        return table.set(.paused, member.kept, of: id, opening: member.opening)
      case (.paused, false):
        return table.set(.open, member.kept, of: id, opening: member.opening)
      default: return false
      }
    }
  }

  /// Tells what a store that is closed does: that it downloads, or why it could not.
  package nonisolated func tell(_ state: StoreState, of member: Member) {
    _ = table.withLock { $0.set(state, nil, of: member.id, opening: member.opening) }
  }

  /// Tells the subscribers what a new version of a feed brought.
  package nonisolated func tell(_ changes: FeedChanges) { hub.publish(changes) }

  /// Replaces what the configs say beside the stores: forms, backend and diagnostics.
  package nonisolated func take(_ config: WorkspaceConfig) {
    table.withLock { $0.config = config }
  }

  // MARK: Errors

  /// The store's place in the workspace, in whatever state it is.
  ///
  /// - Throws: `.notFound`, listing the ids.
  package nonisolated func member(_ id: StoreID) throws(FieldpackError) -> Member {
    let table = table.withLock { $0 }
    guard let index = table.index(id) else { throw unknown(id, table) }
    return table.members[index]
  }

  private nonisolated func unknown(_ id: StoreID) -> FieldpackError {
    unknown(id, table.withLock { $0 })
  }

  private nonisolated func unknown(_ id: StoreID, _ table: MemberTable) -> FieldpackError {
    let known = table.members.map(\.id.rawValue).joined(separator: ", ")
    return FieldpackError(
      .notFound,
      "store '\(id)' is not in the workspace (it has: \(known.isEmpty ? "none" : known))",
      location: .init(store: id))
  }

  private static func closed(_ id: StoreID) -> FieldpackError {
    FieldpackError(
      .unavailable, "the workspace of store '\(id)' is closed", location: .init(store: id))
  }
}

extension Workspace.Member {
  /// Whether a query on all stores tells that this one does not answer: not where somebody wanted it
  /// closed.
  var isMissed: Bool {
    switch state {
    case .open, .stopped, .notAsked: false
    case .opening, .paused, .downloading, .downloadFailed, .failed: true
    }
  }

  /// Why the store does not answer.
  var silence: FieldpackError {
    if let error = state.error { return error }
    let what =
      switch state {
      case .opening: "is being opened"
      case .paused: "is paused"
      case .downloading: "is being downloaded"
      case .notAsked: "is closed: the workspace was opened for other stores only"
      default: "is stopped"
      }
    return FieldpackError(.unavailable, "store '\(id)' \(what)", location: .init(store: id))
  }
}
