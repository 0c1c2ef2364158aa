#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackProjection

  /// Makes a layer of what the catalogue tells of one table.
  struct LayerBuilder {
    let reader: CatalogueReader
    let oid: UInt32
    let name: String
    /// `r` table, `p` partitioned, `v` view, `m` materialised view, `f` foreign table.
    let kind: String
    /// The estimated number of rows; -1 where it is not known.
    let rows: Double?
    let description: String?
    let size: Int64?
    let hasPolicies: Bool
    let columns: [CatalogueReader.Column]
    let indexes: [CatalogueReader.Index]

    private var table: String {
      "\(quotedUnchecked(reader.scope.schema)).\(quotedUnchecked(name))"
    }

    func layer() throws(FieldpackError) -> PostGISLayer {
      let key = try key()
      let spatial = columns.filter { ["geometry", "geography"].contains($0.spatialType) }
      let geometry = try spatial.first.map { (column) throws(FieldpackError) in
        try geometrySource(column)
      }
      let attributes = columns.filter {
        $0.spatialType == nil && $0.column != key?.column && $0.column != shardColumn?.column
      }
      var schema = Schema(
        layer: LayerID(name), idColumn: key?.column.name, geometry: geometry?.column,
        columns: attributes.map { definition($0) })
      schema.style = reader.scope.style
      let count = rows.flatMap { $0 >= 0 ? Int(min($0, 1e15)) : nil }
      var made = PostGISLayer(
        schema: schema, oid: oid, isView: kind == "v" || kind == "m", hasPolicies: hasPolicies,
        table: table,
        id: key.map { .column($0.column) } ?? .rowNumber, geometry: geometry?.source,
        columns: attributes.map(\.column),
        primaryKey: indexes.first { $0.isPrimary }?.columns ?? [],
        definition: geometry?.definition, description: description, estimatedRows: count,
        rowBytes: rowBytes,
        // The tables that inherit from a table count their places anew.
        rowOrder: ["r", "p", "m"].contains(kind) ? "ORDER BY tableoid, ctid" : "",
        notes: notes(key, spatial) + [geometry?.note].compactMap(\.self))
      made.takesIDs = key.map { $0.column.kind == .text && $0.defaultSQL == nil } ?? false
      made.computedDefaults = Set(attributes.filter(hasComputedDefault).map(\.column.name))
      if let shardKey {
        made.shards = try ShardLayout.read(
          oid, shardKey, in: reader.scope.schema, on: reader.connection)
      }
      return made
    }

    /// Of a table that the server has not measured, a few rows are asked for first.
    private var rowBytes: Int {
      guard let size, let rows, rows >= 0 else { return 16_384 }
      return Int(min(max(32, Double(size) / max(1, rows)), 1e8))
    }

    /// The column with the places of features on the curve, in a table that is divided by it.
    private var shardColumn: CatalogueReader.Column? {
      guard kind == "p" else { return nil }
      let column = columns.first { $0.column.name == ShardKey.column }
      return column?.description.flatMap(ShardKey.init(comment:)) == nil ? nil : column
    }

    private var shardKey: ShardKey? {
      shardColumn?.description.flatMap(ShardKey.init(comment:))
    }

    // MARK: The id

    /// The column of the id: what the config names, the primary key, or another column that tells rows
    /// apart and may not be NULL.
    private func key() throws(FieldpackError) -> CatalogueReader.Column? {
      if let shardKey {
        // The parts have the key.
        return columns.first { $0.column.name == shardKey.idColumn && canBeID($0) }
      }
      if let named = reader.scope.tables?.first(where: { $0.name == name })?.id {
        guard let column = columns.first(where: { $0.column.name == named }), canBeID(column) else {
          throw FieldpackError(
            .configuration,
            "the table '\(name)' has no column '\(named)' of integers or texts for its ids",
            location: .init(store: reader.store, layer: LayerID(name)))
        }
        return column
      }
      for index in indexes where index.isUnique && index.columns.count == 1 {
        let column = columns.first { $0.column.name == index.columns[0] }
        if let column, canBeID(column), index.isPrimary || !column.isNullable { return column }
      }
      return nil
    }

    private func canBeID(_ column: CatalogueReader.Column) -> Bool {
      guard column.spatialType == nil, !column.column.isArray else { return false }
      return column.column.kind == .integer || column.column.kind == .text
    }

    // MARK: Geometry

    private struct Geometry {
      var column: GeometryColumn
      var source: PostGISLayer.GeometrySource
      var definition: String?
      var note: Note?
    }

    private func geometrySource(
      _ column: CatalogueReader.Column
    ) throws(FieldpackError) -> Geometry {
      let modifier = column.column.modifier
      let isGeography = column.spatialType == "geography"
      var (type, dimensions, srid) = ("Geometry", Int64(0), Int64(0))
      if modifier >= 0 {
        let told = try reader.connection.execute(
          "SELECT postgis_typmod_type($1::int4), postgis_typmod_dims($1::int4), "
            + "postgis_typmod_srid($1::int4)", [.int4(modifier)])
        (type, dimensions) = (told.text(0, 0) ?? type, told.integer(0, 1) ?? 0)
        srid = told.integer(0, 2) ?? 0
      }
      let isStated = srid > 0 || isGeography
      if isGeography, srid <= 0 { srid = 4326 }
      var note: Note?
      if !isStated { (srid, note) = try foundSRID(column.column) }
      let (srs, definition) = try system(srid)
      let plain = type.uppercased().filter { $0 != " " }
      let base = GeometryType(name: plain) ?? GeometryType(name: plain.withoutDimensions)
      var geometry = GeometryColumn(
        column.column.name, type: base ?? .geometry, srs: srs, z: .prohibited, m: .prohibited)
      if modifier < 0 {
        (geometry.z, geometry.m) = (.optional, .optional)
      } else {
        let hasM = plain != base?.name && plain.hasSuffix("M") && dimensions > 2
        geometry.z = dimensions == 4 || (dimensions == 3 && !hasM) ? .mandatory : .prohibited
        geometry.m = hasM || dimensions == 4 ? .mandatory : .prohibited
      }
      let simple: [GeometryType] = [
        .point, .lineString, .polygon, .multiPoint, .multiLineString, .multiPolygon,
      ]
      let source = PostGISLayer.GeometrySource(
        name: column.column.name, srid: Int32(truncatingIfNeeded: srid), statesSRID: isStated,
        isGeography: isGeography,
        hasIndex: shardKey != nil
          || indexes.contains { $0.isGist && $0.columns.first == column.column.name },
        isSimple: simple.contains(geometry.type), isPoint: geometry.type == .point)
      return Geometry(column: geometry, source: source, definition: definition, note: note)
    }

    /// The SRID where the type of the column does not say one: that of a constraint, or of the first
    /// geometry. It is 0, with a note, where it cannot be found out.
    private func foundSRID(_ column: PostGISColumn) throws(FieldpackError) -> (Int64, Note?) {
      do throws(FieldpackError) {
        return try inSavepoint { () throws(FieldpackError) in
          let stated = try reader.connection.execute(
            "SELECT \(CatalogueQueries.constraintSRID(table: "a.attrelid", column: "a.attnum")) "
              + "FROM pg_attribute a WHERE a.attrelid = $1 AND a.attname = $2",
            [.integer(Int64(oid)), .text(column.name)])
          if stated.count == 1, let srid = stated.integer(0, 0), srid > 0 { return (srid, nil) }
          // Every reading of the catalogue would run a view, which may take long or fail.
          guard kind != "v", kind != "f" else {
            return (
              0,
              Note(
                "the SRID of '\(column.name)' is not known, because the column does not state it. "
                  + "Try: a cast to geometry(Geometry, SRID)")
            )
          }
          let first = try reader.connection.execute(
            "SELECT ST_SRID(\(column.quoted)) FROM \(table) WHERE \(column.quoted) IS NOT NULL "
              + "LIMIT 1")
          return (first.count == 1 ? first.integer(0, 0) ?? 0 : 0, nil)
        }
      } catch {
        guard error.sqlState != nil, error.code != .interrupted else { throw error }
        return (0, Note("the SRID of '\(column.name)' is not known: \(error.message)"))
      }
    }

    /// Runs `body`, which only reads, so that an error of the server does not end the transaction, if there
    /// is one.
    private func inSavepoint<R>(
      _ body: () throws(FieldpackError) -> R
    ) throws(FieldpackError) -> R {
      let connection = reader.connection
      guard connection.isInTransaction else { return try connection.transaction(.snapshot, body) }
      return try connection.savepoint(body)
    }

    /// The system of an SRID, and its definition where its code alone says nothing.
    private func system(_ srid: Int64) throws(FieldpackError) -> (SRS, String?) {
      guard srid > 0 else { return (.undefinedCartesian, nil) }
      let found = try reader.connection.execute(
        "SELECT auth_name, auth_srid, srtext FROM spatial_ref_sys WHERE srid = $1",
        [.integer(srid)])
      guard found.count == 1 else { return (SRS("EPSG", Int32(truncatingIfNeeded: srid)), nil) }
      let text = found.text(0, 2)
      guard let name = found.text(0, 0), !name.isEmpty, let code = found.integer(0, 1) else {
        return (SRS("NONE", Int32(truncatingIfNeeded: srid)), text)
      }
      let srs = SRS(name, Int32(truncatingIfNeeded: code))
      if srs.organization == "EPSG" || srs.organization == "ESRI" || srs.organization == "OGC" {
        return (srs, nil)
      }
      return (srs, text)
    }

    // MARK: Columns

    private func definition(_ column: CatalogueReader.Column) -> ColumnDefinition {
      let name = column.column.name
      var definition = ColumnDefinition(
        name, column.column.columnType, isNullable: column.isNullable,
        isUnique: indexes.contains { $0.isUnique && $0.columns == [name] },
        defaultSQL: column.column.isGenerated ? nil : column.defaultSQL.flatMap(PlainDefault.sql),
        isGenerated: column.column.isGenerated, description: column.description)
      definition.isPrimaryKey =
        indexes.first { $0.isPrimary }?.columns.contains(name) ?? false
      return definition
    }

    private func hasComputedDefault(_ column: CatalogueReader.Column) -> Bool {
      guard !column.isNullable, !column.column.isGenerated, let sql = column.defaultSQL else {
        return false
      }
      return PlainDefault.sql(sql) == nil
    }

    private func notes(
      _ key: CatalogueReader.Column?, _ spatial: [CatalogueReader.Column]
    ) -> [Note] {
      var notes: [Note] = []
      if key == nil {
        let isView = !["r", "p", "m"].contains(kind)
        notes.append(
          Note(
            "there is no key of one column, so that ids are numbers of rows"
              + (isView ? ", given anew by each query. \(PostGISLayer.idAdvice)" : "")))
      }
      for other in spatial.dropFirst() {
        notes.append(
          "the geometry column '\(other.column.name)' is left out, because a layer has one")
      }
      for other in columns where ["raster", "box2d", "box3d"].contains(other.spatialType) {
        notes.append(
          "the column '\(other.column.name)' of the type \(other.column.typeName) is left out")
      }
      for column in columns where column.column.isRounded && column.spatialType == nil {
        notes.append(
          "the digits of '\(column.column.name)', a numeric without limits, may differ from the 15th on"
        )
      }
      return notes
    }
  }

  extension String {
    /// The name of a type of geometries without `Z`, `M` or `ZM` at its end.
    fileprivate var withoutDimensions: String {
      for end in ["ZM", "Z", "M"] where hasSuffix(end) { return String(dropLast(end.count)) }
      return self
    }
  }
#endif
