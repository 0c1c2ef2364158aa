#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackGeometry

  /// A table that takes the rows of a layer by COPY, and what is to be done before and after.
  struct LoadTarget: Sendable {
    /// How the rows get into the layer.
    enum Way: Sendable {
      /// Into a new table, whose indexes are made behind the rows, but for its key where that tells which
      /// rows are bad.
      case new(LayerSQL, hasKey: Bool)
      /// Behind the rows of a table, which gives them ids, or into an empty one with their own.
      case behind(TableFacts)
      /// By a temporary table, from which they are inserted, or replace what has the same key.
      case staged(StageSQL)
      /// Into the tables of a divided layer, on each server; what replaces features by the temporary table.
      case direct(DirectRows)
    }

    var way: Way
    /// The layer in the target.
    var layer: LayerID
    var plan: CopyPlan
    /// The statement of the COPY.
    var copy: String
    var srs: SRS?

    /// Whether the rows go to the servers of a divided layer.
    var isDirect: Bool { if case .direct = way { true } else { false } }

    init(
      _ way: Way, layer: LayerID, plan: CopyPlan, into table: String, isFresh: Bool, srs: SRS?
    ) {
      self.way = way
      self.layer = layer
      self.plan = plan
      self.srs = srs
      let columns = plan.names.map(quotedUnchecked).joined(separator: ", ")
      // Rows of a table that this transaction made are stored as if they were old and known to all, so
      // that no later reading has to mark them.
      copy = "COPY \(table) (\(columns)) FROM STDIN (FORMAT binary\(isFresh ? ", FREEZE" : ""))"
    }
  }

  /// The statements by which rows of a temporary table get into a table.
  struct StageSQL: Sendable {
    static let table = "pg_temp.fieldpack_stage"
    /// The order in which the rows came.
    static let number = "fieldpack_number"

    let facts: TableFacts
    let target: String
    let plan: CopyPlan
    /// The column by which rows find what they replace; `nil` where none is replaced.
    let key: String?

    var id: TableFacts.ID? { facts.id }
    var quotedID: String { id.map { quotedUnchecked($0.name) } ?? "" }
    var hasIDs: Bool { plan.id != nil }

    /// The types of the columns as they come, those that have no binary form here as text.
    func create() -> String {
      var columns = ["\(Self.number) bigserial"]
      if let id = plan.id { columns.append("\(quotedUnchecked(id.name)) \(id.type.name)") }
      if let geometry = plan.geometry {
        columns.append("\(quotedUnchecked(geometry.name)) geometry")
      }
      for column in plan.columns {
        columns.append("\(quotedUnchecked(column.name)) \(column.type.name)")
      }
      if plan.place != nil { columns.append("\(ShardSQL.hilbert) bigint NOT NULL") }
      return
        "CREATE TEMPORARY TABLE fieldpack_stage (\(columns.joined(separator: ", "))) ON COMMIT DROP"
    }

    /// The column in a statement, in the type that the table has.
    private func typed(_ name: String) -> String {
      let column = facts.columns.first { $0.name == name }
      let cast = column.map { $0.type == nil ? "::\($0.typeSQL)" : "" } ?? ""
      return "s.\(quotedUnchecked(name))\(cast)"
    }

    /// The columns that rows bring, without the ids.
    private var names: [String] { brought + (plan.place == nil ? [] : [ShardKey.column]) }

    private var brought: [String] {
      [plan.geometry?.name].compactMap(\.self) + plan.columns.map(\.name)
    }

    /// Of rows with the same key the last one counts.
    func dropEarlier() -> String? {
      guard let key else { return nil }
      let column = quotedUnchecked(key)
      return """
        DELETE FROM \(Self.table) s USING \(Self.table) o
        WHERE s.\(column) = o.\(column) AND s.\(Self.number) < o.\(Self.number)
        """
    }

    /// Finds an id that several rows have, where none of them replaces another. The tables of a divided layer
    /// do not know of each other's ids.
    func findRepeated() -> String? {
      guard key == nil, hasIDs, facts.shards != nil else { return nil }
      return "SELECT \(quotedID)::text FROM \(Self.table) WHERE \(quotedID) IS NOT NULL "
        + "GROUP BY \(quotedID) HAVING count(*) > 1 LIMIT 1"
    }

    func repeated(_ id: String) -> FieldpackError {
      FieldpackError(
        .constraint,
        "layer '\(facts.name.table)' gets two rows with the id \(id), which a divided layer "
          + "does not take. Try: give each row an id of its own",
        location: .init(layer: LayerID(facts.name.table)))
    }

    /// Finds a key that several features have.
    func findDoubled() -> String? {
      guard let key, key != id?.name else { return nil }
      let column = quotedUnchecked(key)
      return "SELECT 1 FROM \(target) WHERE \(column) IS NOT NULL GROUP BY \(column) "
        + "HAVING count(*) > 1 LIMIT 1"
    }

    /// Replaces the columns of features that have the key of a row.
    ///
    /// - Parameter numbers: the rows of the temporary table; `nil` is all.
    func update(_ key: String, _ numbers: ClosedRange<Int64>? = nil) -> String {
      let column = quotedUnchecked(key)
      let sets = names.filter { $0 != key }.map { "\(quotedUnchecked($0)) = \(typed($0))" }
      let changes = sets.isEmpty ? "\(column) = t.\(column)" : sets.joined(separator: ", ")
      return "UPDATE \(target) t SET \(changes) FROM \(Self.table) s WHERE t.\(column) = "
        + typed(key) + (numbers.map { " AND \(Self.condition($0))" } ?? "")
    }

    /// Replaces features of a divided layer that have the key of a row. A feature may get to another
    /// server by that, so that it is deleted and made anew, with what the rows do not bring. The count of
    /// what is deleted ends the deleting before anything is made, which would be found again.
    ///
    /// - Parameter numbers: the rows of the temporary table; `nil` is all.
    func move(_ key: String, _ numbers: ClosedRange<Int64>? = nil) -> String {
      // Without a geometry a feature stays where it is.
      let new = plan.geometry == nil ? brought : names
      let all =
        [id?.name, facts.geometry?.name].compactMap(\.self) + facts.otherGeometries
        + facts.columns.map(\.name) + [ShardKey.column]
      let kept = all.filter { !new.contains($0) }
      let values = kept.map { "g.\(quotedUnchecked($0))" } + new.map(typed)
      let moved = ["s.\(Self.number)"] + kept.map { "t.\(quotedUnchecked($0))" }
      return """
        WITH g AS (
          DELETE FROM \(target) t USING \(Self.table) s WHERE t.\(quotedUnchecked(key)) = \(typed(key)) \
        \(numbers.map { "AND \(Self.condition($0)) " } ?? "")RETURNING \(moved.joined(separator: ", "))),
          n AS (SELECT count(*) FROM g)
        INSERT INTO \(target) (\((kept + new).map(quotedUnchecked).joined(separator: ", "))) \
        SELECT \(values.joined(separator: ", ")) FROM n CROSS JOIN g \
        JOIN \(Self.table) s USING (\(Self.number)) WHERE n.count > 0 ORDER BY s.\(Self.number)
        """
    }

    private static func condition(_ numbers: ClosedRange<Int64>) -> String {
      "s.\(number) BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
    }

    /// Takes away the rows that have replaced something.
    func dropReplacing() -> String? {
      guard let key else { return nil }
      return "DELETE FROM \(Self.table) s USING \(target) t WHERE t.\(quotedUnchecked(key)) = "
        + typed(key)
    }

    /// Takes the ids away that other features have.
    func freeIDs() -> String? {
      guard key == nil, hasIDs else { return nil }
      return "UPDATE \(Self.table) s SET \(quotedID) = NULL FROM \(target) t "
        + "WHERE t.\(quotedID) = s.\(quotedID)"
    }

    /// The highest id of the table and of the rows that come.
    var highestID: String {
      "SELECT greatest((SELECT max(\(quotedID)) FROM \(target)), "
        + "(SELECT max(\(quotedID)) FROM \(Self.table)))::int8"
    }

    /// The rows as they came.
    var rest: String {
      "SELECT \(plan.names.map(quotedUnchecked).joined(separator: ", ")) FROM \(Self.table) "
        + "ORDER BY \(Self.number)"
    }

    /// The numbers of the first and the last row of the temporary table.
    static let numbers = "SELECT min(\(number)), max(\(number)) FROM \(table)"

    /// The id of a row of the temporary table; `nil` where the rows have none.
    func idOfRow(_ number: Int64) -> String? {
      guard hasIDs, let id else { return nil }
      return "SELECT \(id.asKey) FROM \(Self.table) WHERE \(Self.number) = \(number)"
    }

    /// Inserts what is left, in the order in which it came.
    ///
    /// - Parameters:
    ///   - asksSequence: whether the sequence of the table gives the ids that rows lack.
    ///   - numbers: the rows of the temporary table; `nil` is all.
    func insert(asksSequence: Bool, _ numbers: ClosedRange<Int64>? = nil) -> String {
      var columns = names
      var values = names.map(typed)
      if let id, hasIDs || !id.hasDefault {
        columns.insert(id.name, at: 0)
        let own = hasIDs ? "s.\(quotedID)" : "NULL"
        if !id.isInteger {
          values.insert(own, at: 0)
        } else if asksSequence, let sequence = id.sequence {
          let text = DefaultLiteral.literal(sequence)
          values.insert("coalesce(\(own), nextval(\(text)::regclass))", at: 0)
        } else {
          values.insert(
            """
            coalesce(\(own), (SELECT greatest((SELECT max(\(quotedID)) FROM \(target)), \
            \(hasIDs ? "(SELECT max(\(quotedID)) FROM \(Self.table))" : "0"), 0)) \
            + row_number() OVER (ORDER BY s.\(Self.number)))
            """, at: 0)
        }
      }
      let override = id?.isAlways == true && columns.first == id?.name
      return "INSERT INTO \(target) (\(columns.map(quotedUnchecked).joined(separator: ", "))) "
        + (override ? "OVERRIDING SYSTEM VALUE " : "")
        + "SELECT \(values.joined(separator: ", ")) FROM \(Self.table) s "
        + (numbers.map { "WHERE \(Self.condition($0)) " } ?? "") + "ORDER BY s.\(Self.number)"
    }
  }
#endif
