#if PostGIS
  import FieldpackCore

  /// Sends the rows of an import to the servers of divided layers, on the thread of the store's connection.
  ///
  /// Each server has a transaction of its own. They commit one after the other, the store's last; until
  /// then nobody sees a row, and the end of this object takes all back.
  final class ShardLoad {
    private let own: PostgresConnection
    private let connections: ShardConnections
    private let isDryRun: Bool
    private var layer: Layer?
    private var oldParts: [OldParts] = []

    /// The layer whose rows come now.
    fileprivate struct Layer {
      let direct: DirectRows
      var router: ShardRouter
      /// Whether no rows of another part of the import are among those of the transaction.
      let isAlone: Bool
      /// The lowest and the highest id in each part, before the rows come.
      var taken: [(server: String?, ids: ClosedRange<Int64>)]
      /// The highest id in the layer and of the rows so far.
      var highest: Int64
      /// The lowest and the highest id of the rows that were sent to the parts.
      var sent: ClosedRange<Int64>?
      /// The last row of a piece, which the first one of the next may replace.
      var held: (id: Int64, content: [UInt8])?
      let fieldCount: Int16
      let defaults: [UInt8]
      let copy: String
      /// Rows whose ids are in the layer already, on their way to the temporary table.
      var staged: [UInt8] = []
      var stagedCount = 0
      /// Whether the sequence gives ids, from where those of the layer end.
      var asksSequence: Bool?
    }

    init(
      _ own: PostgresConnection, _ servers: [ShardServer], _ limits: PostgresLimits, isDryRun: Bool
    ) {
      (self.own, self.isDryRun) = (own, isDryRun)
      connections = ShardConnections(own, servers, limits)
    }

    /// Whether the tables of the layer are on all other servers, and the user may add rows to them from here;
    /// `false`, too, where only the store's server can sign in at another one.
    func hasParts(of direct: DirectRows) throws(FieldpackError) -> Bool {
      let comment = ShardTable.partComment(
        of: direct.facts.name, try ShardTable.origin(of: own))
      for case let server? in direct.servers {
        do throws(FieldpackError) {
          let tables = Set(
            try connections.writer(server).tables(
              in: direct.layout.schema, commented: comment, areOpen: true))
          for part in direct.layout.parts
          where part.server == server && !tables.contains(part.table) {
            return false
          }
        } catch {
          guard error.code == .permission || error.code == .unavailable else {
            throw error.of(server: server)
          }
          connections.forgetWriter(server)
          return false
        }
      }
      return true
    }

    /// Begins with a layer.
    ///
    /// - Parameters:
    ///   - isAlone: whether no other rows of the import come to the layer.
    ///   - copy: the COPY into the temporary table.
    func begin(
      _ direct: DirectRows, isAlone: Bool, stagedBy copy: String
    ) throws(FieldpackError) {
      // The store's server waits while the others work.
      try own.run(script: "SET LOCAL idle_in_transaction_session_timeout = 0")
      var taken: [(String?, ClosedRange<Int64>)] = []
      let id = quotedUnchecked(direct.id.name)
      for server in direct.servers {
        let query = try direct.query(server) { table, _ in
          "SELECT min(\(id))::int8, max(\(id))::int8 FROM \(table)"
        }
        let rows = try connections.writer(server).execute(query)
        for row in 0..<rows.count {
          if let low = rows.integer(row, 0), let high = rows.integer(row, 1) {
            taken.append((server, low...high))
          }
        }
      }
      let columns = direct.columns
      layer = Layer(
        direct: direct,
        router: try ShardRouter(
          direct.layout.parts, of: direct.layout.schema, columns: columns, connections),
        isAlone: isAlone, taken: taken, highest: taken.map(\.1.upperBound).max() ?? 0,
        fieldCount: Int16(clamping: columns.count), defaults: try direct.defaultFields(on: own),
        copy: copy)
    }

    // MARK: Rows

    func send(_ piece: CopyPiece) throws(FieldpackError) {
      guard piece.count > 0, var layer = layer.take() else { return }
      let result = piece.bytes.withUnsafeBytes { bytes in
        Result { () throws(FieldpackError) in
          if layer.direct.hasIDs { return try sendWithIDs(piece, bytes, &layer) }
          let new = try newIDs(piece.rows.count, &layer)
          for index in piece.rows.indices {
            try layer.route(piece.content(index, of: bytes), new[index])
          }
        }
      }
      try result.get()
      if layer.staged.count >= 1 << 20 { try sendStaged(&layer) }
      self.layer = layer
    }

    /// Of rows with one id, which stores give one after the other, an upsert takes the last one. Another that
    /// comes later is found in its part, and refused.
    private func sendWithIDs(
      _ piece: CopyPiece, _ bytes: UnsafeRawBufferPointer, _ layer: inout Layer
    ) throws(FieldpackError) {
      let rows = try piece.byID()
      try layer.routeHeld(before: rows.first?.id)
      let taken = try takenIDs(rows, &layer)
      for (place, row) in rows.enumerated() {
        let content = piece.content(row.index, of: bytes)
        if taken.contains(row.id) {
          layer.staged.append(contentsOf: content)
          layer.stagedCount += 1
        } else if place + 1 == rows.count {
          layer.held = (row.id, Array(content))
        } else if rows[place + 1].id == row.id {
          try layer.checkReplaces(row.id)
        } else {
          try layer.route(content, of: row.id)
        }
      }
    }

    /// The ids of rows that the layer has already.
    ///
    /// - Parameter sorted: in the order of their ids.
    /// - Throws: where this import has sent one of the ids before.
    private func takenIDs(
      _ sorted: [(id: Int64, index: Int)], _ layer: inout Layer
    ) throws(FieldpackError) -> Set<Int64> {
      guard let first = sorted.first?.id, let last = sorted.last?.id else { return [] }
      let ids = first...last
      layer.highest = max(layer.highest, ids.upperBound)
      let column = quotedUnchecked(layer.direct.id.name)
      var list: String?
      var found: Set<Int64> = []
      let isMixed = layer.sent?.overlaps(ids) ?? false
      for server in layer.direct.servers {
        let isAsked = layer.taken.contains { $0.server == server && $0.ids.overlaps(ids) }
        guard isMixed || isAsked else { continue }
        let wanted = list ?? "{\(sorted.map(\.id.description).joined(separator: ","))}"
        list = wanted
        if isMixed { try layer.router.flush(server) } else { try layer.router.settle(server) }
        let query = try layer.direct.query(server) { table, _ in
          "SELECT \(column)::int8, xmin = pg_current_xact_id()::xid FROM \(table) "
            + "WHERE \(column) = ANY ($1::text::int8[])"
        }
        let rows = try connections.writer(server).execute(query, [.text(wanted)])
        for row in 0..<rows.count {
          guard let id = rows.integer(row, 0) else { continue }
          if rows.flag(row, 1), layer.isAlone || !layer.had(id, at: server) {
            throw layer.direct.stage.repeated("\(id)")
          }
          found.insert(id)
        }
      }
      return found
    }

    /// Ids as fields of COPY: a block of the sequence's, else numbers behind the highest, because the layer
    /// is locked then.
    private func newIDs(
      _ count: Int, _ layer: inout Layer
    ) throws(FieldpackError) -> [[UInt8]] {
      let id = layer.direct.id
      guard count > 0 else { return [] }
      if layer.asksSequence == nil {
        // The end of the transaction does not take a change of a sequence back.
        let asks = id.sequence != nil && !isDryRun
        layer.asksSequence = asks ? try id.advance(to: layer.highest, on: own) : false
      }
      var numbers: [Int64] = []
      if layer.asksSequence == true, let sequence = id.sequence {
        let rows = try own.execute(
          "SELECT nextval($1::text::regclass) FROM generate_series(1, $2)",
          [.text(sequence), .integer(Int64(count))])
        for row in 0..<rows.count { numbers.append(rows.integer(row, 0) ?? 0) }
        guard numbers.count == count else {
          throw own.mistake("sends \(numbers.count) ids in place of \(count)")
        }
      } else {
        let (last, isTooLarge) = layer.highest.addingReportingOverflow(Int64(count))
        guard !isTooLarge else { throw noID(behind: layer.highest, in: layer) }
        numbers = Array(layer.highest + 1...last)
      }
      layer.highest = max(layer.highest, numbers.max() ?? 0)
      var fields: [[UInt8]] = []
      for number in numbers {
        guard let bytes = id.type.bytes(of: .integer(number)) else {
          throw noID(behind: number - 1, in: layer)
        }
        var field: [UInt8] = []
        field.append(big: Int32(bytes.count))
        fields.append(field + bytes)
      }
      return fields
    }

    private func noID(behind id: Int64, in layer: borrowing Layer) -> FieldpackError {
      FieldpackError(
        .constraint,
        "layer '\(layer.direct.facts.name.table)' has no id left behind \(id) for rows without one")
    }

    private func sendStaged(_ layer: inout Layer) throws(FieldpackError) {
      guard !layer.staged.isEmpty else { return }
      let bytes = layer.staged
      try own.copyIn(layer.copy) { (writer) throws(FieldpackError) in
        try writer.write(all: bytes[...])
      }
      layer.staged.removeAll(keepingCapacity: true)
    }

    /// Sends what is left of the layer. Rows that are to replace features stay in the temporary table.
    ///
    /// - Returns: how many rows came to the temporary table, and the highest id.
    func finish() throws(FieldpackError) -> (staged: Int, highest: Int64) {
      guard var layer = layer.take() else { return (0, 0) }
      try layer.routeHeld(before: nil)
      try sendStaged(&layer)
      if layer.stagedCount > 0, layer.direct.stage.key == nil { try renumber(&layer) }
      try layer.router.finish()
      return (layer.stagedCount, layer.highest)
    }

    /// Sends the rows whose ids the layer had already, with other ids.
    private func renumber(_ layer: inout Layer) throws(FieldpackError) {
      let stage = layer.direct.stage
      let cursor = PostgresCursor(own, (stage.rest, []), rowBytes: 256)
      let fields = RowFields(count: stage.plan.names.count)
      var (ids, left) = ([[UInt8]](), layer.stagedCount)
      while try cursor.next(into: fields) {
        if ids.isEmpty { ids = try newIDs(min(1_000, left), &layer).reversed() }
        guard !ids.isEmpty else { throw own.mistake("sends more rows than it was given") }
        left -= 1
        // As the row would have come without an id.
        var content: [UInt8] = [0, 0]
        for column in 1..<stage.plan.names.count {
          content.append(big: fields[column].map { Int32($0.count) } ?? -1)
          if let field = fields[column] { content.append(contentsOf: field) }
        }
        let id = ids.removeLast()
        let result = content.withUnsafeBytes { bytes in
          Result { () throws(FieldpackError) in try layer.route(bytes, id) }
        }
        try result.get()
      }
    }

    // MARK: The end

    /// Keeps what replaced layers have on other servers, until they are gone.
    func note(_ parts: [OldParts]) { oldParts += parts }

    /// Drops what replaced layers have on other servers, behind the commit.
    func dropOldParts() -> [Note] {
      oldParts.flatMap { $0.drop(connections.servers, connections.limits, by: own) }
    }

    /// Commits all servers, the store's last. What a crash leaves between two of them is told: the rows of
    /// those that have committed.
    func commit(_ deed: String) throws(FieldpackError) {
      do throws(FieldpackError) {
        // It may be lost since it was used last.
        try own.execute("SELECT 1")
        try own.withoutCancelling { () throws(FieldpackError) in
          try connections.commitWriters()
          try own.commit(deed)
        }
      } catch {
        guard !connections.committed.isEmpty else { throw error }
        let servers = connections.committed.map { "'\($0)'" }.joined(separator: ", ")
        throw FieldpackError(
          error.code,
          "\(error.message); but the servers \(servers) keep their rows of the import. Try: the same "
            + "import as an upsert by a key",
          location: error.location, underlying: error.underlying)
      }
    }
  }

  extension CopyPiece {
    /// The rows in the order of their ids; those with one id as they came.
    fileprivate func byID() throws(FieldpackError) -> [(id: Int64, index: Int)] {
      var found: [(id: Int64, index: Int)] = []
      for (index, row) in rows.enumerated() {
        switch row.id {
        case .integer(let id): found.append((id, index))
        case .text(let text):
          guard let id = Int64(text) else {
            throw FieldpackError(.invalidData, "the id '\(text)' of a feature is no number")
          }
          found.append((id, index))
        }
      }
      let isSorted = zip(found, found.dropFirst()).allSatisfy { $0.id <= $1.id }
      return isSorted ? found : found.sorted { ($0.id, $0.index) < ($1.id, $1.index) }
    }

    /// - Parameter bytes: of the piece.
    fileprivate func content(
      _ row: Int, of bytes: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: bytes[start(of: row)..<rows[row].end])
    }
  }

  extension ShardLoad.Layer {
    /// Whether an id lies between those that a server had before the rows came.
    fileprivate func had(_ id: Int64, at server: String?) -> Bool {
      taken.contains { $0.server == server && $0.ids.contains(id) }
    }

    /// Sends the row that waits, unless the next one has its id.
    ///
    /// - Parameter next: `nil` where no row comes any more.
    fileprivate mutating func routeHeld(before next: Int64?) throws(FieldpackError) {
      guard let (id, content) = held else { return }
      held = nil
      if id == next { return try checkReplaces(id) }
      let result = content.withUnsafeBytes { bytes in
        Result { () throws(FieldpackError) in try route(bytes, of: id) }
      }
      try result.get()
    }

    /// - Throws: where rows are added, and none replaces another.
    fileprivate func checkReplaces(_ id: Int64) throws(FieldpackError) {
      if direct.stage.key == nil { throw direct.stage.repeated("\(id)") }
    }

    fileprivate mutating func route(
      _ row: UnsafeRawBufferPointer, of id: Int64
    ) throws(FieldpackError) {
      sent = min(sent?.lowerBound ?? id, id)...max(sent?.upperBound ?? id, id)
      try route(row, [])
    }

    /// - Parameter id: the field of the id where the row has none.
    fileprivate mutating func route(
      _ row: UnsafeRawBufferPointer, _ id: [UInt8]
    ) throws(FieldpackError) {
      // The place is the last field.
      let number = row.big(at: row.count - 8, as: Int64.self) ?? ShardKey.nowhere
      let (fieldCount, defaults) = (fieldCount, defaults)
      try router.add(number) { bytes in
        bytes.append(big: fieldCount)
        bytes.append(contentsOf: id)
        bytes.append(contentsOf: row.dropFirst(2))
        bytes.append(contentsOf: defaults)
      }
    }
  }
#endif
