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

/// Which features of which layers, with which columns, in which order and SRS.
///
/// `order`, `limit` and `offset` hold across all layers and stores together. Without an order,
/// features come by store, layer and ascending id.
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
  /// The SRS of the geometries on the way out; `nil` is each layer's own.
  public private(set) var srs: SRS?
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

  /// How many of the first rows can matter to limit and offset together; `nil` is all.
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
  public func `in`(stores: [StoreID]) -> Query { with { $0.stores = stores } }
  public func `in`(layers: [LayerID]) -> Query { with { $0.layers = layers } }
  public func `where`(_ filter: Filter) -> Query { with { $0.filter = filter } }
  public func withoutGeometry() -> Query { with { $0.readsGeometry = false } }
  public func skippingErrors(_ skips: Bool = true) -> Query { with { $0.skipsErrors = skips } }
}
