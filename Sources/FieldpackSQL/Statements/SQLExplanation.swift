public import FieldpackCore
public import FieldpackGeoPackage
public import FieldpackGeometry
import FieldpackSQLite

/// How SQLite answers a user's statement.
public struct SQLExplanation: Hashable, Sendable {
  public var sql: String
  public var parameters: [Value]
  /// The lines of `EXPLAIN QUERY PLAN`. `SEARCH … USING R-TREE` says that the spatial index of the
  /// layer finds the features.
  public var plan: [String]
  /// Advice on how the statement could use the indexes.
  public var notes: [String]
  /// The number of rows of the answer.
  public var rows: Int
  /// The time from the first row to the last.
  public var duration: Duration
}

extension GeoPackageStore {
  /// Runs a statement that only reads, and tells how SQLite answers it.
  ///
  /// - Throws: as ``rows(sql:parameters:)``.
  public func explain(
    sql: String, parameters: [Value] = []
  ) async throws(FieldpackError) -> SQLExplanation {
    let values = parameters.map(SQLiteValue.init)
    return try await pools.reader().read { (file) throws(FieldpackError) in
      try file.derive()
      let lines = PlanTree.lines(
        try UserStatement(sql, values, explaining: true, on: file).storedRows())
      let statement = try UserStatement(sql, values, on: file)
      let layers = statement.layers
      let begun = ContinuousClock.now
      let rows = try statement.run()
      return SQLExplanation(
        sql: sql, parameters: parameters, plan: lines.map(PlanTree.plain),
        notes: Self.notes(lines, layers), rows: rows, duration: ContinuousClock.now - begun)
    }
  }

  private static func notes(_ lines: [String], _ layers: [LayerTable]) -> [String] {
    guard !layers.isEmpty, !lines.contains(where: { $0.contains("USING R-TREE") }) else {
      return []
    }
    return [
      "no spatial index is used: ST_Intersects and its kin use it as a condition of their own, "
        + "joined by AND, with the geometry column first: WHERE ST_Intersects(geom, …)"
    ]
  }
}

extension Value {
  /// A geometry as GeoPackage stores it, for a parameter of
  /// ``FieldpackGeoPackage/GeoPackageStore/rows(sql:parameters:)``.
  ///
  /// - Parameter srsID: the `srs_id` of the reference system in the file; -1 for an undefined one.
  public static func geometry(_ geometry: Geometry, srsID: Int32 = -1) -> Value {
    var blob: [UInt8] = []
    GeoPackageBinary.append(geometry, srsID: srsID, to: &blob)
    return .blob(blob)
  }
}
