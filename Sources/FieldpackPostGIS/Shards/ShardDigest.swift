#if PostGIS
  import FieldpackCore

  /// What tells whether two tables have the same rows, in whatever order: their number, and the sum of
  /// hashes of their texts.
  struct ShardDigest: Hashable {
    var count = 0
    var sum: UInt64 = 0

    static func + (a: ShardDigest, b: ShardDigest) -> ShardDigest {
      ShardDigest(count: a.count + b.count, sum: a.sum &+ b.sum)
    }

    /// - Parameters:
    ///   - columns: in the order in which they are compared, quoted.
    ///   - range: of the curve; `nil` for all rows.
    static func read(
      _ table: String, _ columns: [String], in range: Range<Int64>? = nil,
      on connection: PostgresConnection
    ) throws(FieldpackError) -> ShardDigest {
      let whole = "18446744073709551616"
      let rows = try connection.execute(
        """
        SELECT n, mod(mod(s, \(whole)) + \(whole), \(whole))::text FROM
          (SELECT count(*) AS n, coalesce(sum(hashtextextended(t::text, 0)), 0) AS s
          FROM (SELECT \(columns.joined(separator: ", ")) FROM \(table)\(condition(range))) AS t) AS d
        """)
      guard rows.count == 1, let count = rows.integer(0, 0),
        let sum = rows.text(0, 1).flatMap({ UInt64($0) })
      else { throw FieldpackError(.invalidData, "the server gives no digest of \(table)") }
      return ShardDigest(count: Int(count), sum: sum)
    }

    static func condition(_ range: Range<Int64>?) -> String {
      guard let range else { return "" }
      return " WHERE \(ShardSQL.hilbert) >= \(range.lowerBound) AND \(ShardSQL.hilbert) < "
        + "\(range.upperBound)"
    }
  }
#endif
