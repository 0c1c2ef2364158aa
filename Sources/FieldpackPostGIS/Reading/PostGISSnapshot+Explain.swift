#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackProjection

  extension PostGISSnapshot {
    /// How each layer answers: the statement that is run first, what is done here, and PostgreSQL's plans.
    func explain(_ query: Query) throws(FieldpackError) -> [Explanation] {
      let plan = try plan(query)
      var explanations: [Explanation] = []
      for layer in plan.layers {
        do throws(FieldpackError) {
          explanations.append(try explain(layer, plan))
        } catch { throw error.adding(location: .init(store: store, layer: layer.name)) }
      }
      return explanations
    }

    private func explain(
      _ layer: LayerPlan, _ plan: PostGISPlan
    ) throws(FieldpackError) -> Explanation {
      var (read, walked) = (layer, plan)
      if plan.gathering != nil {
        let candidates = try NearestCandidates(layer, plan.query, connection, catalogue)
          .candidates()
        walked = try self.plan(candidates)
        read = walked.layers[0]
      }
      let (limit, offset) = walked.bounds(of: read)
      let statement = read.statement(limit: limit, offset: offset)
      let few = read.few(limit: limit, offset: offset)
      var lines: [String] = []
      if !layer.isExact {
        lines.append(
          "tested here: \((try? plan.query.filter.cql2Text) ?? "the whole condition")")
      }
      if let gathering = plan.gathering {
        lines.append("gathered in a temporary file: \(gathering)")
      }
      if let few { lines += try serverPlan(few.sql, few.values) }
      if let few, !few.isWhole {
        lines.append("where there are more than \(few.limit - 1) rows: \(statement.sql)")
      }
      if few?.isWhole != true {
        // For a cursor the server chooses a plan whose first rows come soon.
        lines += try serverPlan(
          "DECLARE fieldpack_explained NO SCROLL CURSOR FOR \(statement.sql)",
          statement.values)
      }
      return Explanation(
        store: store, layer: layer.name, sql: few?.sql ?? statement.sql,
        parameters: (few?.values ?? statement.values).map(\.shown), plan: lines,
        transformation: try layer.transformation()?.report)
    }

    /// PostgreSQL's plan of a statement.
    private func serverPlan(
      _ sql: String, _ values: [PostgresValue]
    ) throws(FieldpackError) -> [String] {
      let rows = try connection.execute("EXPLAIN \(sql)", values)
      return (0..<rows.count).map { rows.text($0, 0) ?? "" }
    }
  }

  extension PostgresValue {
    /// The value as explanations show it.
    fileprivate var shown: Value {
      switch self {
      case .null: .null
      case .boolean(let flag): .boolean(flag)
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .text(text)
      case .bytes(let bytes): .blob(bytes)
      case .binary(let bytes, PostgresType.date) where bytes.count == 4:
        .text(String(decoding: MomentText.date(Self.number(bytes)), as: UTF8.self))
      case .binary(let bytes, PostgresType.timestamptz) where bytes.count == 8,
        .binary(let bytes, PostgresType.timestamp) where bytes.count == 8:
        .text(String(decoding: MomentText.instant(Self.number(bytes)), as: UTF8.self))
      case .binary(let bytes, _): .blob(bytes)
      }
    }

    private static func number(_ bytes: [UInt8]) -> Int64 {
      var number: Int64 = bytes.first.map { $0 >= 0x80 } == true ? -1 : 0
      for byte in bytes { number = number << 8 | Int64(byte) }
      return number
    }
  }
#endif
