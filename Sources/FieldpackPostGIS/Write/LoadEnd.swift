#if PostGIS
  import Fieldpack
  import FieldpackCore

  /// What is done behind the rows of a layer, when all of them have come.
  struct LoadEnd: Sendable {
    let target: LoadTarget
    let store: StoreID
    let options: LayerLoadOptions
    /// How many features were replaced, and how many got other ids.
    private(set) var updated = 0
    private(set) var moved = 0
    private(set) var skipped: [SkippedFeature] = []
    /// Whether the role may change the sequence that gives ids.
    private(set) var mayAdvance = true

    init(target: LoadTarget, store: StoreID, options: LayerLoadOptions) {
      (self.target, self.store, self.options) = (target, store, options)
    }

    /// - Parameters:
    ///   - highest: the highest id of the rows; 0 where they bring none.
    ///   - shards: what sends the rows of divided layers.
    mutating func run(
      highest: Int64, _ shards: ShardLoad?, on connection: PostgresConnection
    ) throws(FieldpackError) {
      switch target.way {
      case .new(let sql, let hasKey):
        let table = try sql.target.sql()
        if !hasKey { try connection.execute(try sql.key()) }
        if let index = try sql.index() { try connection.execute(index) }
        if highest > 0 {
          try connection.execute(
            "SELECT setval(pg_get_serial_sequence($1, $2), $3)",
            [.text(table), .text(sql.schema.idColumn ?? "fid"), .integer(highest)])
        }
        try connection.execute("ANALYZE \(table)")
      case .behind(let facts):
        // The end of the transaction does not take a change of a sequence back.
        guard target.plan.id != nil, !options.isDryRun, let id = facts.id else { break }
        mayAdvance = try id.advance(to: highest, on: connection)
      case .direct(let direct):
        guard let (count, highest) = try shards?.finish() else { break }
        if direct.stage.key == nil {
          moved = count
        } else {
          try replace(direct.stage, on: connection)
          try checkNoneIsLeft(direct.stage, on: connection)
        }
        try connection.execute("DROP TABLE \(StageSQL.table)")
        guard !options.isDryRun else { break }
        mayAdvance = try direct.id.advance(to: highest, on: connection)
      case .staged(let stage):
        try replace(stage, on: connection)
        try insert(stage, on: connection)
        try connection.execute("DROP TABLE \(StageSQL.table)")
      }
    }

    // MARK: Rows of a temporary table

    private mutating func replace(
      _ stage: StageSQL, on connection: PostgresConnection
    ) throws(FieldpackError) {
      guard let key = stage.key else { return }
      if let sql = stage.dropEarlier() { try connection.execute(sql) }
      if let sql = stage.findDoubled(), try connection.execute(sql).count > 0 {
        throw FieldpackError(
          .constraint,
          "layer '\(target.layer)' has features with one value in column '\(key)', so the column "
            + "cannot tell which of them a row replaces")
      }
      let isDivided = stage.facts.shards != nil
      updated = try changeRows(stage, on: connection) {
        isDivided ? stage.move(key, $0) : stage.update(key, $0)
      }
      if let sql = stage.dropReplacing() { try connection.execute(sql) }
    }

    /// A row that replaces nothing here has the id of another one of this import.
    private func checkNoneIsLeft(
      _ stage: StageSQL, on connection: PostgresConnection
    ) throws(FieldpackError) {
      let rows = try connection.execute(
        "SELECT \(stage.quotedID)::text FROM \(StageSQL.table) LIMIT 1")
      if rows.count > 0, let id = rows.text(0, 0) { throw stage.repeated(id) }
    }

    private mutating func insert(
      _ stage: StageSQL, on connection: PostgresConnection
    ) throws(FieldpackError) {
      if let sql = stage.freeIDs() { moved = try connection.execute(sql).changedCount }
      if let sql = stage.findRepeated() {
        let rows = try connection.execute(sql)
        if rows.count > 0, let id = rows.text(0, 0) { throw stage.repeated(id) }
      }
      if !options.isDryRun, stage.hasIDs, let id = stage.id, id.isInteger, id.sequence != nil,
        let highest = try connection.execute(stage.highestID).integer(0, 0)
      {
        mayAdvance = try id.advance(to: highest, on: connection)
      }
      // A sequence that stayed where it was may give ids that rows bring.
      let asksSequence = mayAdvance && !options.isDryRun
      _ = try changeRows(stage, on: connection) {
        stage.insert(asksSequence: asksSequence, $0)
      }
    }

    /// Runs a statement for all rows, or where bad rows are left out for as many as the server takes.
    private mutating func changeRows(
      _ stage: StageSQL, on connection: PostgresConnection,
      by sql: (ClosedRange<Int64>?) -> String
    ) throws(FieldpackError) -> Int {
      guard options.skipsErrors else { return try connection.execute(sql(nil)).changedCount }
      let rows = try connection.execute(StageSQL.numbers)
      guard let first = rows.integer(0, 0), let last = rows.integer(0, 1) else { return 0 }
      return try changeRows(first...last, stage, on: connection, by: sql)
    }

    /// Halves the rows where one is refused, until the bad ones stand alone.
    private mutating func changeRows(
      _ numbers: ClosedRange<Int64>, _ stage: StageSQL, on connection: PostgresConnection,
      by sql: (ClosedRange<Int64>?) -> String
    ) throws(FieldpackError) -> Int {
      let failure: FieldpackError
      do throws(FieldpackError) {
        return try connection.savepoint { () throws(FieldpackError) in
          try connection.execute(sql(numbers)).changedCount
        }
      } catch {
        failure = error
      }
      guard failure.isOfRow else { throw failure }
      guard numbers.count > 1 else {
        var id: FeatureID?
        if let sql = stage.idOfRow(numbers.lowerBound) {
          id = stage.id?.key(try connection.execute(sql))
        }
        skipped.append(
          SkippedFeature(
            failure.adding(location: .init(store: store, layer: target.layer, feature: id))))
        return 0
      }
      let middle = numbers.lowerBound + Int64(numbers.count / 2)
      let count = try changeRows(
        numbers.lowerBound...(middle - 1), stage, on: connection, by: sql)
      return count
        + (try changeRows(middle...numbers.upperBound, stage, on: connection, by: sql))
    }
  }

  extension TableFacts.ID {
    /// Lets the ids that the server gives be higher than an id, and never lower than they would be.
    ///
    /// - Returns: `false` where the role may not change the sequence.
    @discardableResult
    func advance(
      to highest: Int64, on connection: PostgresConnection
    ) throws(FieldpackError) -> Bool {
      guard let sequence, highest > 0 else { return true }
      do throws(FieldpackError) {
        _ = try connection.savepoint { () throws(FieldpackError) in
          try connection.execute(
            "SELECT setval($1::text::regclass, $2) FROM \(sequence) "
              + "WHERE last_value < $2 OR (last_value = $2 AND NOT is_called)",
            [.text(sequence), .integer(highest)])
        }
        return true
      } catch {
        guard error.sqlState?.text == "42501" else { throw error }
        return false
      }
    }
  }
#endif
