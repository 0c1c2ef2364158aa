import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQL

/// Rows in place of a layer's features: of a statement, a spatial join, or groups.
struct DerivedArguments: OptionGroup {
  enum JoinRelation: String, CaseIterable, Sendable {
    case intersects, within, contains, covers, coveredBy, touches, crosses, overlaps, equals
  }

  private let sql: String?
  private let join: String?
  private let relation: JoinRelation?
  private let groupBy: [String]
  private let aggregate: [String]

  init(_ reader: inout OptionReader) {
    sql = reader.value(
      "sql", .text("SELECT"),
      help: "Take the rows of this statement as the features of a layer named sql; its first "
        + "column of geometries is theirs.")
    join = reader.value(
      "join", .text("layer", completion: .layer),
      help: "Pair each feature with those of this layer (or store/layer) to which it has the "
        + "--relation. A column whose name is taken gets the name of the layer before it.")
    relation = reader.value(
      "relation", .choice("relation"), shownDefault: "intersects",
      help: "The relation of a feature to those that it is joined with.")
    groupBy =
      reader.value(
        "group-by", .list("columns", of: .column),
        help: "One row for each combination of values in these columns. Conditions choose the "
          + "features that are grouped.") ?? []
    aggregate =
      reader.value(
        "aggregate", .list("functions", of: .none),
        help: "The columns of each group, or of all rows: count, count(x), sum(x), min(x), "
          + "max(x), avg(x), union (of the geometries).") ?? []
  }

  /// What the arguments ask for beside layers as they are; `nil` for nothing.
  func layer(_ query: Query) throws(FieldpackError) -> DerivedLayer? {
    guard join != nil || relation == nil else {
      throw FieldpackError(
        .invalidArgument, "--relation says more about a --join, which is missing")
    }
    let grouping = try grouping()
    if let sql {
      guard join == nil, query.layers.isEmpty else {
        throw FieldpackError(
          .invalidArgument, "--sql names its layers itself. Try: without --join and layers")
      }
      var layer = DerivedLayer("sql", of: .sql(sql))
      layer.grouping = grouping
      return layer
    }
    guard join != nil || grouping != nil else { return nil }
    guard query.layers.count == 1 else {
      throw FieldpackError(
        .invalidArgument,
        "--join and --group-by take one layer, \(query.layers.count) are named. Try: name one")
    }
    var layer = DerivedLayer(query.layers[0], of: .layer(query.layers[0]))
    layer.grouping = grouping
    if let join {
      let named = relation.flatMap { SpatialRelation(rawValue: $0.rawValue) } ?? .intersects
      layer.join = SpatialJoin(LayerID(join), relation: named)
    }
    return layer
  }

  private func grouping() throws(FieldpackError) -> Grouping? {
    var aggregates: [Aggregate] = []
    for text in aggregate {
      guard let found = Aggregate(text) else {
        throw FieldpackError(
          .invalidArgument,
          "'\(text)' is no aggregate. Try: count, count(x), sum(x), min(x), max(x), avg(x) or union"
        )
      }
      aggregates.append(found)
    }
    if groupBy.isEmpty, aggregates.isEmpty { return nil }
    return Grouping(by: groupBy, aggregates.isEmpty ? [Aggregate(.count)] : aggregates)
  }
}

extension Invocation {
  /// Opens a source, with what the query asks for in place of layers, runs `body` and closes it.
  ///
  /// What takes too long is interrupted, and one bad feature ends in status 1.
  func answer(
    _ source: SourceName, _ arguments: SourceArguments, _ asked: QueryArguments,
    _ body: (OpenedSource, Query) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    let operations = try await asked.geometries.operations(self)
    let query = try asked.query(of: source, stores: arguments.stores, operations)
    let layer = try asked.derived.layer(query)
    var opening = arguments
    // A layer to join may be of a store that is not asked.
    if layer?.join != nil { opening.stores = nil }
    return try await within(seconds: asked.timeout) { () async throws(FieldpackError) in
      try await stoppingAtBadFeatures { () async throws(FieldpackError) in
        try await withSource(source.path, opening, skipsErrors: query.skipsErrors) {
          (source) async throws(FieldpackError) in
          try await withDerived(layer, query, of: source.workspace) {
            (workspace, query) async throws(FieldpackError) in
            try await body(source.with(workspace), query)
          }
        }
      }
    }
  }

  /// Runs `body` on the workspace of a derived layer, or where there is none on the one given.
  func withDerived(
    _ layer: DerivedLayer?, _ query: Query, of workspace: Workspace,
    _ body: (Workspace, Query) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    guard let layer else { return try await body(workspace, query) }
    let (derived, rest) = try await workspace.deriving(layer, asking: query)
    return try await closing(derived) { () async throws(FieldpackError) in
      try await body(derived, rest)
    }
  }
}

/// What is closed when a command is done with it.
protocol Closable {
  func close() async
}

extension Workspace: Closable {}
extension GeoPackageStore: Closable {}

/// Runs `body` and closes `closable`, whatever happens.
func closing<Result>(
  _ closable: some Closable, _ body: () async throws(FieldpackError) -> Result
) async throws(FieldpackError) -> Result {
  do throws(FieldpackError) {
    let result = try await body()
    await closable.close()
    return result
  } catch {
    await closable.close()
    throw error
  }
}
