#if PostGIS
  package import FieldpackCore

  /// The connections to one database, which are made when they are needed.
  ///
  /// A visitor that finds all connections in use waits for a time, then is told `.busy`. A connection that
  /// the server has closed meanwhile is replaced.
  package final class PostgresPool: Sendable {
    package let address: PostgresAddress
    package let limits: PostgresLimits
    private let queue: PostgresQueue

    package init(_ address: PostgresAddress, limits: PostgresLimits = PostgresLimits()) {
      self.address = address
      self.limits = limits
      queue = PostgresQueue(maximum: max(1, limits.connections))
    }

    deinit {
      let queue = queue
      Task { await queue.close() }
    }

    static let closedError = FieldpackError(.unavailable, "the store is closed")

    /// Runs `body` on a connection; a transaction that it leaves open is rolled back.
    package func run<R: Sendable>(
      _ body: @Sendable (PostgresConnection) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      let lease = try await lease()
      do throws(FieldpackError) {
        let value = try await lease.run(body)
        await lease.release()
        return value
      } catch {
        await lease.release()
        throw error
      }
    }

    /// A connection for several visits, between which its transaction stays open.
    func lease() async throws(FieldpackError) -> PostgresLease {
      while true {
        switch await queue.claim(within: limits.waiting) {
        case .connection(let actor):
          if await actor.isHealthy(trusted: limits.trusted) {
            return PostgresLease(actor, of: queue)
          }
          await actor.close()
          queue.drop()
        case .opening:
          return PostgresLease(try await open(), of: queue)
        case .cancelled: throw FieldpackError(.interrupted, "interrupted")
        case .closed: throw Self.closedError
        case .late:
          throw FieldpackError(
            .busy,
            "all \(limits.connections) connections to \(address.shown) are in use. Try: again later, "
              + "or the option 'connections' of the store")
        }
      }
    }

    private func open() async throws(FieldpackError) -> PostgresActor {
      do throws(FieldpackError) {
        let actor = try PostgresActor()
        try await actor.connect(address, limits: limits)
        return actor
      } catch {
        queue.drop()
        throw error
      }
    }

    /// Turns waiting visitors away and closes all connections, those in use when they come back.
    package func close() async { await queue.close() }

    package var isClosed: Bool { queue.isClosed }
  }

  /// A connection taken for several visits; `release()` gives it back, or the end of the last reference.
  final class PostgresLease: Sendable {
    private let actor: PostgresActor
    private let queue: PostgresQueue
    private let isReleased = Locked(false)

    init(_ actor: PostgresActor, of queue: PostgresQueue) {
      self.actor = actor
      self.queue = queue
    }

    deinit {
      guard !isReleased.withLock({ $0 }) else { return }
      let (actor, queue) = (actor, queue)
      Task { await Self.giveBack(actor, to: queue) }
    }

    func run<R: Sendable>(
      _ body: @Sendable (PostgresConnection) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      guard !queue.isClosed, !isReleased.withLock({ $0 }) else { throw PostgresPool.closedError }
      return try await actor.run(body)
    }

    /// Rolls back the connection's transaction and gives it back; later visits fail.
    func release() async {
      let isFirst = isReleased.withLock { isReleased in
        defer { isReleased = true }
        return !isReleased
      }
      if isFirst { await Self.giveBack(actor, to: queue) }
    }

    private static func giveBack(_ actor: PostgresActor, to queue: PostgresQueue) async {
      if await actor.rest() { return queue.release(actor) }
      await actor.close()
      queue.drop()
    }
  }
#endif
