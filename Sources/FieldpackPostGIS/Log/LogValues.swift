#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackSQLite

  /// The values of a layer's rows in the form that a GeoPackage has, and back.
  struct LogValues {
    let layer: PostGISLayer
    /// The columns of each edit's values: the geometry, then the attributes.
    let names: [String]
    /// The columns without the geometry; those that the server makes are not exchanged.
    private let attributes: [PostGISColumn]
    /// What blobs of geometries say of their SRS.
    let srsID: Int32
    /// The id, then ``names``.
    let columns: [String]
    let valueColumns: [Int]
    /// What is selected of a row for its values.
    let selection: [String]

    init(_ layer: PostGISLayer) {
      self.layer = layer
      attributes = layer.columns.filter { !$0.isGenerated }
      names = (layer.geometry.map { [$0.name] } ?? []) + attributes.map(\.name)
      srsID = (layer.schema.geometry?.srs ?? .undefinedCartesian).code
      columns = [layer.schema.idColumn ?? ""] + names
      valueColumns = Array(columns.indices.dropFirst())
      selection =
        (layer.geometry == nil ? [] : [layer.geometrySQL]) + attributes.map(\.expression)
    }

    /// The column at a position in ``columns``, in quotes.
    func quoted(_ column: Int) -> String { quotedUnchecked(columns[column]) }

    // MARK: Reading

    /// The values of ``columns`` in a row of a result; the id is NULL.
    ///
    /// - Parameter place: the first column of ``selection`` in the result.
    func values(
      _ rows: PostgresRows, _ row: Int, from place: Int
    ) throws(FieldpackError) -> [SQLiteValue] {
      var values: [SQLiteValue] = [.null]
      var place = place
      if layer.geometry != nil {
        values.append(try blob(rows, row, place))
        place += 1
      }
      for column in attributes {
        values.append(Self.value(rows, row, place, column.kind))
        place += 1
      }
      return values
    }

    private func blob(
      _ rows: PostgresRows, _ row: Int, _ place: Int
    ) throws(FieldpackError) -> SQLiteValue {
      guard !rows.isNull(row, place) else { return .null }
      var blob: [UInt8] = []
      do throws(GeometryError) {
        let bytes = Array(rows.bytes(row, place))
        try GeoPackageBinary.append(wkb: bytes.span.bytes, srsID: srsID, to: &blob)
      } catch {
        throw FieldpackError(
          .invalidData, "the server sent a geometry that is none: \(error)",
          location: .init(layer: layer.layer))
      }
      return .blob(blob)
    }

    private static func value(
      _ rows: PostgresRows, _ row: Int, _ place: Int, _ kind: PostGISColumn.Kind
    ) -> SQLiteValue {
      guard !rows.isNull(row, place) else { return .null }
      switch kind {
      case .integer, .boolean: return rows.integer(row, place).map { .integer($0) } ?? .null
      case .real: return rows.real(row, place).flatMap { $0.isNaN ? nil : .real($0) } ?? .null
      case .text: return rows.text(row, place).map { .text($0) } ?? .null
      case .date, .instant:
        guard let text = MomentText.text(rows, row, place, kind) else { return .null }
        return .text(String(decoding: text, as: UTF8.self))
      case .blob: return .blob(Array(rows.bytes(row, place)))
      }
    }

    // MARK: Writing

    /// A value as a statement takes it.
    struct Bound {
      /// The expression in SQL.
      var sql: String
      var value: PostgresValue
    }

    /// - Parameters:
    ///   - column: its position in ``columns``, not that of the id.
    ///   - number: of the parameter.
    /// - Throws: `.invalidData` for what is no geometry where one should be.
    func bound(
      _ value: SQLiteValue, _ column: Int, number: Int
    ) throws(FieldpackError) -> Bound {
      guard let geometry = layer.geometry else {
        return Self.bound(value, attributes[column - 1], "$\(number)")
      }
      if column > 1 { return Self.bound(value, attributes[column - 2], "$\(number)") }
      let made = "ST_SetSRID(ST_GeomFromWKB($\(number)::bytea), \(geometry.srid))"
      return Bound(
        sql: geometry.isGeography ? "\(made)::geography" : made, value: try Self.wkb(value))
    }

    private static func wkb(_ value: SQLiteValue) throws(FieldpackError) -> PostgresValue {
      switch value {
      case .null: return .null
      case .blob(let blob):
        do throws(GeometryError) {
          let header = try GeoPackageBinary(blob.span.bytes)
          return .bytes(Array(blob[header.bodyOffset...]))
        } catch {
          throw FieldpackError(.invalidData, "a geometry is no blob of a GeoPackage: \(error)")
        }
      default: throw FieldpackError(.invalidData, "a geometry is no blob")
      }
    }

    private static func bound(
      _ value: SQLiteValue, _ column: PostGISColumn, _ mark: String
    ) -> Bound {
      if column.kind == .blob {
        switch value {
        case .blob(let bytes): return Bound(sql: "\(mark)::bytea", value: .bytes(bytes))
        default: return Bound(sql: "convert_to(\(mark)::text, 'UTF8')", value: text(value))
        }
      }
      if column.isArray {
        // An array of NULL would be an empty one.
        return Bound(
          sql: "CASE WHEN \(mark)::text IS NOT NULL THEN "
            + "ARRAY(SELECT jsonb_array_elements_text(\(mark)::text::jsonb))::\(column.typeName) END",
          value: text(value))
      }
      let texts = [
        PostgresType.text, PostgresType.varchar, PostgresType.bpchar, PostgresType.name,
      ]
      // A cast to a text of limited length would cut it; what is assigned is checked instead.
      let type = texts.contains(column.type) ? "text" : column.typeName
      return Bound(
        sql: type == "text" ? "\(mark)::text" : "\(mark)::text::\(type)",
        value: text(value, hasFractions: column.kind == .real))
    }

    /// The text from which the server makes a value of the column's type.
    private static func text(
      _ value: SQLiteValue, hasFractions: Bool = false
    ) -> PostgresValue {
      switch value {
      case .null: .null
      case .integer(let number): .text("\(number)")
      case .real(let number):
        .text(hasFractions ? "\(number)" : Int64(exactly: number).map { "\($0)" } ?? "\(number)")
      case .text(let text): .text(text)
      case .blob(let bytes): .text("\\x" + String(hex: bytes))
      }
    }
  }
#endif
