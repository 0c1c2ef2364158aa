#if PostGIS
  package import Fieldpack
  package import FieldpackCore
  import FieldpackField

  extension PostGISStore: ListeningStore {
    /// How long a server that cannot be reached is left alone.
    static let backOff = BackOff(first: .milliseconds(500), limit: .seconds(30))

    /// Tells what is committed to the logged layers, until the task is cancelled.
    ///
    /// The server notifies of commits, and the logs tell which features they changed. After the loss of a
    /// connection the logs are read on from where they were known, so that nothing is missed.
    package func listen(
      _ tell: @Sendable (ListeningEvent) -> Void
    ) async throws(FieldpackError) {
      ownTransactions.withLock { $0 = $0 ?? [] }
      var known: [LayerID: Int64]?
      try await hearCommits { () async throws(FieldpackError) in
        guard let before = known else {
          known = try await positions()
          return tell(.begun)
        }
        let (changes, positions) = try await changes(after: before)
        if !changes.runs.isEmpty { tell(.changed(changes)) }
        known = positions
      }
    }

    /// Calls `heard` once it listens, and whenever something is committed to the logged layers, until the task
    /// is cancelled or the store is closed. After the loss of a connection it listens again.
    func hearCommits(
      _ heard: () async throws(FieldpackError) -> Void
    ) async throws(FieldpackError) {
      var failures = 0
      while !Task.isCancelled, !pool.isClosed {
        do throws(FieldpackError) {
          let actor = try PostgresActor()
          try await actor.connect(pool.address, limits: pool.limits)
          try await actor.run { (connection) throws(FieldpackError) in
            _ = try connection.execute("LISTEN \(LogTables.channel)")
          }
          // What was committed while nobody listened.
          try await heard()
          failures = 0
          while !Task.isCancelled, !pool.isClosed {
            let told = try await actor.run { (connection) throws(FieldpackError) in
              try connection.notifications(within: .milliseconds(500))
            }
            if !told.isEmpty { try await heard() }
          }
        } catch {
          if Task.isCancelled || pool.isClosed { return }
          guard error.code == .unavailable || error.code == .busy else { throw error }
          failures += 1
          try? await Task.sleep(for: Self.backOff.pause(after: failures))
        }
      }
    }

    private func positions() async throws(FieldpackError) -> [LayerID: Int64] {
      try await changing { (snapshot) throws(FieldpackError) in
        var positions: [LayerID: Int64] = [:]
        for log in try PostGISLog.all(snapshot.catalogue, snapshot.scope, snapshot.connection) {
          positions[log.layer] = try log.givePositions()
        }
        return positions
      }
    }

    /// What the logs have after positions. A layer that was not logged before is told from its first edit
    /// on.
    private func changes(
      after known: [LayerID: Int64]
    ) async throws(FieldpackError) -> (ChangeLog, [LayerID: Int64]) {
      let own = ownTransactions.withLock { $0 ?? [] }
      return try await changing { (snapshot) throws(FieldpackError) in
        var (changes, positions) = (ChangeLog(), known)
        for log in try PostGISLog.all(snapshot.catalogue, snapshot.scope, snapshot.connection) {
          positions[log.layer] = try log.givePositions()
          try log.tell(after: known[log.layer] ?? 0, leavingOut: own, to: &changes)
        }
        return (changes, positions)
      }
    }
  }

  extension PostGISLog {
    /// So many edits of a layer are told one by one; of more only the layer is told.
    private static let mostTold = 4_096

    fileprivate func tell(
      after position: Int64, leavingOut own: [Int64], to changes: inout ChangeLog
    ) throws(FieldpackError) {
      let rows = try connection.execute(
        "SELECT \(shape.own(.operation)), \(shape.feature)::int8, "
          + "\(shape.own(.transaction))::text::int8 FROM \(shape.log) "
          + "WHERE \(shape.own(.position)) > $1 ORDER BY \(shape.own(.position)) LIMIT $2",
        [.integer(position), .integer(Int64(Self.mostTold + 1))])
      guard rows.count <= Self.mostTold else { return changes.note(layer) }
      for row in 0..<rows.count {
        guard let feature = rows.integer(row, 1), let transaction = rows.integer(row, 2),
          !own.contains(transaction)
        else { continue }
        let kind: ChangeLog.Kind =
          switch rows.integer(row, 0) {
          case 1: .created
          case 3: .deleted
          default: .updated
          }
        changes.note(kind, .integer(feature), in: layer)
      }
    }
  }
#endif
