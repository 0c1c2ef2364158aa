#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackServices
  import FieldpackSQLite

  /// Reading edits and finding features.
  extension PostGISLog {
    /// An edit with the id that its feature has here.
    struct Edit: Sendable {
      var edit: SyncEdit
      var feature: Int64
    }

    /// Edits in the order of their positions.
    func edits(
      after position: Int64, limit: Int
    ) throws(FieldpackError) -> [Edit] {
      let own = shape.own
      let leading = [
        own(.position), own(.operation), "\(shape.feature)::int8", own(.edit),
        "(extract(epoch FROM \(own(.time))) * 1000)::int8", own(.author), own(.device),
        #""fieldpack identity""#, #""fieldpack changed""#,
      ]
      let rows = try connection.execute(
        """
        SELECT \((leading + values.selection).joined(separator: ", ")) FROM (
          SELECT a.*, n.identity AS "fieldpack identity",
            \(changed(table: "$3")) AS "fieldpack changed"
          FROM (SELECT * FROM \(shape.log) WHERE \(own(.position)) > $1
            ORDER BY \(own(.position)) LIMIT $2) AS a
          LEFT JOIN LATERAL (\(previous)) AS p ON a.\(own(.operation)) = 2
          LEFT JOIN LATERAL (\(identity)) AS n ON TRUE
        ) AS r ORDER BY \(own(.position))
        """, [.integer(position), .integer(Int64(limit)), .text(shape.table)])
      var edits: [Edit] = []
      edits.reserveCapacity(rows.count)
      for row in 0..<rows.count { edits.append(try edit(rows, row, from: leading.count)) }
      return edits
    }

    private func edit(
      _ rows: PostgresRows, _ row: Int, from place: Int
    ) throws(FieldpackError) -> Edit {
      guard let position = rows.integer(row, 0), let feature = rows.integer(row, 2),
        let operation = rows.integer(row, 1).flatMap({ OutgoingEdit.Operation(rawValue: Int($0)) }),
        let id = rows.text(row, 3)
      else {
        throw FieldpackError(
          .corrupt, "the change log of layer '\(layer)' has a row that is no edit",
          location: .init(layer: layer))
      }
      let edit = SyncEdit(
        id: id, operation: operation, identity: rows.text(row, 7) ?? "\(origin):\(feature)",
        position: position, changed: names(changed: rows.text(row, 8)),
        values: Array(try values.values(rows, row, from: place).dropFirst()),
        time: rows.integer(row, 4).map { Instant(milliseconds: $0) }, author: rows.text(row, 5),
        device: rows.text(row, 6))
      return Edit(edit: edit, feature: feature)
    }

    /// The edit of the same feature before an edit `a`.
    var previous: String {
      "SELECT * FROM \(shape.log) AS q WHERE q.\(shape.feature) = a.\(shape.feature) "
        + "AND q.\(shape.own(.number)) < a.\(shape.own(.number)) "
        + "ORDER BY q.\(shape.own(.number)) DESC LIMIT 1"
    }

    /// A digit for each of the values of an edit `a`: 1 where it differs from the edit `p` before it,
    /// byte by byte. NULL stands for all: without an edit before, or where the feature came back under an
    /// id that another had.
    ///
    /// - Parameter table: the parameter with the name of the table.
    private func changed(table: String) -> String {
      let digits = values.names.map { name in
        let column = quotedUnchecked(name)
        return "(ROW(a.\(column))::record *<> ROW(p.\(column))::record)::int"
      }
      return "CASE WHEN p.\(shape.own(.number)) IS NULL "
        + "OR (p.\(shape.own(.operation)) = 3 AND EXISTS "
        + "(SELECT FROM \(tables.identities) AS t WHERE t.table_name = \(table) "
        + "AND t.feature = a.\(shape.feature) AND t.since = a.\(shape.own(.number)))) "
        + "THEN NULL ELSE concat(\(digits.joined(separator: ", "))) END"
    }

    /// The columns that an edit changed; `nil` where the log does not have the edit.
    func changedColumns(by edit: String) throws(FieldpackError) -> [String]? {
      let rows = try connection.execute(
        """
        SELECT \(changed(table: "$2")) FROM (SELECT * FROM \(shape.log) WHERE \(shape.own(.edit)) = $1
          ORDER BY \(shape.own(.number)) LIMIT 1) AS a
        LEFT JOIN LATERAL (\(previous)) AS p ON a.\(shape.own(.operation)) = 2
        """, [.text(edit), .text(shape.table)])
      guard rows.count > 0 else { return nil }
      return names(changed: rows.text(0, 0))
    }

    /// The names of the columns that digits mark; NULL marks all.
    private func names(changed digits: String?) -> [String] {
      guard let digits = digits.map({ Array($0.utf8) }) else { return values.names }
      return values.names.enumerated()
        .filter { $0.offset < digits.count && digits[$0.offset] == UInt8(ascii: "1") }
        .map(\.element)
    }

    /// What the feature of an edit `a` is called, where that is not told by origin and id.
    private var identity: String {
      """
      SELECT i.identity FROM (
        (SELECT q.\(shape.own(.number)) AS since, q.\(shape.own(.edit)) AS identity
          FROM \(shape.log) AS q WHERE q.\(shape.feature) = a.\(shape.feature)
          AND q.\(shape.own(.operation)) = 1 AND q.\(shape.own(.number)) <= a.\(shape.own(.number))
          ORDER BY q.\(shape.own(.number)) DESC LIMIT 1)
        UNION ALL
        (SELECT t.since, t.identity FROM \(tables.identities) AS t WHERE t.table_name = $3
          AND t.feature = a.\(shape.feature) AND t.since <= a.\(shape.own(.number))
          ORDER BY t.since DESC LIMIT 1)
      ) AS i ORDER BY i.since DESC LIMIT 1
      """
    }

    /// The identities of features that are not told by origin and id, as they are now.
    func identities() throws(FieldpackError) -> [(feature: Int64, identity: String)] {
      let rows = try connection.execute(
        """
        SELECT DISTINCT ON (feature) feature, identity FROM (
          SELECT \(shape.feature)::int8 AS feature, \(shape.own(.number)) AS since,
            \(shape.own(.edit)) AS identity FROM \(shape.log) WHERE \(shape.own(.operation)) = 1
          UNION ALL SELECT feature, since, identity FROM \(tables.identities) WHERE table_name = $1
        ) AS i ORDER BY feature, since DESC
        """, [.text(shape.table)])
      var found: [(feature: Int64, identity: String)] = []
      found.reserveCapacity(rows.count)
      for row in 0..<rows.count {
        if let feature = rows.integer(row, 0), let identity = rows.text(row, 1) {
          found.append((feature, identity))
        }
      }
      return found
    }

    /// Where a feature is, or was last; `nil` where it never was here.
    func place(of identity: String) throws(FieldpackError) -> EditLog.Place? {
      let (number, operation) = (shape.own(.number), shape.own(.operation))
      let rows = try connection.execute(
        """
        SELECT s.feature, s.since, least(
          (SELECT min(q.\(number)) FROM \(shape.log) AS q WHERE q.\(shape.feature) = s.feature
            AND q.\(operation) = 1 AND q.\(number) > s.since),
          (SELECT min(t.since) FROM \(tables.identities) AS t WHERE t.table_name = $1
            AND t.feature = s.feature AND t.since > s.since))
        FROM (SELECT c.feature, c.since FROM (
          (SELECT feature, since, 0 AS rank FROM \(tables.identities)
            WHERE table_name = $1 AND identity = $2 ORDER BY since DESC LIMIT 1)
          UNION ALL (SELECT \(shape.feature)::int8, \(number), 1 FROM \(shape.log)
            WHERE \(shape.own(.edit)) = $2 AND \(operation) = 1 LIMIT 1)
          UNION ALL SELECT $3::int8, 0, 2 WHERE $3::int8 IS NOT NULL
        ) AS c ORDER BY c.rank LIMIT 1) AS s
        """,
        [
          .text(shape.table), .text(identity),
          self.number(in: identity).map { .integer($0) } ?? .null,
        ])
      guard rows.count == 1, let feature = rows.integer(0, 0), let start = rows.integer(0, 1) else {
        return nil
      }
      return EditLog.Place(feature: feature, start: start, end: rows.integer(0, 2) ?? .max)
    }

    /// The id in an identity that is made of origin and id.
    private func number(in identity: String) -> Int64? {
      guard let colon = identity.utf8.lastIndex(of: UInt8(ascii: ":")),
        let number = Int64(identity[identity.utf8.index(after: colon)...]),
        identity == "\(origin):\(number)"
      else { return nil }
      return number
    }
  }
#endif
