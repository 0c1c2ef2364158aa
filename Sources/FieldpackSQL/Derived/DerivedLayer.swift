public import FieldpackCore
public import FieldpackGeoPackage
public import FieldpackGeometry
import FieldpackSQLite

/// A layer computed from others: rows of SQL, a spatial join, or groups.
///
/// ``FieldpackGeoPackage/GeoPackageStore/deriving(_:)`` makes a store whose only layer it is; the
/// store answers queries as any other.
public struct DerivedLayer: Sendable {
  public enum Source: Hashable, Sendable {
    /// A `SELECT`. Its first column of geometries is the geometry; the first geometry states the
    /// reference system. A column `fid` of a single table gives the feature ids; else the rows are
    /// numbered.
    case sql(String)
    case layer(LayerID)
  }

  /// The name of the layer.
  public var name: LayerID
  public var source: Source
  /// The condition for features of a layer, or rows of a statement, to be joined or grouped.
  public var filter = Filter.all
  public var join: SpatialJoin?
  public var grouping: Grouping?

  public init(_ name: LayerID, of source: Source) {
    self.name = name
    self.source = source
  }

  /// Whether the columns of a statement have to be known before its rows are selected.
  var asksOfRows: Bool {
    filter != .all || grouping?.aggregates.contains { $0.function == .union } == true
  }
}

/// Pairs each feature of a layer with every feature of another layer to which it has a relation.
///
/// The pairs are ordered by both ids and numbered. The geometry and the first columns are those of
/// the first layer; then come the columns of the other layer, its id last. A column name that is
/// taken gets the other layer's name and `_` before it. The features of the smaller layer are
/// looked up in the R-tree of the larger one.
public struct SpatialJoin: Sendable {
  public var layer: LayerID
  /// Any relation but `.disjoint`, which no index can answer.
  public var relation: SpatialRelation
  /// The store of the other layer; `nil` for the same store.
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

/// A value computed for each group.
public struct Aggregate: Hashable, Sendable {
  public enum Function: String, Hashable, Sendable, CaseIterable {
    case count, sum, min, max, avg
    /// The union of the geometries of the group.
    case union
  }

  public var function: Function
  /// The column to compute from; `nil` for a count of rows and for a union.
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

/// The description of a derived layer, with the schema once a connection has found it out.
final class LayerDerivation: Derivation {
  let layer: DerivedLayer
  /// The other layer of a join.
  let joined: Joined?
  /// The layer's table, once a connection has found it out.
  let table = Locked<LayerTable?>(nil)
  /// The table of the statement's own rows, where a condition or a union needs it.
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

  var readsOtherFile: Bool { joined?.path != nil }

  func install(on session: GeoPackageSession) throws(FieldpackError) -> Catalogue {
    try DerivedCatalogue(file: session, derivation: self).install()
  }
}

extension GeoPackageStore {
  /// A store of the same id on the same file whose only layer is the one that `layer` describes.
  ///
  /// The new store only reads and is closed on its own. It sees what transactions of this store
  /// commit.
  /// - Throws: `.invalidArgument` for SQL that is wrong, `.readOnly` for SQL that does more than
  ///   read, `.notFound` for layers and columns that are not there.
  public func deriving(_ layer: DerivedLayer) async throws(FieldpackError) -> GeoPackageStore {
    var joined: LayerDerivation.Joined?
    if let join = layer.join {
      let other = join.store ?? self
      guard join.relation != .disjoint else {
        throw FieldpackError(
          .invalidArgument, "no index finds what is disjoint, so it cannot be joined")
      }
      let (table, count) = try await other.table(of: join.layer)
      joined = .init(table: table, path: other.path == path ? nil : other.path, rowCount: count)
    }
    return try await GeoPackageStore(self, LayerDerivation(layer, joined: joined))
  }
}
