#if PostGIS
  package import FieldpackCore
  import FieldpackGeoPackage

  extension ServedPostGIS {
    package func extract(
      _ query: Query, of layer: LayerID, isWhole: Bool, into pending: PendingFile
    ) async throws(FieldpackError) {
      let found = try await self.layer(layer)
      if isWhole, try await isLogged(found) {
        do throws(FieldpackError) {
          return try await FieldCheckout(of: store, nil).fill(pending, with: [found.layer])
        } catch {
          // Whoever may not lock the table, or not now, gets the features without the log.
          guard [.permission, .readOnly, .busy].contains(error.code) else { throw error }
        }
      }
      let id = found.hasTextID ? found.schema.idColumn : nil
      try await store.state { (snapshot) throws(FieldpackError) in
        let writer = try GeoPackageBulkWriter(filling: pending, store: snapshot.store)
        writer.keepsNames = true
        var sink = ExtractedRows(writer, textID: id)
        try snapshot.scan(query, into: &sink)
        _ = try writer.commit()
      }
    }

    private func isLogged(_ layer: PostGISLayer) async throws(FieldpackError) -> Bool {
      do throws(FieldpackError) {
        return try await store.snapshot { (snapshot) throws(FieldpackError) in
          _ = try snapshot.log(of: layer.layer)
          return true
        }
      } catch {
        guard error.code == .notFound || error.code == .permission else { throw error }
        return false
      }
    }
  }

  /// Stores rows in a new file. Ids that are texts become a column, because ids there are integers.
  private struct ExtractedRows: FeatureSink {
    private let writer: GeoPackageBulkWriter
    /// The column of ids that are texts.
    private let textID: String?
    private var schema: Schema?

    init(_ writer: GeoPackageBulkWriter, textID: String?) {
      (self.writer, self.textID) = (writer, textID)
    }

    mutating func begin(_ schema: Schema) throws(FieldpackError) {
      var schema = schema.copied(storedTypes: [:])
      if let textID {
        schema.idColumn = schema.columnIndex("fid") == nil ? "fid" : "fid_2"
        schema.columns.insert(ColumnDefinition(textID, .text()), at: 0)
      }
      let hasIDs = textID == nil && schema.idColumn != nil
      if self.schema == nil { try writer.create(schema, ids: hasIDs ? .given : .assigned) }
      self.schema = schema
      try writer.loader.begin(schema)
    }

    mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
      guard textID != nil, let schema else { return try writer.loader.feature(row) }
      var values: [Value] = [.text(row.id.description)]
      for index in schema.columns.indices.dropLast() { values.append(row.stored(at: index)) }
      let wkb = row.withGeometry { bytes in bytes.withUnsafeBytes { Array($0) } }
      try writer.loader.feature(ValueRow(id: 1, values, wkb: wkb))
    }
  }
#endif
