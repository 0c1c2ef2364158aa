#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  /// A transaction on a database, for the length of a `write` call.
  ///
  /// Each change has a savepoint, so that the caller can go on after an error that it has dealt with:
  /// PostgreSQL itself would refuse every later statement of the transaction.
  final class PostGISWriter {
    let connection: PostgresConnection
    let store: StoreID
    let scope: PostGISScope
    /// The servers that layers may be divided over.
    let servers: [ShardServer]
    private var hasSavepoint = false
    /// The tables as the transaction sees them; forgotten when one of them changes.
    private var seen: PostGISSnapshot?
    private var known: [LayerID: TableFacts] = [:]
    /// Whether tables were made, changed or removed.
    private(set) var hasChangedTables = false
    /// What dropped layers have on other servers, to be dropped behind the commit.
    private(set) var oldParts: [OldParts] = []
    /// The highest ids that were asked for, which the sequences of the tables do not know of.
    private var given: [TableName: Int64] = [:]

    func note(_ parts: OldParts) { oldParts.append(parts) }

    init(
      _ connection: PostgresConnection, store: StoreID, scope: PostGISScope,
      servers: [ShardServer] = []
    ) {
      (self.connection, self.store, self.scope) = (connection, store, scope)
      self.servers = servers
    }

    /// To be called last before the commit.
    func finish() throws(FieldpackError) {
      for (table, highest) in given { try advance(table, to: highest) }
      given = [:]
    }

    // MARK: Steps

    /// Runs statements that happen together or not at all, even where the caller goes on after the error.
    func step<R>(
      in layer: LayerID? = nil, _ feature: FeatureID? = nil, _ body: () throws(FieldpackError) -> R
    ) throws(FieldpackError) -> R {
      try connection.run(
        script: hasSavepoint
          ? "RELEASE SAVEPOINT fieldpack; SAVEPOINT fieldpack" : "SAVEPOINT fieldpack")
      hasSavepoint = true
      let (before, parts) = (given, oldParts)
      do throws(FieldpackError) { return try body() } catch {
        (given, oldParts) = (before, parts)
        (known, seen) = ([:], nil)
        try? connection.run(script: "ROLLBACK TO SAVEPOINT fieldpack")
        throw error.adding(location: .init(store: store, layer: layer, feature: feature))
      }
    }

    // MARK: Tables

    private func snapshot() throws(FieldpackError) -> PostGISSnapshot {
      if let seen { return seen }
      let read = try PostGISSnapshot(connection, scope: scope, store: store)
      seen = read
      return read
    }

    func facts(_ layer: LayerID) throws(FieldpackError) -> TableFacts {
      if let facts = known[layer] { return facts }
      let catalogue = try snapshot().catalogue
      guard let found = catalogue.layer(layer),
        let facts = try TableFacts.read(found, in: scope, on: connection)
      else { throw catalogue.missing(layer) }
      known[layer] = facts
      return facts
    }

    func writable(
      _ layer: LayerID
    ) throws(FieldpackError) -> (facts: TableFacts, id: TableFacts.ID) {
      let facts = try facts(layer)
      guard !facts.isView, let id = facts.id else {
        let why =
          facts.isView
          ? "is a view and cannot be changed"
          : "has no key by which features are told apart and cannot be changed. "
            + "Try: a primary key (ALTER TABLE … ADD PRIMARY KEY)"
        throw FieldpackError(
          .readOnly, "layer '\(layer)' \(why)",
          location: .init(store: store, layer: layer))
      }
      return (facts, id)
    }

    func forgetTables() {
      (known, seen) = ([:], nil)
      hasChangedTables = true
    }

    /// The form in which an id is sent; `.notFound` where no feature of the layer can have it.
    func sent(
      _ id: FeatureID, _ column: TableFacts.ID, _ layer: LayerID
    ) throws(FieldpackError) -> PostgresValue {
      guard let value = column.value(of: id) else {
        throw FieldpackError(
          .notFound,
          "layer '\(layer)' has no feature '\(id)': its ids are of type \(column.type.name)",
          location: .init(store: store, layer: layer, feature: id))
      }
      return value
    }

    // MARK: Ids

    func noteGiven(_ id: FeatureID, _ facts: TableFacts) {
      guard case .integer(let number) = id, facts.id?.sequence != nil else { return }
      given[facts.name] = max(given[facts.name] ?? number, number)
    }

    /// Lets new ids of a table be higher than those that were asked for.
    func settleIDs(of facts: TableFacts) throws(FieldpackError) {
      guard let highest = given.removeValue(forKey: facts.name) else { return }
      try facts.id?.advance(to: highest, on: connection)
    }

    private func advance(_ table: TableName, to highest: Int64) throws(FieldpackError) {
      if let facts = known.values.first(where: { $0.name == table }) {
        try facts.id?.advance(to: highest, on: connection)
      } else {
        try facts(LayerID(table.table)).id?.advance(to: highest, on: connection)
      }
    }

    /// Lets new ids be higher than all that are there, where other programs chose some.
    func advanceBeyondAll(_ facts: TableFacts) throws(FieldpackError) {
      guard let id = facts.id, id.sequence != nil else { return }
      let rows = try connection.execute(
        "SELECT max(\(quotedUnchecked(id.name)))::int8 FROM \(try facts.name.sql())")
      if let highest = rows.integer(0, 0) { try id.advance(to: highest, on: connection) }
    }

    /// A table has another name now, or is gone.
    func settle(renamed table: TableName, to name: String?) {
      guard let highest = given.removeValue(forKey: table), let name else { return }
      given[TableName(schema: table.schema, table: name)] = highest
    }
  }

  // MARK: Reading

  extension PostGISWriter: SnapshotReading {
    func layers() throws(FieldpackError) -> [Layer] {
      try step { () throws(FieldpackError) in try snapshot().layers() }
    }

    func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError) {
      // Closures cannot capture the sink.
      var taken = sink
      defer { sink = taken }
      try step { () throws(FieldpackError) in try snapshot().scan(query, into: &taken) }
    }

    func count(_ query: Query) throws(FieldpackError) -> Int {
      try step { () throws(FieldpackError) in try snapshot().count(query) }
    }

    func feature(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) -> Feature? {
      try step(in: layer, id) { () throws(FieldpackError) in try snapshot().feature(id, in: layer) }
    }
  }
#endif
