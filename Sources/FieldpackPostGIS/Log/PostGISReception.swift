#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackServices
  import FieldpackSQLite

  /// The log of a layer as edits of devices come into it, in one transaction that holds the log's lock.
  final class PostGISReception: ReceivingLog {
    private let log: PostGISLog
    private let now: Instant
    /// What became of edits, of those that were looked up.
    private var outcomes: [String: EditOutcome?] = [:]
    /// Whether the server gives new rows their ids; `nil` before the first look.
    private var givesIDs: Bool?

    init(_ log: PostGISLog, at now: Instant) { (self.log, self.now) = (log, now) }

    private var connection: PostgresConnection { log.connection }
    private var shape: LogShape { log.shape }
    var layer: LayerID { log.layer }
    var columns: [String] { log.values.columns }
    var valueColumns: [Int] { log.values.valueColumns }

    // MARK: What is there

    func head() throws(FieldpackError) -> Int64 {
      try connection.execute("SELECT max(\(shape.own(.number))) FROM \(shape.log)").integer(0, 0)
        ?? 0
    }

    func number(of edit: String) throws(FieldpackError) -> Int64? {
      try connection.execute(
        "SELECT min(\(shape.own(.number))) FROM \(shape.log) WHERE \(shape.own(.edit)) = $1",
        [.text(edit)]
      ).integer(0, 0)
    }

    func place(of identity: String) throws(FieldpackError) -> EditLog.Place? {
      try log.place(of: identity)
    }

    /// The row is locked, so that nobody changes it until the edit is in.
    func row(at place: EditLog.Place?) throws(FieldpackError) -> [SQLiteValue]? {
      guard let place, place.isCurrent else { return nil }
      let rows = try connection.execute(
        "SELECT \(log.values.selection.joined(separator: ", ")) FROM \(shape.source) "
          + "WHERE \(shape.feature) = $1 FOR UPDATE", [.integer(place.feature)])
      return rows.count > 0 ? try log.values.values(rows, 0, from: 0) : nil
    }

    func lastValues(at place: EditLog.Place) throws(FieldpackError) -> [SQLiteValue]? {
      let rows = try connection.execute(
        "SELECT \(log.values.selection.joined(separator: ", ")) FROM (SELECT * FROM \(shape.log) "
          + "WHERE \(shape.feature) = $1 AND \(shape.own(.number)) < $2 "
          + "ORDER BY \(shape.own(.number)) DESC LIMIT 1) AS r",
        [.integer(place.feature), .integer(place.end)])
      return rows.count > 0 ? try log.values.values(rows, 0, from: 0) : nil
    }

    func changes(
      of place: EditLog.Place, after position: Int64
    ) throws(FieldpackError) -> [(number: Int64, id: String)] {
      let number = shape.own(.number)
      let rows = try connection.execute(
        """
        SELECT \(number), \(shape.own(.edit)) FROM \(shape.log)
        WHERE \(shape.feature) = $1 AND \(number) >= $2 AND \(number) < $3
          AND \(shape.own(.operation)) IN (1, 2)
          AND (\(shape.own(.position)) IS NULL OR \(shape.own(.position)) > $4) ORDER BY \(number)
        """,
        [place.feature, place.start, place.end, position].map { .integer($0) })
      var changes: [(number: Int64, id: String)] = []
      for row in 0..<rows.count {
        if let number = rows.integer(row, 0), let id = rows.text(row, 1) {
          changes.append((number, id))
        }
      }
      return changes
    }

    func changedColumns(by edit: String) throws(FieldpackError) -> [Int] {
      guard let names = try log.changedColumns(by: edit) else { return [] }
      return names.compactMap { name in columns.firstIndex { $0 == name } }
    }

    func content(of feature: Int64) -> [UInt8]? { nil }

    // MARK: Values that come

    func resolveLinks(in values: inout [SQLiteValue]) -> Bool { true }

    func isLinked(_ values: [SQLiteValue]) -> Bool { false }

    /// Reads the values as the server would give them after they were written.
    func normalize(_ values: inout [SQLiteValue]) throws(FieldpackError) {
      var (items, parameters): ([String], [PostgresValue]) = ([], [])
      for column in valueColumns {
        let bound = try log.values.bound(values[column], column, number: items.count + 1)
        items.append("\(bound.sql) AS \(log.values.quoted(column))")
        parameters.append(bound.value)
      }
      let sql =
        "SELECT \(log.values.selection.joined(separator: ", ")) "
        + "FROM (SELECT \(items.joined(separator: ", "))) AS r"
      values = try judged { () throws(FieldpackError) in
        try log.values.values(connection.execute(sql, parameters), 0, from: 0)
      }
    }

    // MARK: Changing

    func insert(
      _ values: [SQLiteValue], content: [UInt8]?, from origin: GeoPackageWriter.Origin
    ) throws(FieldpackError) -> Int64 {
      try stamp(try insertRow(values, feature: nil), from: origin, .insert)
    }

    func revive(
      _ identity: String, _ values: [SQLiteValue], at place: EditLog.Place, content: [UInt8]?,
      from origin: GeoPackageWriter.Origin
    ) throws(FieldpackError) -> (feature: Int64, number: Int64) {
      let feature = try insertRow(values, feature: place.isCurrent ? place.feature : nil)
      let number = try stamp(feature, from: origin, .update)
      if !place.isCurrent {
        try connection.execute(
          "INSERT INTO \(log.tables.identities) (table_name, feature, since, identity) "
            + "VALUES ($1, $2, $3, $4)",
          [.text(shape.table), .integer(feature), .integer(number), .text(identity)])
      }
      return (feature, number)
    }

    private func insertRow(
      _ values: [SQLiteValue], feature: Int64?
    ) throws(FieldpackError) -> Int64 {
      var (names, items, parameters): ([String], [String], [PostgresValue]) = ([], [], [])
      for column in valueColumns {
        let bound = try log.values.bound(values[column], column, number: items.count + 1)
        names.append(log.values.quoted(column))
        items.append(bound.sql)
        parameters.append(bound.value)
      }
      if let feature {
        names.append(shape.feature)
        parameters.append(.integer(feature))
        items.append("$\(parameters.count)")
      } else if try !serverGivesIDs() {
        names.append(shape.feature)
        items.append("(SELECT coalesce(max(\(shape.feature)), 0) + 1 FROM \(shape.source))")
      }
      let sql =
        "INSERT INTO \(shape.source) (\(names.joined(separator: ", "))) OVERRIDING SYSTEM VALUE "
        + "VALUES (\(items.joined(separator: ", "))) RETURNING \(shape.feature)::int8"
      let rows = try judged { () throws(FieldpackError) in try connection.execute(sql, parameters) }
      guard rows.count == 1, let id = rows.integer(0, 0) else {
        throw FieldpackError(.constraint, "the database left the feature out")
      }
      return id
    }

    private func serverGivesIDs() throws(FieldpackError) -> Bool {
      if let givesIDs { return givesIDs }
      let rows = try connection.execute(
        "SELECT atthasdef OR attidentity <> '' FROM pg_attribute "
          + "WHERE attrelid = $1::int8::oid AND attname = $2::text",
        [.integer(Int64(log.values.layer.oid)), .text(shape.id)])
      let found = rows.count > 0 && rows.flag(0, 0)
      givesIDs = found
      return found
    }

    func update(
      _ feature: Int64, _ columns: [Int], of values: [SQLiteValue], content: [UInt8]?,
      from origin: GeoPackageWriter.Origin
    ) throws(FieldpackError) -> Int64 {
      var (items, parameters): ([String], [PostgresValue]) = ([], [])
      for column in columns {
        let bound = try log.values.bound(values[column], column, number: items.count + 1)
        items.append("\(log.values.quoted(column)) = \(bound.sql)")
        parameters.append(bound.value)
      }
      parameters.append(.integer(feature))
      let sql =
        "UPDATE \(shape.source) SET \(items.joined(separator: ", ")) "
        + "WHERE \(shape.feature) = $\(parameters.count)"
      _ = try judged { () throws(FieldpackError) in try connection.execute(sql, parameters) }
      return try stamp(feature, from: origin, .update)
    }

    func delete(
      _ feature: Int64, from origin: GeoPackageWriter.Origin
    ) throws(FieldpackError) -> Int64 {
      _ = try judged { () throws(FieldpackError) in
        try connection.execute(
          "DELETE FROM \(shape.source) WHERE \(shape.feature) = $1", [.integer(feature)])
      }
      return try stamp(feature, from: origin, .delete)
    }

    /// Gives the last edit of a feature in the log the UUID, author, device and time that the edit has
    /// elsewhere.
    private func stamp(
      _ feature: Int64, from origin: GeoPackageWriter.Origin, _ operation: LoggedEdit.Operation
    ) throws(FieldpackError) -> Int64 {
      let number = shape.own(.number)
      let rows = try connection.execute(
        """
        UPDATE \(shape.log) SET \(shape.own(.edit)) = $1, \(shape.own(.author)) = $2::text,
          \(shape.own(.device)) = $3::text, \(shape.own(.time)) = $4::text::timestamptz,
          \(shape.own(.received)) = $5::text::timestamptz, \(shape.own(.operation)) = $6::int8
        WHERE \(number) = (SELECT max(\(number)) FROM \(shape.log) WHERE \(shape.feature) = $7)
          AND \(shape.own(.received)) IS NULL
          AND \(shape.own(.transaction)) = pg_current_xact_id() RETURNING \(number)
        """,
        [
          .text(origin.id), origin.author.map { .text($0) } ?? .null,
          origin.device.map { .text($0) } ?? .null,
          origin.time.map { .text($0.description) } ?? .null, .text(origin.received.description),
          .integer(operation.rawValue), .integer(feature),
        ])
      guard rows.count == 1, let number = rows.integer(0, 0) else {
        throw FieldpackError(
          .constraint, "an edit of feature \(feature) was not logged",
          location: .init(layer: layer, feature: .integer(feature)))
      }
      return number
    }

    func whole<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R {
      try connection.savepoint(body)
    }

    /// Tells values that the server does not take from statements that are wrong.
    private func judged<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R {
      do throws(FieldpackError) { return try body() } catch {
        guard error.sqlState?.text.hasPrefix("22") == true else { throw error }
        throw FieldpackError(
          .invalidData, error.message, location: error.location, underlying: error.underlying)
      }
    }

    // MARK: What became of edits

    /// Looks up many edits at once.
    func lookUp(_ edits: [SyncEdit]) throws(FieldpackError) {
      let ids = JSONValue.array(edits.map { .text($0.id) })
      let rows = try connection.execute(
        "SELECT edit_id, verdict, position, replica, message FROM \(log.tables.received) "
          + "WHERE edit_id IN (SELECT jsonb_array_elements_text($1::text::jsonb))",
        [.text(ids.text)])
      for edit in edits { outcomes[edit.id] = .some(nil) }
      for row in 0..<rows.count {
        if let id = rows.text(row, 0) { outcomes[id] = Self.outcome(rows, row) }
      }
    }

    private static func outcome(_ rows: PostgresRows, _ row: Int) -> EditOutcome? {
      guard let verdict = rows.text(row, 1).flatMap(SyncAnswer.Verdict.init) else { return nil }
      return EditOutcome(
        verdict: verdict, number: rows.integer(row, 2) ?? 0, replica: rows.text(row, 3) ?? "",
        message: rows.text(row, 4))
    }

    func outcome(of edit: String) throws(FieldpackError) -> EditOutcome? {
      if let known = outcomes[edit] { return known }
      let rows = try connection.execute(
        "SELECT edit_id, verdict, position, replica, message FROM \(log.tables.received) "
          + "WHERE edit_id = $1", [.text(edit)])
      let found = rows.count > 0 ? Self.outcome(rows, 0) : nil
      outcomes[edit] = .some(found)
      return found
    }

    func remember(_ outcome: EditOutcome, of edit: String) throws(FieldpackError) {
      try connection.execute(
        "INSERT INTO \(log.tables.received) (edit_id, position, replica, verdict, message) "
          + "VALUES ($1, $2, $3, $4, $5::text)",
        [
          .text(edit), .integer(outcome.number), .text(outcome.replica),
          .text(outcome.verdict.rawValue), outcome.message.map { .text($0) } ?? .null,
        ])
      outcomes[edit] = .some(outcome)
    }

    func conflicts(of edit: String) throws(FieldpackError) -> [SyncConflict] {
      let names = ["kind", "column_name", "lost", "kept"]
      let rows = try connection.execute(
        "SELECT \(names.joined(separator: ", ")) FROM \(log.tables.conflict) WHERE edit_id = $1 "
          + "ORDER BY id", [.text(edit)])
      var conflicts: [SyncConflict] = []
      for row in 0..<rows.count {
        var attributes = Attributes()
        for (column, name) in names.enumerated() {
          attributes[name] = rows.text(row, column).map { Value.text($0) } ?? Value.null
        }
        conflicts.append(try SyncConflict(Feature(attributes: attributes)))
      }
      return conflicts
    }

    func note(
      _ conflicts: [SyncConflict], of edit: SyncEdit, feature: Int64?
    ) throws(FieldpackError) {
      for conflict in conflicts {
        let attributes = conflict.attributes(of: edit, feature: feature, in: layer, at: now)
        var (names, items, values): ([String], [String], [PostgresValue]) = ([], [], [])
        for element in attributes.elements {
          names.append(element.name)
          values.append(Self.bound(element.value))
          items.append("$\(values.count)::text\(Self.casts[element.name] ?? "")")
        }
        try connection.execute(
          "INSERT INTO \(log.tables.conflict) (\(names.joined(separator: ", "))) "
            + "VALUES (\(items.joined(separator: ", ")))", values)
      }
    }

    private static let casts = [
      "feature": "::int8", "edited_at": "::timestamptz", "noted_at": "::timestamptz",
    ]

    private static func bound(_ value: Value) -> PostgresValue {
      switch value {
      case .text(let text): .text(text)
      case .integer(let number): .text("\(number)")
      case .dateTime(let instant): .text(instant.description)
      default: .null
      }
    }
  }
#endif
