package import FieldpackCore

extension ShardSQL {
  /// The same division for Citus: one table that is distributed by ranges of the curve.
  ///
  /// It is a text for those who have Citus. Nothing here runs it.
  package func citusScript(_ plan: ShardPlan) throws(FieldpackError) -> String {
    let name = try table.quoted()
    var statements = ["CREATE EXTENSION IF NOT EXISTS citus"]
    for server in servers {
      let host = server.address.keywords.last { $0.name == "host" }?.value ?? server.name
      let port = server.address.keywords.last { $0.name == "port" }?.value ?? "5432"
      statements.append("SELECT citus_add_node(\(Self.literal(host)), \(Int(port) ?? 5_432))")
    }
    statements += try parent(table.name).map { $0.replacingPartition() }
    statements += [
      "ALTER TABLE \(name) ADD PRIMARY KEY (\(quotedUnchecked(table.id)), \(Self.hilbert))",
      "CREATE INDEX ON \(name) USING gist (\(quotedUnchecked(table.geometry)))",
      "SELECT create_distributed_table(\(Self.literal(name)), \(Self.literal(ShardKey.column)), 'range')",
    ]
    for part in plan.parts {
      statements.append(
        "UPDATE pg_dist_shard SET shardminvalue = '\(part.range.lowerBound)', shardmaxvalue = "
          + "'\(part.range.upperBound - 1)' WHERE shardid = "
          + "(SELECT master_create_empty_shard(\(Self.literal(name))))")
    }
    return statements.map { "\($0);\n" }.joined()
  }
}

extension String {
  /// A statement `CREATE TABLE` without what PostgreSQL's own partitions need.
  fileprivate func replacingPartition() -> String {
    let end = " PARTITION BY RANGE (\(ShardSQL.hilbert))"
    return hasSuffix(end) ? String(dropLast(end.count)) : self
  }
}
