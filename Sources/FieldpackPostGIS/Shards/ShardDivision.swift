#if PostGIS
  import FieldpackCore

  /// The work of dividing or balancing one layer, on the thread of the connection that holds the lock.
  struct ShardDivision {
    private let sharding: Sharding
    private let sql: ShardSQL
    private let own: PostgresConnection
    private let connections: ShardConnections

    private var table: ShardTable { sql.table }

    init(_ sharding: Sharding, _ sql: ShardSQL, _ own: PostgresConnection) {
      self.sharding = sharding
      self.sql = sql
      self.own = own
      connections = ShardConnections(own, sharding.store.servers, sharding.store.pool.limits)
    }

    // MARK: Dividing

    func divide(
      _ layer: PostGISLayer, _ planned: Sharding.Report
    ) throws(FieldpackError) -> Sharding.Report {
      var report = planned
      let plan = report.plan
      try dropLeftovers(keeping: [], on: plan.servers)
      try make(plan.parts)
      let columns = table.columnNames
      var rows = ShardRows()
      var router = try ShardRouter(
        plan.parts, of: table.schema, columns: [ShardSQL.hilbert] + columns, connections)
      let fields = ([ShardRows.sides(of: table.geometry)] + columns).joined(separator: ", ")
      let reader = try connections.reader(nil)
      try reader.copyOut("COPY (SELECT \(fields) FROM \(layer.table)) TO STDOUT (FORMAT binary)") {
        (bytes) throws(FieldpackError) in
        try rows.read(bytes) { (count, envelope, rest) throws(FieldpackError) in
          let number = sql.key.number(envelope)
          try router.add(number) { row in
            row.append(big: Int16(clamping: count + 1))
            row.append(big: Int32(8))
            row.append(big: number)
            row.append(contentsOf: rest)
          }
          if router.count % 50_000 == 0 { sharding.progress?(router.count) }
        }
      }
      try router.finish()
      report.copiedCount = router.count
      try sharding.told(.copied)
      try complete(plan.parts)
      var found = ShardDigest()
      for part in plan.parts {
        let digest = try digest(of: part)
        found = found + digest
        if let index = report.plan.parts.firstIndex(of: part) {
          report.plan.parts[index].count = digest.count
        }
      }
      try compare(ShardDigest.read(layer.table, columns, on: reader), found)
      try sharding.told(.verified)
      try connections.endReaders()
      try show(
        { () throws(FieldpackError) in
          try own.executeAll(try sql.links())
          try own.executeAll(try sql.replace(by: plan))
        }, end: {})
      return report
    }

    private func make(_ parts: [ShardPart]) throws(FieldpackError) {
      for part in parts {
        let connection = try connections.writer(part.server)
        do throws(FieldpackError) { try connection.executeAll(try sql.make(part)) } catch {
          throw error.of(server: part.server)
        }
      }
      try sharding.told(.made)
    }

    private func complete(_ parts: [ShardPart]) throws(FieldpackError) {
      for part in parts {
        let connection = try connections.writer(part.server)
        do throws(FieldpackError) { try connection.executeAll(try sql.complete(part)) } catch {
          throw error.of(server: part.server)
        }
      }
    }

    private func digest(of part: ShardPart) throws(FieldpackError) -> ShardDigest {
      let connection = try connections.writer(part.server)
      do throws(FieldpackError) {
        return try ShardDigest.read(
          try table.quoted(part.table), table.columnNames, on: connection)
      } catch { throw error.of(server: part.server) }
    }

    private func compare(_ old: ShardDigest, _ new: ShardDigest) throws(FieldpackError) {
      guard old != new else { return }
      throw FieldpackError(
        .corrupt,
        "the copy has \(new.count) rows with the digest \(new.sum), the layer \(old.count) with "
          + "\(old.sum); nothing was changed")
    }

    /// Commits the new parts, lets the store's server show them, and ends the work. Nobody can cancel that:
    /// it would leave parts that no layer has.
    ///
    /// - Parameter end: what is done behind the switch.
    private func show(
      _ statements: () throws(FieldpackError) -> Void, end: () throws(FieldpackError) -> Void
    ) throws(FieldpackError) {
      try own.withoutCancelling { () throws(FieldpackError) in
        try connections.commitWriters()
        try sharding.told(.committed)
        try statements()
        try own.commit("the layer was changed")
        try sharding.told(.switched)
        try end()
        try sharding.told(.dropped)
      }
    }

    // MARK: Balancing

    func balance(_ layout: ShardLayout, _ pieces: Int) throws(FieldpackError) -> Sharding.Report {
      let old = layout.plan
      let names: [String?] = old.servers + sharding.names
      try dropLeftovers(keeping: layout.parts, on: names)
      let sample = try sample(layout.parts)
      let plan = old.rebalanced(table.name, servers: sharding.names, pieces: pieces, sample)
      var report = Sharding.Report(plan: plan, key: layout.key)
      let (new, gone) = (plan.parts(notIn: old), old.parts(notIn: plan))
      guard !new.isEmpty else {
        try own.execute("COMMIT")
        return report
      }
      for part in gone { try lock(part) }
      try make(new)
      for part in new {
        report.copiedCount += try copy(part, from: gone)
        sharding.progress?(report.copiedCount)
      }
      try sharding.told(.copied)
      try complete(new)
      for part in new { try verify(part, from: gone) }
      try sharding.told(.verified)
      try show(
        { () throws(FieldpackError) in
          try own.executeAll(try sql.links())
          for part in gone { try own.executeAll(try sql.detach(part, from: table.name)) }
          for part in new { try own.execute(try sql.attach(part, to: table.name)) }
        },
        end: { () throws(FieldpackError) in
          report.notes += try drop(gone)
          try connections.endReaders()
        })
      return report
    }

    /// Drops old parts at other servers; those of the store's server went with the switch.
    ///
    /// - Returns: which of them are still there.
    private func drop(_ parts: [ShardPart]) throws(FieldpackError) -> [Note] {
      var notes: [Note] = []
      for part in parts where part.server != nil {
        let drop = "DROP TABLE \(try table.quoted(part.table))"
        do throws(FieldpackError) { try connections.reader(part.server).execute(drop) } catch {
          notes.append(
            Note(
              "the old part '\(part.table)' is still there: \(error.of(server: part.server).message)"
            ))
        }
      }
      return notes
    }

    /// Nobody writes to the part until the end of the transaction.
    private func lock(_ part: ShardPart) throws(FieldpackError) {
      let connection = part.server == nil ? own : try connections.reader(part.server)
      do throws(FieldpackError) {
        try connection.execute("LOCK TABLE \(try table.quoted(part.table)) IN SHARE MODE")
      } catch { throw error.of(server: part.server) }
    }

    /// The connection that reads an old part.
    private func reading(_ part: ShardPart) throws(FieldpackError) -> PostgresConnection {
      part.server == nil ? try connections.ownReader() : try connections.reader(part.server)
    }

    private func copy(_ new: ShardPart, from old: [ShardPart]) throws(FieldpackError) -> Int {
      let names = (table.columnNames + [ShardSQL.hilbert]).joined(separator: ", ")
      let into = "COPY \(try table.quoted(new.table)) (\(names)) FROM STDIN (FORMAT binary)"
      let writer = try connections.writer(new.server)
      var count = 0
      for part in old where part.range.overlaps(new.range) {
        let out =
          "COPY (SELECT \(names) FROM \(try table.quoted(part.table))"
          + "\(ShardDigest.condition(new.range))) TO STDOUT (FORMAT binary)"
        let reader = try reading(part)
        do throws(FieldpackError) {
          count += try writer.copyIn(into) { (copy) throws(FieldpackError) in
            try reader.copyOut(out) { (bytes) throws(FieldpackError) in try copy.write(bytes) }
          }
        } catch { throw error.of(server: new.server) }
      }
      return count
    }

    private func verify(_ new: ShardPart, from old: [ShardPart]) throws(FieldpackError) {
      var expected = ShardDigest()
      for part in old where part.range.overlaps(new.range) {
        expected =
          try expected
          + ShardDigest.read(
            table.quoted(part.table), table.columnNames, in: new.range, on: reading(part))
      }
      try compare(expected, try digest(of: new))
    }

    /// Where the features of a divided layer are.
    private func sample(_ parts: [ShardPart]) throws(FieldpackError) -> ShardSample {
      var totals: [Int] = []
      for part in parts {
        totals.append(try ShardArea.count(table.quoted(part.table), on: reading(part)))
      }
      let total = totals.reduce(0, +)
      var numbers: [Int64] = []
      for part in parts {
        let connection = try reading(part)
        let rows = try connection.execute(
          "SELECT \(ShardSQL.hilbert) FROM \(try table.quoted(part.table))"
            + ShardArea.sampling(total))
        for row in 0..<rows.count {
          if let number = rows.integer(row, 0) { numbers.append(number) }
        }
      }
      return ShardSample(numbers, total: total)
    }

    // MARK: Leftovers

    /// Drops the tables of parts that a stopped process has left.
    private func dropLeftovers(
      keeping parts: [ShardPart], on servers: [String?]
    ) throws(FieldpackError) {
      var seen: Set<String> = []
      for case let server? in servers where seen.insert(server).inserted {
        let used = parts.filter { $0.server == server }.map(\.table)
        do throws(FieldpackError) {
          let connection = try connections.connection(server)
          for name in try connection.tables(in: table.schema, commented: table.partComment)
          where !used.contains(name) {
            try connection.execute("DROP TABLE \(try table.quoted(name))")
          }
        } catch { throw error.of(server: server) }
      }
    }
  }
#endif
