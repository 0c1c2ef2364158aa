#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackProjection

  extension PostGISSnapshot {
    /// How each layer answers: the statement, what is done here, and PostgreSQL's plan.
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
      var statement = layer.statement()
      if plan.gathering != nil {
        let candidates = try NearestCandidates(layer, plan.query, connection, catalogue)
          .candidates()
        statement = try self.plan(candidates).layers[0].statement()
      } else if plan.pushesLimit {
        statement = layer.statement(limit: plan.query.limit, offset: plan.query.offset)
      }
      var lines: [String] = []
      if !layer.isExact {
        lines.append(
          "tested here: \((try? plan.query.filter.cql2Text) ?? "the whole condition")")
      }
      if let gathering = plan.gathering {
        lines.append("gathered in a temporary file: \(gathering)")
      }
      let rows = try connection.execute("EXPLAIN \(statement.sql)", statement.values)
      for row in 0..<rows.count { lines.append(rows.text(row, 0) ?? "") }
      return Explanation(
        store: store, layer: layer.name, sql: statement.sql,
        parameters: statement.values.map(\.shown), plan: lines,
        transformation: try layer.transformation()?.report)
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
