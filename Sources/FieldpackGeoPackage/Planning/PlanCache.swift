import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// A query that looks for a box, split into the box and the rest.
struct BoxedQuery {
  /// The query with a fixed box instead of its own.
  let shape: Query
  let box: Envelope
  let srs: SRS?

  /// `nil` where the query has no box, where the box is empty or crosses the antimeridian, and
  /// where texts could be wrong keys (see `isPlainText`).
  init?(_ query: Query) {
    guard query.nearest == nil else { return nil }
    let none = Envelope(minX: 0, minY: 0, maxX: 0, maxY: 0)
    switch query.filter {
    case .envelope(let relation, let box, let srs) where relation != .disjoint:
      (self.box, self.srs) = (box, srs)
      shape = query.where(.envelope(relation, none, srs: srs))
    case .and(var parts):
      let index = parts.firstIndex {
        if case .envelope(let relation, _, _) = $0 { relation != .disjoint } else { false }
      }
      guard let index, case .envelope(let relation, let box, let srs) = parts[index] else {
        return nil
      }
      parts[index] = .envelope(relation, none, srs: srs)
      (self.box, self.srs) = (box, srs)
      shape = query.where(.and(parts))
    default: return nil
    }
    guard box.minX <= box.maxX, box.minY <= box.maxY, shape.filter.isPlainText else { return nil }
  }
}

/// A query of one layer that only compares a column with a number, split into the number and the rest.
struct NumberQuery {
  /// The query with 0 instead of its number.
  let shape: Query
  let column: String
  let number: Int64

  init?(_ query: Query) {
    guard query.layers.count == 1, query.nearest == nil,
      case .compare(.column(let name), let comparison, .literal(.integer(let number))) =
        query.filter, name.utf8.allSatisfy({ $0 < 0x80 })
    else { return nil }
    (column, self.number) = (name, number)
    shape = query.where(.compare(.column(name), comparison, .literal(.integer(0))))
  }

  /// Whether the number is compared with the rowids of the layer, so that the plan is the same for every
  /// number.
  func asksForRowIDs(of table: LayerTable) -> Bool {
    table.schema.isID(column) && table.textID == nil && table.hasRowIDs && !table.layer.isView
  }
}

extension Operand {
  fileprivate var isPlainText: Bool {
    switch self {
    case .column(let text), .literal(.text(let text)): text.utf8.allSatisfy { $0 < 0x80 }
    case .literal: true
    case .arithmetic, .call, .condition, .interval, .list: false
    }
  }
}

extension Filter {
  /// Whether all texts are ASCII. Other texts can be equal in Swift and differ in SQL, so they must
  /// not be keys of cached plans.
  fileprivate var isPlainText: Bool {
    switch self {
    case .all, .envelope, .relation(_, _, _, nil): true
    case .relation, .test, .spatial, .vertex: false
    case .compare, .between, .isIn, .isNull, .temporal, .array:
      operands.allSatisfy(\.isPlainText)
    case .like(let a, let pattern, _): a.isPlainText && pattern.utf8.allSatisfy { $0 < 0x80 }
    case .and(let parts), .or(let parts): parts.allSatisfy(\.isPlainText)
    case .not(let part): part.isPlainText
    }
  }
}

/// Keeps the plans of queries on a connection, so that the same query with another box or number need not be
/// planned again.
final class PlanCache {
  /// What is known of the queries of one shape.
  final class Known {
    /// The layers that they ask.
    var tables: [LayerTable]?
    var paths: [LayerPath]?
    private var plans: [(key: Key, plan: LayerPlan)] = []
    private static let mostPlans = 8

    func plan(_ key: Key) -> LayerPlan? { plans.first { $0.key == key }?.plan }

    func keep(_ plan: LayerPlan, _ key: Key) {
      guard plan.looksForBox || plan.numberIndex != nil else { return }
      if plans.count >= Self.mostPlans { plans.removeAll() }
      plans.append((key, plan))
    }
  }

  struct Key: Equatable {
    var table: String
    var limit: Int?
    var offset: Int
    var form: QueryPlanner.RowForm
  }

  private var shapes: [Query: Known] = [:]
  private static let mostShapes = 32

  func known(_ shape: Query) -> Known {
    if let known = shapes[shape] { return known }
    if shapes.count >= Self.mostShapes { shapes.removeAll() }
    let made = Known()
    shapes[shape] = made
    return made
  }

  func removeAll() { shapes.removeAll() }
}
