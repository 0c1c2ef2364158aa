#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackGeometry

  /// Readies the table that takes the rows of a layer.
  struct LoadTargetMaker: Sendable {
    let store: StoreID
    let scope: PostGISScope
    let part: LayerPart
    /// The rows as they come.
    let rows: Schema
    let options: LayerLoadOptions
    /// `nil` where there is no row.
    let firstID: FeatureID?
    /// The servers that the layer may be divided over.
    let servers: [ShardServer]
    /// Whether no other rows of the import come to the layer.
    let isAlone: Bool
    private(set) var notes: [Note] = []

    init(
      store: StoreID, scope: PostGISScope, part: LayerPart, rows: Schema, options: LayerLoadOptions,
      firstID: FeatureID?, servers: [ShardServer], isAlone: Bool
    ) {
      (self.store, self.scope, self.part) = (store, scope, part)
      (self.rows, self.options, self.firstID, self.servers) = (rows, options, firstID, servers)
      self.isAlone = isAlone
    }

    private var hasTextIDs: Bool {
      if case .text? = firstID { true } else { false }
    }

    private var location: KeyTuple.Partial { .init(store: store, layer: part.name) }

    // MARK: A new table

    mutating func new(
      replacing old: TableFacts?, _ shards: ShardLoad, on connection: PostgresConnection
    ) throws(FieldpackError) -> LoadTarget {
      let writer = PostGISWriter(connection, store: store, scope: scope)
      do throws(FieldpackError) {
        if let old { try writer.drop(old) }
        shards.note(writer.oldParts)
        var made = rows
        made.layer = part.name
        // The config may name the column of the ids.
        made.idColumn =
          scope.tables?.first { $0.name == part.name.rawValue }?.id ?? rows.idColumn ?? "fid"
        made.geometry?.epoch = nil
        made.columns = rows.columns.map { adapted($0) }
        let idText = hasTextIDs ? free("id", in: made) : nil
        if let idText { made.columns.append(ColumnDefinition(idText, .text())) }
        // Rows that are refused are found in transactions of their own, in which nothing is frozen.
        let isFresh = !options.skipsErrors
        let sql = try writer.makeTable(made, withKey: options.skipsErrors)
        var plan = CopyPlan(
          store: store, layer: part.name,
          id: hasTextIDs ? nil : (made.idColumn ?? "fid", .int8),
          geometry: made.geometry.map {
            .init(
              name: $0.name, srid: sql.srid,
              rule: GeometryColumn(
                $0.name, type: $0.storedType ?? .geometry, srs: $0.srs, z: $0.z, m: $0.m))
          },
          columns: rows.columns.indices.map {
            .init(source: $0, name: made.columns[$0].name, type: BinaryType(made.columns[$0].type))
          })
        plan.idText = idText
        return LoadTarget(
          .new(sql, hasKey: options.skipsErrors), layer: part.name, plan: plan,
          into: try sql.target.sql(), isFresh: isFresh,
          srs: made.geometry?.srs)
      } catch {
        throw error.adding(location: location)
      }
    }

    /// A column as a table of PostgreSQL can have it.
    private mutating func adapted(_ column: ColumnDefinition) -> ColumnDefinition {
      var column = column
      column.isGenerated = false
      let name = stored(column.name)
      if name != column.name {
        notes.append(
          Note(
            "column '\(column.name)' of layer '\(part.name)' is called '\(name)' there, because every "
              + "table has a column of that name"))
        column.name = name
      }
      if let value = column.defaultSQL, DefaultLiteral.sql(value) == nil {
        notes.append(
          Note(
            "the default of column '\(column.name)' of layer '\(part.name)' is an expression and is left "
              + "out"))
        column.defaultSQL = nil
      }
      return column
    }

    /// The name that a column of the rows has in the table.
    private func stored(_ name: String) -> String {
      LayerSQL.systemColumns.contains(name) ? free(name, in: rows) : name
    }

    private func free(_ name: String, in schema: Schema) -> String {
      let taken = Set(
        ([schema.idColumn, schema.geometry?.name].compactMap(\.self) + schema.columns.map(\.name))
          .map { $0.lowercased() })
      return name.numbered {
        !taken.contains($0.lowercased()) && !LayerSQL.systemColumns.contains($0)
      }
    }

    // MARK: A table that is there

    /// - Parameter shards: sends the rows of divided layers.
    mutating func existing(
      _ known: TableFacts, _ shards: ShardLoad, on connection: PostgresConnection
    ) throws(FieldpackError) -> LoadTarget {
      do throws(FieldpackError) {
        guard known.kind == "r" || known.kind == "p" || known.kind == "f" else {
          throw FieldpackError(.readOnly, "layer '\(part.name)' is a view and takes no rows")
        }
        let facts = try addMissing(to: known, on: connection)
        guard rows.geometry == nil || facts.geometry != nil else {
          throw FieldpackError(
            .invalidData,
            "layer '\(part.name)' has no geometry column, and the features have geometries")
        }
        let table = try facts.name.sql()
        let key = try key(in: facts)
        let plan = plan(for: facts, key: key)
        if let id = facts.id, plan.id == nil, !id.hasDefault, !id.isInteger {
          throw FieldpackError(
            .invalidData, "layer '\(part.name)' gives no ids itself, and the rows have none for it")
        }
        if try takesRows(plan, key, facts, table, on: connection) {
          return LoadTarget(
            .behind(facts), layer: part.name, plan: plan, into: table, isFresh: false,
            srs: rows.geometry?.srs)
        }
        let stage = StageSQL(facts: facts, target: table, plan: plan, key: key)
        try connection.execute(stage.create())
        if let target = try direct(stage, shards, on: connection) { return target }
        return LoadTarget(
          .staged(stage), layer: part.name, plan: plan, into: StageSQL.table, isFresh: false,
          srs: rows.geometry?.srs)
      } catch {
        throw error.adding(location: location)
      }
    }

    /// Whether the table takes the rows as they come. Where ids are chosen or kept, it is locked, so that
    /// nobody takes them between here and the commit.
    private func takesRows(
      _ plan: CopyPlan, _ key: String?, _ facts: TableFacts, _ table: String,
      on connection: PostgresConnection
    ) throws(FieldpackError) -> Bool {
      // COPY sends rows to other servers one by one, an INSERT of many rows a thousand at a time.
      let isTyped =
        facts.shards == nil && plan.columns.allSatisfy { facts.column($0.name)?.type != nil }
      if key == nil, plan.id == nil, isTyped, facts.id?.hasDefault ?? true { return true }
      // PostgreSQL locks no foreign table.
      if facts.kind != "f" {
        try connection.execute("LOCK TABLE \(table) IN SHARE ROW EXCLUSIVE MODE")
      }
      guard key == nil, plan.id != nil, isTyped else { return false }
      return try connection.execute("SELECT FROM \(table) LIMIT 1").count == 0
    }

    /// The way of rows to the servers of a divided layer, where they may pass the store's server by.
    private func direct(
      _ stage: StageSQL, _ shards: ShardLoad, on connection: PostgresConnection
    ) throws(FieldpackError) -> LoadTarget? {
      // Bad rows are found in transactions of the store's server. What replaces features there would not
      // see those that came directly before.
      guard stage.facts.shards != nil, !options.skipsErrors, stage.key == nil || isAlone else {
        return nil
      }
      guard
        let direct = try DirectRows.make(stage.facts, stage, servers: servers, on: connection),
        try shards.hasParts(of: direct)
      else { return nil }
      let target = LoadTarget(
        .direct(direct), layer: part.name, plan: stage.plan, into: StageSQL.table, isFresh: false,
        srs: rows.geometry?.srs)
      try shards.begin(direct, isAlone: isAlone, stagedBy: target.copy)
      return target
    }

    private mutating func addMissing(
      to facts: TableFacts, on connection: PostgresConnection
    ) throws(FieldpackError) -> TableFacts {
      let names = [facts.id?.name, facts.geometry?.name].compactMap { $0?.lowercased() }
      let missing = rows.columns.filter {
        facts.column(stored($0.name)) == nil && !names.contains($0.name.lowercased())
      }
      guard !missing.isEmpty else { return facts }
      var columns: [ColumnDefinition] = []
      for column in missing {
        var column = adapted(column)
        (column.isNullable, column.isUnique, column.defaultSQL) = (true, false, nil)
        columns.append(column)
      }
      guard facts.shards == nil || !options.isDryRun else {
        throw FieldpackError(
          .unsupported,
          "layer '\(part.name)' is divided over servers, where a dry run cannot add column "
            + "'\(missing[0].name)'. Try: the import itself")
      }
      try facts.add(columns, servers: servers, on: connection)
      return try facts.readAgain(on: connection)
    }

    /// The column by which rows find what they replace.
    private func key(in facts: TableFacts) throws(FieldpackError) -> String? {
      guard options.mode == .upsert else { return nil }
      if let match = options.matchColumn {
        guard let index = rows.columnIndex(match) else { throw rows.unknownColumn(match) }
        guard let column = facts.column(stored(rows.columns[index].name)) else {
          throw FieldpackError(.notFound, "layer '\(part.name)' has no column '\(match)'")
        }
        return column.name
      }
      guard let id = facts.id, part.keepsIDs, id.isInteger != hasTextIDs || firstID == nil else {
        throw FieldpackError(
          .invalidArgument, "the features have no ids to be found by", advice: .nameMatchColumn)
      }
      return id.name
    }

    private func plan(for facts: TableFacts, key: String?) -> CopyPlan {
      let isKey = key != nil && key == facts.id?.name
      var id: (name: String, type: BinaryType)?
      if let own = facts.id, own.isInteger, !hasTextIDs, part.keepsIDs, key == nil || isKey {
        id = (own.name, own.type)
      } else if let own = facts.id, !own.isInteger, hasTextIDs, part.keepsIDs {
        id = (own.name, own.type)
      }
      var plan = CopyPlan(
        store: store, layer: part.name, id: id,
        geometry: rows.geometry == nil
          ? nil
          : facts.geometry.map { .init(name: $0.name, srid: $0.srid, rule: $0.rule) },
        columns: rows.columns.indices.compactMap { index in
          let name = stored(rows.columns[index].name)
          guard let column = facts.column(name), !column.isGenerated else { return nil }
          return .init(source: index, name: column.name, type: column.type ?? .text())
        })
      plan.place = facts.shards?.key
      return plan
    }
  }
#endif
