public import FieldpackCore
public import FieldpackGeometry
import FieldpackSQLite

/// A layer that a statement makes of others: rows of SQL, a spatial join, or groups.
///
/// ``GeoPackageStore/deriving(_:)`` makes a store of it that answers queries as any other does.
public struct DerivedLayer: Sendable {
  public enum Source: Hashable, Sendable {
    /// A `SELECT`, whose first column of geometries is the geometry, in the reference system that the
    /// first of them states. A column `fid` of a single table gives the feature ids; else rows are
    /// numbered.
    case sql(String)
    case layer(LayerID)
  }

  /// The name of the layer.
  public var name: LayerID
  public var source: Source
  /// Which features of a layer, or rows of a statement, are joined or grouped.
  public var filter = Filter.all
  public var join: SpatialJoin?
  public var grouping: Grouping?

  public init(_ name: LayerID, of source: Source) {
    self.name = name
    self.source = source
  }

  /// Whether the columns of a statement's rows have to be known before the rows are selected.
  var asksOfRows: Bool {
    filter != .all || grouping?.aggregates.contains { $0.function == .union } == true
  }
}

/// Pairs each feature of a layer with every feature of another that it has a relation to.
///
/// The pairs come by the ids of both, and are numbered; the geometry is the first layer's. Columns of
/// the other follow, its id last; names that are taken get its name and `_` before them. Each layer's
/// R-tree may serve: the smaller layer's features are looked up in the other's.
public struct SpatialJoin: Sendable {
  public var layer: LayerID
  /// Not `.disjoint`, for which no index knows an answer.
  public var relation: SpatialRelation
  /// The store of the other layer; `nil` is the same one.
  public var store: GeoPackageStore?

  public init(_ layer: LayerID, relation: SpatialRelation = .intersects) {
    self.layer = layer
    self.relation = relation
  }
}

/// One row for each combination of values in some columns.
public struct Grouping: Hashable, Sendable {
  public var columns: [String]
  public var aggregates: [Aggregate]

  public init(by columns: [String], _ aggregates: [Aggregate] = [Aggregate(.count)]) {
    self.columns = columns
    self.aggregates = aggregates
  }
}

/// What is told of a group.
public struct Aggregate: Hashable, Sendable {
  public enum Function: String, Hashable, Sendable, CaseIterable {
    case count, sum, min, max, avg
    /// The geometries of the group melted into one.
    case union
  }

  public var function: Function
  /// `nil` counts rows; a union is of the geometries.
  public var column: String?

  public init(_ function: Function, of column: String? = nil) {
    self.function = function
    self.column = column
  }

  /// Reads `count`, `union`, `sum(depth)` and the like; `nil` for anything else.
  public init?(_ text: String) {
    let open = text.firstIndex(of: "(")
    guard let function = Function(rawValue: String(text[..<(open ?? text.endIndex)]).lowercased())
    else { return nil }
    self.function = function
    if let open {
      guard text.last == ")" else { return nil }
      let name = text[text.index(after: open)...].dropLast()
      guard !name.isEmpty, function != .union else { return nil }
      column = name == "*" && function == .count ? nil : String(name)
    }
    if column == nil, function != .count, function != .union { return nil }
  }

  /// The name of its column: `count`, or `sum_depth` for a sum of `depth`.
  var name: String { column.map { "\(function.rawValue)_\($0)" } ?? function.rawValue }
}

/// How a connection comes to its derived layer.
final class Derivation: Sendable {
  let layer: DerivedLayer
  /// The other layer of a join, as it lies in its file.
  let joined: Joined?
  /// What the rows are, once a connection has found out.
  let table = Locked<LayerTable?>(nil)
  /// The same of the statement's own rows, where they are asked for.
  let rows = Locked<LayerTable?>(nil)

  struct Joined: Sendable {
    var table: LayerTable
    /// The file to attach; `nil` for a layer of the same file.
    var path: String?
    var rowCount: Int
  }

  init(_ layer: DerivedLayer, joined: Joined?) {
    self.layer = layer
    self.joined = joined
  }
}

extension GeoPackageStore {
  /// A store of the same id on the same file whose only layer is the one that `layer` describes.
  ///
  /// It answers queries as any other, reads only, and is closed by itself. What a transaction writes
  /// to this store, it sees.
  /// - Throws: `.invalidArgument` for SQL that is wrong, `.readOnly` for SQL that does more than
  ///   read, `.notFound` for layers and columns that are not there.
  public func deriving(_ layer: DerivedLayer) async throws(FieldpackError) -> GeoPackageStore {
    var joined: Derivation.Joined?
    if let join = layer.join {
      let other = join.store ?? self
      let (table, count) = try await other.joinable(join)
      joined = .init(table: table, path: other.path == path ? nil : other.path, rowCount: count)
    }
    return try await GeoPackageStore(self, Derivation(layer, joined: joined))
  }

  private func joinable(
    _ join: SpatialJoin
  ) async throws(FieldpackError) -> (LayerTable, Int) {
    guard join.relation != .disjoint else {
      throw FieldpackError(
        .invalidArgument, "no index finds what is disjoint, so it cannot be joined")
    }
    return try await reading { (reading) throws(FieldpackError) in
      let catalogue = try reading.file.catalogue()
      guard let table = catalogue.layer(join.layer) else {
        throw reading.file.missingLayer(join.layer, in: catalogue)
      }
      return (table, try reading.count(Query(layers: [table.layer.id])))
    }
  }
}
