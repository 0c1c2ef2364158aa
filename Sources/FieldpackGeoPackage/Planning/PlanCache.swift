import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// A query that looks for a box, apart from where the box is.
struct BoxedQuery {
  /// The query with a box of its own in the place of the one asked for.
  let shape: Query
  let box: Envelope
  let srs: SRS?

  /// `nil` for other queries, and for boxes that are not plainly a box.
  init?(_ query: Query) {
    guard query.nearest == nil else { return nil }
    let none = Envelope(minX: 0, minY: 0, maxX: 0, maxY: 0)
    switch query.filter {
    case .envelope(let relation, let box, let srs) where relation != .disjoint:
      (self.box, self.srs) = (box, srs)
      shape = query.where(.envelope(relation, none, srs: srs))
    case .and(var parts):
      let place = parts.firstIndex {
        if case .envelope(let relation, _, _) = $0 { relation != .disjoint } else { false }
      }
      guard let place, case .envelope(let relation, let box, let srs) = parts[place] else {
        return nil
      }
      parts[place] = .envelope(relation, none, srs: srs)
      (self.box, self.srs) = (box, srs)
      shape = query.where(.and(parts))
    default: return nil
    }
    guard box.minX <= box.maxX, box.minY <= box.maxY, shape.filter.isPlainText else { return nil }
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
  /// Texts that are not ASCII can be equal in Swift and differ in SQL, so a plan must not be found
  /// by them.
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

/// The plans of queries that were asked on a connection and may be asked again for another box.
final class PlanCache {
  struct Key: Hashable {
    var shape: Query
    var table: String
    var limit: Int?
    var offset: Int
    var form: QueryPlanner.RowForm
  }

  private var plans: [Key: LayerPlan] = [:]
  private var tables: [Query: [LayerTable]] = [:]
  private var paths: [Query: [LayerPath]] = [:]
  private static let capacity = 32

  func plan(_ key: Key, _ box: Envelope) -> LayerPlan? { plans[key]?.with(box: box) }

  func keep(_ plan: LayerPlan, _ key: Key) {
    guard plan.looksForBox else { return }
    if plans.count >= Self.capacity { plans.removeAll() }
    plans[key] = plan
  }

  /// The layers that a query of this shape asks.
  func tables(_ shape: Query) -> [LayerTable]? { tables[shape] }

  func keep(_ asked: [LayerTable], _ shape: Query) {
    if tables.count >= Self.capacity { tables.removeAll() }
    tables[shape] = asked
  }

  /// How a query of this shape comes to the layers.
  func paths(_ shape: Query) -> [LayerPath]? { paths[shape] }

  func keep(_ found: [LayerPath], _ shape: Query) {
    if paths.count >= Self.capacity { paths.removeAll() }
    paths[shape] = found
  }

  func removeAll() {
    plans.removeAll()
    tables.removeAll()
    paths.removeAll()
  }
}
