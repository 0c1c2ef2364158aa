import FieldpackCore
import FieldpackGeometry

/// Keeps plans of queries whose only condition is a box. The next such query often differs from one of them
/// in its box alone, as for each tile of a map.
final class BoxPlans: Sendable {
  /// The box of a query that has no other condition.
  struct Box {
    let sides: Envelope
    /// The query with the box that plans are made for.
    let sampleQuery: Query

    /// A box whose sides differ, so that each value of a statement tells its side.
    private static let sample = Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4)

    /// `nil` for a query with other conditions, and for a box that may have to be cut.
    init?(_ query: Query) {
      guard case .envelope(let relation, let box, let srs) = query.filter,
        box.minX <= box.maxX, box.minY <= box.maxY, box.minX.isFinite, box.minY.isFinite,
        box.maxX.isFinite, box.maxY.isFinite
      else { return nil }
      sides = box
      sampleQuery = query.where(.envelope(relation, Self.sample, srs: srs))
    }

    /// The value of a statement for the value that the sample has there; `nil` where it is no side.
    func value(_ sample: PostgresValue) -> PostgresValue? {
      switch sample {
      case .real(1): .real(sides.minX)
      case .real(2): .real(sides.minY)
      case .real(3): .real(sides.maxX)
      case .real(4): .real(sides.maxY)
      default: nil
      }
    }
  }

  private struct Known {
    var query: Query
    /// `nil` where the plan depends on the box.
    var plan: PostGISPlan?
  }

  /// The plans that were made last, the latest first.
  private let known = Locked<[Known]>([])
  private static let most = 8

  /// The plan of a query, which is known for another box or made for the sample; `nil` where each box
  /// takes a plan of its own.
  func plan(
    for query: Query, _ box: Box, _ make: (Query) throws(FieldpackError) -> PostGISPlan
  ) -> PostGISPlan? {
    let found = known.withLock { known in known.first { $0.query == box.sampleQuery } }
    if let found { return found.plan.map { Self.moved($0, query, box) } }
    let made = try? make(box.sampleQuery)
    let plan = made.flatMap { Self.dependsOnBox($0, box) ? nil : $0 }
    known.withLock { known in
      known.insert(Known(query: box.sampleQuery, plan: plan), at: 0)
      if known.count > Self.most { known.removeLast() }
    }
    return plan.map { Self.moved($0, query, box) }
  }

  private static func moved(_ sample: PostGISPlan, _ query: Query, _ box: Box) -> PostGISPlan {
    var plan = sample
    plan.query = query
    for index in plan.layers.indices {
      let test = plan.layers[index].condition.sql
      plan.layers[index].condition.sql = test?.mapValues { box.value($0) ?? $0 }
    }
    return plan
  }

  /// Whether more than the values of the statements depends on the box: one of another system is
  /// transformed, one of a divided layer tells which servers are asked, and what the server cannot test
  /// is tested here.
  private static func dependsOnBox(_ plan: PostGISPlan, _ box: Box) -> Bool {
    guard case .envelope(_, _, let srs) = box.sampleQuery.filter else { return true }
    return !plan.layers.allSatisfy { layer in
      layer.isExact && layer.layer.shards == nil
        && (srs == nil || srs == layer.layer.schema.geometry?.srs)
        && layer.condition.sql?.values.allSatisfy { box.value($0) != nil } ?? false
    }
  }
}
