import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQL

/// Rows in place of a layer's features: of a statement, a spatial join, or groups.
enum DerivedArguments {
  enum JoinRelation: String, CaseIterable, Sendable {
    case intersects, within, contains, covers, coveredBy, touches, crosses, overlaps, equals
  }

  static let sql = Option<String?>.value(
    "sql", .text("SELECT"),
    help: "The rows of this statement as features of a layer named sql, with its first column of "
      + "geometries.")
  static let join = Option<String?>.value(
    "join", .text("layer", completion: .layer),
    help: "Pair each feature with those of this layer (or store/layer) that it has the --relation "
      + "to; a column whose name is taken gets the layer's before it.")
  static let relation = Option<JoinRelation>.value(
    "relation", .choice("relation"), default: .intersects, shownAs: "intersects",
    help: "How a feature lies to those it is joined with.")
  static let groupBy = Option<[String]?>.value(
    "group-by", .list("columns", of: .column),
    help: "One row for each combination of values in these columns; conditions choose what is "
      + "grouped.")
  static let aggregate = Option<[String]?>.value(
    "aggregate", .list("functions", of: .none),
    help: "What is told of each group, or of all rows: count, count(x), sum(x), min(x), max(x), "
      + "avg(x), union (of the geometries).")

  static let options: [any OptionKey] = [sql, join, relation, groupBy, aggregate]

  /// What the arguments ask for beside layers as they are; `nil` for nothing.
  static func layer(
    _ arguments: ParsedArguments, _ query: Query
  ) throws(FieldpackError) -> DerivedLayer? {
    guard arguments[join] != nil || !arguments.contains(relation) else {
      throw FieldpackError(
        .invalidArgument, "--relation says more about a --join, which is missing")
    }
    let grouping = try grouping(arguments)
    if let statement = arguments[sql] {
      guard arguments[join] == nil, query.layers.isEmpty else {
        throw FieldpackError(
          .invalidArgument, "--sql names its layers itself. Try: without --join and layers")
      }
      var layer = DerivedLayer("sql", of: .sql(statement))
      layer.grouping = grouping
      return layer
    }
    guard arguments[join] != nil || grouping != nil else { return nil }
    guard query.layers.count == 1 else {
      throw FieldpackError(
        .invalidArgument,
        "--join and --group-by take one layer, \(query.layers.count) are named. Try: name one")
    }
    var layer = DerivedLayer(query.layers[0], of: .layer(query.layers[0]))
    layer.grouping = grouping
    if let other = arguments[join] {
      let named = SpatialRelation(rawValue: arguments[relation].rawValue) ?? .intersects
      layer.join = SpatialJoin(LayerID(other), relation: named)
    }
    return layer
  }

  private static func grouping(
    _ arguments: ParsedArguments
  ) throws(FieldpackError) -> Grouping? {
    var aggregates: [Aggregate] = []
    for text in arguments[aggregate] ?? [] {
      guard let found = Aggregate(text) else {
        throw FieldpackError(
          .invalidArgument,
          "'\(text)' is no aggregate. Try: count, count(x), sum(x), min(x), max(x), avg(x) or union"
        )
      }
      aggregates.append(found)
    }
    let columns = arguments[groupBy] ?? []
    if columns.isEmpty, aggregates.isEmpty { return nil }
    return Grouping(by: columns, aggregates.isEmpty ? [Aggregate(.count)] : aggregates)
  }
}

extension Invocation {
  /// As ``withSource(only:skipsErrors:usesWAL:_:)``, with what the query asks for in place of layers.
  func withQueried(
    _ query: Query, _ body: (OpenedSource, Query) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    let layer = try DerivedArguments.layer(arguments, query)
    // A layer to join may be of a store that is not asked.
    let stores = layer?.join == nil ? query.stores : nil
    return try await withSource(only: stores, skipsErrors: query.skipsErrors) {
      (source) async throws(FieldpackError) in
      try await withDerived(layer, query, of: source.workspace) {
        (workspace, query) async throws(FieldpackError) in
        try await body(source.with(workspace), query)
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
    do throws(FieldpackError) {
      let status = try await body(derived, rest)
      await derived.close()
      return status
    } catch {
      await derived.close()
      throw error
    }
  }
}
