public import FieldpackGeometry

/// A column to sort by.
public struct Order: Hashable, Sendable {
  public var column: String
  public var isDescending: Bool

  public init(_ column: String, descending: Bool = false) {
    self.column = column
    self.isDescending = descending
  }
}

/// How the distance between geometries is measured.
public enum DistanceMetric: String, Hashable, Sendable, CaseIterable {
  /// The distance in the plane of the layer's reference system, in its units.
  case planar
  /// The distance on the ellipsoid, in metres; the layer must have a defined reference system.
  case geodesic
}

/// The geometry from which features are measured and sorted by distance.
public struct NearestTarget: Hashable, Sendable {
  public var geometry: Geometry
  /// The SRS of the geometry, `nil` the layer's own.
  public var srs: SRS?
  public var metric: DistanceMetric
  /// Features farther away are left out.
  public var maximum: Double?

  public init(
    _ geometry: Geometry, srs: SRS? = nil, metric: DistanceMetric = .geodesic,
    maximum: Double? = nil
  ) {
    self.geometry = geometry
    self.srs = srs
    self.metric = metric
    self.maximum = maximum
  }
}

/// Which features of which layers, with which columns, in which order and SRS.
///
/// `order`, `limit` and `offset` hold across all layers and stores together. Without an order,
/// features come by store, layer and ascending id.
///
///     let deepest = Query("wells", where: Column<Bool>("active") == true)
///       .select("name", "depth")
///       .order(by: [Order("depth", descending: true)])
///       .limit(3)
///     var names: [String] = []
///     for try await feature in try await store.query(deepest).features {
///       names.append(feature[Column<String>("name")] ?? "")
///     }
public struct Query: Hashable, Sendable {
  /// The stores asked; `nil` is all.
  public private(set) var stores: [StoreID]?
  /// The layers asked, in order; empty is all.
  public private(set) var layers: [LayerID]
  public private(set) var filter: Filter
  /// The attribute columns wanted, in order; `nil` is all.
  public private(set) var columns: [String]?
  public private(set) var order: [Order] = []
  public private(set) var limit: Int?
  public private(set) var offset = 0
  /// The target by whose distance features are sorted; `nil` where they are not.
  public private(set) var nearest: NearestTarget?
  /// The SRS of the geometries in the answer; `nil` is each layer's own.
  public private(set) var srs: SRS?
  /// The operations on the geometries of the answer.
  public private(set) var operations = GeometryOperations()
  /// Whether the answer tells when features were created and changed, and by whom.
  public private(set) var readsMetadata = false
  /// Whether geometries are read at all.
  public private(set) var readsGeometry = true
  /// Whether features that cannot be read or transformed are passed over and reported.
  public private(set) var skipsErrors = false

  public init(_ layers: LayerID..., where filter: Filter = .all) {
    self.init(layers: layers, where: filter)
  }

  public init(layers: [LayerID], where filter: Filter = .all) {
    self.layers = layers
    self.filter = filter
  }

  private func with(_ change: (inout Query) -> Void) -> Query {
    var copy = self
    change(&copy)
    return copy
  }

  public func select(_ columns: String...) -> Query { select(columns) }
  public func select(_ columns: [String]) -> Query { with { $0.columns = columns } }
  public func order(by order: [Order]) -> Query { with { $0.order = order } }

  /// - Precondition: both are zero or more.
  public func limit(_ count: Int, offset: Int = 0) -> Query {
    precondition(count >= 0 && offset >= 0, "limit and offset are zero or more")
    return with {
      $0.limit = count
      $0.offset = offset
    }
  }

  /// Skips so many features without limiting those that follow.
  public func offset(_ count: Int) -> Query {
    precondition(count >= 0, "offset is zero or more")
    return with { $0.offset = count }
  }

  /// Gives each feature what the change log of its layer tells, see ``Feature/metadata``.
  ///
  /// Rows of a GeoPackage have additional columns `created`, `modified`, `author` and `device`
  /// (`created_2` where that name exists). They are NULL where the log has no edit, and where there is
  /// none. Stores without change logs leave them out. Each row takes two lookups in the log.
  public func withMetadata() -> Query { with { $0.readsMetadata = true } }

  /// The features in the order of their distance from `geometry`, the nearest first.
  ///
  ///     Query("wells").nearest(to: .point(x: 13.4, y: 52.5), srs: .wgs84, count: 10)
  ///
  /// Each feature gets its distance as an additional last column `distance` (`distance_2` where
  /// that name exists). At the same distance the smaller id comes first. Features without a
  /// geometry or with an empty one are left out, and so are layers without geometry unless the
  /// query names them. Cannot be combined with ``order(by:)``.
  /// - Parameters:
  ///   - srs: the SRS of `geometry`, `nil` the layer's own.
  ///   - count: the same as in ``limit(_:offset:)``; `nil` keeps the limit.
  ///   - metric: geodesic in metres, or planar in units of the layer's SRS. `GeodesicShape` tells
  ///     how geodesic distances are measured.
  ///   - maximum: features farther away are left out.
  /// - Complexity: O(log n + k) with an R-tree, unless only few features meet the filter.
  public func nearest(
    to geometry: Geometry, srs: SRS? = nil, count: Int? = nil,
    metric: DistanceMetric = .geodesic, within maximum: Double? = nil
  ) -> Query {
    precondition((count ?? 0) >= 0, "count is zero or more")
    return with {
      $0.nearest = NearestTarget(geometry, srs: srs, metric: metric, maximum: maximum)
      if let count { $0.limit = count }
    }
  }

  /// Whether the features come in an order other than by id.
  package var isOrdered: Bool { !order.isEmpty || nearest != nil }

  /// The query without its order.
  package func withoutOrder() -> Query {
    with {
      $0.order = []
      $0.nearest = nil
    }
  }

  /// The schema of a layer's rows in the answer.
  ///
  /// - Parameter hasLogs: whether the store adds the columns of metadata where they are asked for.
  package func shape(_ schema: Schema, hasLogs: Bool = false) -> Schema {
    var shaped = schema
    if !readsGeometry { shaped.geometry = nil }
    if let srs, srs != schema.geometry?.srs {
      shaped.geometry?.srs = srs
      shaped.geometry?.epoch = nil
    }
    shaped.geometry = shaped.geometry.map { operations.column($0) }
    if let columns {
      shaped.columns = columns.compactMap { name in
        schema.columnIndex(name).map { schema.columns[$0] }
      }
    }
    if hasLogs, readsMetadata { shaped.columns += FeatureMetadata.columns(beside: schema) }
    if nearest != nil { shaped.columns.append(Self.distanceColumn(beside: schema)) }
    return shaped
  }

  /// The distance's column, with a name that no column of the layer has.
  private static func distanceColumn(beside schema: Schema) -> ColumnDefinition {
    func isTaken(_ name: String) -> Bool {
      schema.columnIndex(name) != nil || schema.idColumn?.lowercased() == name
        || schema.geometry?.name.lowercased() == name
    }
    return ColumnDefinition("distance".numbered { !isTaken($0) }, .double)
  }

  /// How many of the first rows limit and offset need together; `nil` is all.
  package var rowsNeeded: Int? {
    guard let limit else { return nil }
    let (sum, overflow) = limit.addingReportingOverflow(offset)
    return overflow ? nil : sum
  }

  /// The query without limit and offset.
  package func withoutLimit() -> Query {
    with {
      $0.limit = nil
      $0.offset = 0
    }
  }

  public func transformed(to srs: SRS) -> Query { with { $0.srs = srs } }
  /// - Precondition: a tolerance is a number and not negative.
  public func applying(_ operations: GeometryOperations) -> Query {
    precondition(operations.tolerance.map { $0 >= 0 && $0.isFinite } ?? true, "no tolerance")
    return with { $0.operations = operations }
  }
  public func `in`(stores: [StoreID]) -> Query { with { $0.stores = stores } }
  public func `in`(layers: [LayerID]) -> Query { with { $0.layers = layers } }
  public func `where`(_ filter: Filter) -> Query { with { $0.filter = filter } }
  public func withoutGeometry() -> Query { with { $0.readsGeometry = false } }
  public func skippingErrors(_ skips: Bool = true) -> Query { with { $0.skipsErrors = skips } }
}
