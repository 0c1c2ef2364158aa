#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  @testable import FieldpackPostGIS

  extension TestSchema {
    /// Makes the table of a layer and fills it, by plain SQL.
    func fill(_ schema: Schema, _ features: [Feature]) throws {
      let connection = try cluster.connection()
      let table = "\(quotedUnchecked(name)).\(quotedUnchecked(schema.layer.rawValue))"
      var columns = ["fid bigint PRIMARY KEY"]
      if let geometry = schema.geometry {
        columns.append(
          "\(quotedUnchecked(geometry.name)) geometry(\(geometry.type.name), \(geometry.srs.code))")
      }
      columns += schema.columns.map { "\(quotedUnchecked($0.name)) \(Self.type($0.type))" }
      try connection.execute("CREATE TABLE \(table) (\(columns.joined(separator: ", ")))")
      if let geometry = schema.geometry {
        try connection.execute(
          "CREATE INDEX ON \(table) USING gist (\(quotedUnchecked(geometry.name)))")
      }
      try connection.transaction { () throws(FieldpackError) in
        for feature in features { try insert(feature, schema, table, connection) }
      }
      try connection.execute("ANALYZE \(table)")
    }

    private static func type(_ type: ColumnType) -> String {
      switch type {
      case .boolean: "boolean"
      case .tinyInt, .smallInt: "smallint"
      case .mediumInt: "integer"
      case .integer: "bigint"
      case .float: "real"
      case .double: "double precision"
      case .text(nil), .other: "text"
      case .text(let length?): "varchar(\(length))"
      case .blob: "bytea"
      case .date: "date"
      case .dateTime: "timestamptz"
      case .json: "json"
      }
    }

    private func insert(
      _ feature: Feature, _ schema: Schema, _ table: String, _ connection: PostgresConnection
    ) throws(FieldpackError) {
      guard case .integer(let id)? = feature.id else { return }
      var values: [PostgresValue] = [.integer(id)]
      var places = ["$1"]
      if let column = schema.geometry {
        values.append(feature.geometry.map { .bytes(WKB.bytes(of: $0)) } ?? .bytes([]))
        let isThere = feature.geometry != nil
        places.append(
          isThere
            ? "ST_GeomFromWKB($2, \(column.srs.code))" : "nullif($2, '\\x')::text::geometry")
      }
      for column in schema.columns {
        let value = feature.attributes[column.name] ?? .null
        values.append(Self.value(value))
        let cast = value == .null ? "::text::\(Self.type(column.type))" : ""
        places.append("$\(values.count)\(cast)")
      }
      try connection.execute(
        "INSERT INTO \(table) VALUES (\(places.joined(separator: ", ")))", values)
    }

    private static func value(_ value: Value) -> PostgresValue {
      switch value {
      case .null: .null
      case .boolean(let flag): .boolean(flag)
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .text(text)
      case .blob(let bytes): .bytes(bytes)
      case .date(let day): PostgresTime.date(dayNumber: Int64(day.dayNumber))
      case .dateTime(let instant): PostgresTime.instant(milliseconds: instant.milliseconds)
      }
    }
  }
#endif
