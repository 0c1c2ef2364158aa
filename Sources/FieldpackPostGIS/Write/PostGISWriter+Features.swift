#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  extension PostGISWriter {
    /// A column with what is bound for it.
    private struct Assignment {
      var column: String
      /// What stands for the value, `$` and a number put in place of the mark.
      var mark = "$"
      var value: PostgresValue
    }

    func create(_ feature: Feature, in layer: LayerID) throws(FieldpackError) -> FeatureID {
      do throws(FieldpackError) {
        return try step(in: layer, feature.id) { () throws(FieldpackError) in
          try insert(feature, layer)
        }
      } catch {
        // The sequence may be behind ids that another program chose.
        guard feature.id == nil, error.sqlState?.text == "23505" else { throw error }
        return try step(in: layer) { () throws(FieldpackError) in
          let facts = try facts(layer)
          guard facts.id?.sequence != nil else { throw error }
          try advanceBeyondAll(facts)
          return try insert(feature, layer)
        }
      }
    }

    private func insert(
      _ feature: Feature, _ layer: LayerID
    ) throws(FieldpackError) -> FeatureID {
      let (facts, id) = try writable(layer)
      var values = try assignments(feature.attributes, facts, layer)
      if let geometry = feature.geometry {
        values.append(try assignment(geometry, facts, layer))
      }
      if let shards = facts.shards {
        values.append(place(feature.geometry, shards))
        // Another server may have the id, which the one of the feature's place does not know.
        if let own = feature.id { try checkIsNew(own, id, facts, layer) }
      }
      if let own = feature.id {
        values.append(
          .init(column: quotedUnchecked(id.name), value: try given(own, id, layer)))
      } else {
        try settleIDs(of: facts)
      }
      let table = try facts.name.sql()
      let quotedID = quotedUnchecked(id.name)
      var names = values.map(\.column)
      var marks = values.indices.map { values[$0].mark.numbered($0 + 1) }
      if feature.id == nil, !id.hasDefault {
        guard id.isInteger else {
          throw FieldpackError(
            .invalidData,
            "layer '\(layer)' gives no ids itself, and the feature has none. Try: an 'id' of its own, "
              + "or a default of the column '\(id.name)'")
        }
        names.append(quotedID)
        marks.append("(SELECT coalesce(max(\(quotedID)), 0) + 1 FROM \(table))")
      }
      let content =
        names.isEmpty
        ? "DEFAULT VALUES"
        : "(\(names.joined(separator: ", "))) "
          + (feature.id != nil && id.isAlways ? "OVERRIDING SYSTEM VALUE " : "")
          + "VALUES (\(marks.joined(separator: ", ")))"
      let rows = try connection.execute(
        "INSERT INTO \(table) \(content) RETURNING \(id.asKey)", values.map(\.value))
      guard rows.count == 1, let key = id.key(rows) else {
        throw FieldpackError(.constraint, "the database left the feature out")
      }
      if feature.id != nil { noteGiven(key, facts) }
      return key
    }

    /// The form in which the id of a new feature is sent. A text for a layer with numbers is `.notFound`, as in
    /// every store.
    private func given(
      _ id: FeatureID, _ column: TableFacts.ID, _ layer: LayerID
    ) throws(FieldpackError) -> PostgresValue {
      if column.isInteger { return try sent(id, column, layer) }
      if let value = column.value(of: id) { return value }
      throw FieldpackError(
        .invalidData,
        "the id '\(id)' of a feature is no \(column.type.name), as layer '\(layer)' has",
        location: .init(store: store, layer: layer, feature: id))
    }

    func upsert(_ feature: Feature, in layer: LayerID) throws(FieldpackError) -> FeatureID {
      guard let id = feature.id else { return try create(feature, in: layer) }
      do throws(FieldpackError) {
        try update(
          id, in: layer, set: feature.attributes,
          geometry: feature.geometry.map { .set($0) } ?? .keep)
        return id
      } catch {
        guard error.code == .notFound, error.location.feature != nil, error.underlying is NoFeature
        else { throw error }
        return try create(feature, in: layer)
      }
    }

    func update(
      _ id: FeatureID, in layer: LayerID, set attributes: Attributes, geometry: GeometryUpdate
    ) throws(FieldpackError) {
      try update(id, in: layer, set: attributes, toDefault: [], geometry: geometry)
    }

    func update(
      _ id: FeatureID, in layer: LayerID, set attributes: Attributes,
      toDefault columns: [ColumnDefinition], geometry: GeometryUpdate
    ) throws(FieldpackError) {
      try step(in: layer, id) { () throws(FieldpackError) in
        let (facts, column) = try writable(layer)
        let key = try sent(id, column, layer)
        var values = try assignments(attributes, facts, layer)
        if case .set(let new) = geometry { values.append(try assignment(new, facts, layer)) }
        let defaulted = columns.map { quotedUnchecked(facts.column($0.name)?.name ?? $0.name) }
        let table = try facts.name.sql()
        let condition = "WHERE \(quotedUnchecked(column.name)) = $\(values.count + 1)"
        let changed: Int
        if case .set(let new) = geometry, let shards = facts.shards {
          values.append(place(new, shards))
          changed = try move(values, toDefault: defaulted, facts, condition, key)
        } else if values.isEmpty, defaulted.isEmpty {
          changed = try connection.execute("SELECT 1 FROM \(table) \(condition)", [key]).count
        } else {
          let sets =
            values.indices.map {
              "\(values[$0].column) = \(values[$0].mark.numbered($0 + 1))"
            } + defaulted.map { "\($0) = DEFAULT" }
          changed = try connection.execute(
            "UPDATE \(table) SET \(sets.joined(separator: ", ")) \(condition)",
            values.map(\.value) + [key]
          ).changedCount
        }
        if changed == 0 { throw missing(id, layer) }
      }
    }

    func delete(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) {
      try step(in: layer, id) { () throws(FieldpackError) in
        let (facts, column) = try writable(layer)
        let changed = try connection.execute(
          "DELETE FROM \(try facts.name.sql()) WHERE \(quotedUnchecked(column.name)) = $1",
          [try sent(id, column, layer)]
        ).changedCount
        if changed == 0 { throw missing(id, layer) }
      }
    }

    /// That a layer has no feature of an id, and not that anything else is missing.
    private struct NoFeature: Error {}

    private func missing(_ id: FeatureID, _ layer: LayerID) -> FieldpackError {
      FieldpackError(
        .notFound, "layer '\(layer)' of store '\(store)' has no feature \(id)",
        location: .init(store: store, layer: layer, feature: id), underlying: NoFeature())
    }

    // MARK: Divided layers

    private func place(_ geometry: Geometry?, _ shards: ShardLayout) -> Assignment {
      let isPlain = geometry?.type.hasPositionsOnly ?? true
      let number = isPlain ? shards.key.number(geometry?.envelope) : ShardKey.wide
      return Assignment(column: ShardSQL.hilbert, value: .integer(number))
    }

    private func checkIsNew(
      _ id: FeatureID, _ column: TableFacts.ID, _ facts: TableFacts, _ layer: LayerID
    ) throws(FieldpackError) {
      let found = try connection.execute(
        "SELECT 1 FROM \(try facts.name.sql()) WHERE \(quotedUnchecked(column.name)) = $1",
        [try given(id, column, layer)])
      guard found.count > 0 else { return }
      throw FieldpackError(
        .constraint, "layer '\(layer)' has a feature \(id) already",
        location: .init(layer: layer, feature: id))
    }

    /// Changes a feature whose place changes. PostgreSQL moves no row from one server to another, so
    /// it is deleted there and inserted here.
    ///
    /// - Parameter defaulted: the columns that are not inserted, so that they get their defaults.
    private func move(
      _ values: [Assignment], toDefault defaulted: [String], _ facts: TableFacts,
      _ condition: String, _ key: PostgresValue
    ) throws(FieldpackError) -> Int {
      let table = try facts.name.sql()
      let names = try connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 "
          + "AND NOT attisdropped ORDER BY attname = '\(ShardKey.column)'", [.text(table)])
      let columns = (0..<names.count).compactMap { names.text($0, 0).map(quotedUnchecked) }
        .filter { !defaulted.contains($0) }
      let contents = columns.map { column in
        let index = values.firstIndex { $0.column == column }
        return index.map { values[$0].mark.numbered($0 + 1) } ?? column
      }
      // The new place stands behind the number of the condition's value.
      var sent = values.map(\.value)
      sent.insert(key, at: sent.count - 1)
      let marks = contents.dropLast() + ["$\(values.count + 1)"]
      return try connection.execute(
        """
        WITH gone AS (DELETE FROM \(table) \(condition) RETURNING *)
        INSERT INTO \(table) (\(columns.joined(separator: ", ")))
        SELECT \(marks.joined(separator: ", ")) FROM gone
        """, sent
      ).changedCount
    }

    // MARK: Values

    private func assignments(
      _ attributes: Attributes, _ facts: TableFacts, _ layer: LayerID
    ) throws(FieldpackError) -> [Assignment] {
      var values: [Assignment] = []
      for element in attributes.elements {
        guard let column = facts.column(element.name) else {
          if facts.id?.name.lowercased() == element.name.lowercased() { continue }
          throw Schema(
            layer: layer, idColumn: facts.id?.name,
            columns: facts.columns.map { ColumnDefinition($0.name, .other($0.typeSQL)) }
          ).unknownColumn(element.name)
        }
        guard !column.isGenerated else {
          throw refused(column, layer, "is generated and cannot be written")
        }
        values.append(try assignment(element.value, column, layer))
      }
      return values
    }

    private func assignment(
      _ value: Value, _ column: TableFacts.Column, _ layer: LayerID
    ) throws(FieldpackError) -> Assignment {
      let name = quotedUnchecked(column.name)
      if value.isNull { return Assignment(column: name, value: .null) }
      if let type = column.type {
        guard let bytes = type.bytes(of: value) else {
          throw refused(column, layer, "is \(column.typeSQL) and cannot hold this value")
        }
        return Assignment(column: name, value: .binary(bytes))
      }
      guard let bytes = BinaryType.text().bytes(of: value) else {
        throw refused(column, layer, "is \(column.typeSQL) and cannot hold this value")
      }
      return Assignment(
        column: name, mark: "$::text::\(column.typeSQL)",
        value: .binary(bytes, type: PostgresType.text))
    }

    private func refused(
      _ column: TableFacts.Column, _ layer: LayerID, _ why: String
    ) -> FieldpackError {
      FieldpackError(.invalidData, "column '\(column.name)' of layer '\(layer)' \(why)")
    }

    private func assignment(
      _ geometry: Geometry?, _ facts: TableFacts, _ layer: LayerID
    ) throws(FieldpackError) -> Assignment {
      guard let column = facts.geometry else {
        throw FieldpackError(.invalidData, "layer '\(layer)' has no geometry column")
      }
      let name = quotedUnchecked(column.name)
      guard let geometry else { return Assignment(column: name, value: .null) }
      if let reason = column.rule.refusalByPostGIS(of: geometry.type, geometry.dimensions) {
        throw FieldpackError(.invalidData, "layer '\(layer)' \(reason)")
      }
      do throws(EWKBMistake) {
        let bytes = try EWKB.bytes(of: geometry, srid: column.srid)
        return Assignment(column: name, value: .binary(bytes))
      } catch {
        throw FieldpackError(
          .invalidData, "layer '\(layer)' refuses the geometry: \(error)", underlying: error)
      }
    }
  }

  extension TableFacts {
    /// A column by its name, else ignoring case.
    func column(_ name: String) -> Column? {
      columns.first { $0.name == name }
        ?? columns.first { $0.name.lowercased() == name.lowercased() }
    }
  }

  extension TableFacts.ID {
    /// The id in SQL, as an integer of eight bytes or a text.
    var asKey: String { quotedUnchecked(name) + (isInteger ? "::int8" : "::text") }

    /// The form in which an id is sent; `nil` where the column cannot hold it.
    func value(of id: FeatureID) -> PostgresValue? {
      let bytes: [UInt8]? =
        switch id {
        case .integer(let number): isInteger ? type.bytes(of: .integer(number)) : nil
        case .text(let text): isInteger ? nil : type.bytes(of: .text(text))
        }
      return bytes.map { .binary($0) }
    }

    /// The id in the first row of an answer.
    func key(_ rows: PostgresRows) -> FeatureID? {
      isInteger ? rows.integer(0, 0).map { .integer($0) } : rows.text(0, 0).map { .text($0) }
    }
  }

  extension String {
    /// The text with a number behind its first sign, which is `$`.
    fileprivate func numbered(_ number: Int) -> String { "$\(number)\(dropFirst())" }
  }
#endif
