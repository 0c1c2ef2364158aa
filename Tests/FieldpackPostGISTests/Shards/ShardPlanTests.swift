import FieldpackCore
import Testing

@testable import FieldpackPostGIS

@Suite struct ShardPlanTests {
  private let end = ShardKey.numbers.upperBound

  private func isWhole(_ plan: ShardPlan) -> Bool {
    let ranges = plan.parts.map(\.range).sorted { $0.lowerBound < $1.lowerBound }
    return ranges.first?.lowerBound == -2 && ranges.last?.upperBound == end
      && zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound }
  }

  @Test func `ranges have equal counts, and neighbours are together`() {
    // Most features lie at the beginning of the curve.
    let sample = ShardSample((0..<1_000).map { Int64($0) * Int64($0) } + [-1, -2, -2])
    let plan = ShardPlan("wells", servers: [nil, "north"], pieces: 4, sample)
    #expect(
      plan.parts == [
        ShardPart(range: -2..<0, server: nil, table: "wells_g1_p0", count: 3),
        ShardPart(range: 0..<62_500, server: nil, table: "wells_g1_p1", count: 250),
        ShardPart(range: 62_500..<250_000, server: nil, table: "wells_g1_p2", count: 250),
        ShardPart(range: 250_000..<562_500, server: "north", table: "wells_g1_p3", count: 250),
        ShardPart(range: 562_500..<end, server: "north", table: "wells_g1_p4", count: 250),
      ])
    #expect(plan.counts == [503, 500])
  }

  @Test func `a part of the features stands for all`() {
    let sample = ShardSample([-1, 5, 10, 15], total: 4_000)
    #expect(sample.count(in: -2..<0) == 1_000)
    #expect(sample.count(in: 0..<10) == 1_000)
    #expect(sample.count(in: 0..<end) == 3_000)
  }

  @Test func `features of one place are never apart`() {
    let plan = ShardPlan(
      "wells", servers: [nil, "north"], pieces: 8, ShardSample(Array(repeating: 42, count: 100)))
    #expect(plan.parts.map(\.range) == [-2..<0, 0..<42, 42..<end])
    #expect(isWhole(plan))
  }

  @Test func `a layer without features is divided, too`() {
    let plan = ShardPlan("wells", servers: [nil, "north"], pieces: 8, ShardSample([]))
    #expect(plan.parts.map(\.range) == [-2..<0, 0..<end])
  }

  @Test func `what is in balance stays`() {
    let sample = ShardSample((0..<1_000).map { Int64($0) * 1_000 })
    let plan = ShardPlan("wells", servers: [nil, "north"], pieces: 8, sample)
    let next = plan.rebalanced("wells", servers: [nil, "north"], pieces: 8, sample)
    #expect(next.parts == plan.parts)
    #expect(next.parts(notIn: plan).isEmpty)
  }

  @Test func `a new server gets its share, and little moves`() {
    let sample = ShardSample((0..<12_000).map { Int64($0) * 1_000 })
    let plan = ShardPlan("wells", servers: [nil, "north"], pieces: 12, sample)
    let next = plan.rebalanced("wells", servers: [nil, "north", "south"], pieces: 12, sample)
    #expect(next.counts == [4_000, 4_000, 4_000])
    #expect(isWhole(next))
    let moved = next.parts(notIn: plan)
    #expect(moved.map(\.server) == ["south", "south", "south", "south"])
    #expect(
      moved.map(\.table) == ["wells_g2_p0", "wells_g2_p1", "wells_g2_p2", "wells_g2_p3"])
    #expect(plan.parts(notIn: next).map(\.range) == moved.map(\.range))
  }

  @Test func `a range that has grown is cut`() {
    let sample = ShardSample((0..<1_000).map { Int64($0) })
    let plan = ShardPlan(
      parts: [
        ShardPart(range: -2..<0, server: nil, table: "wells_g1_p0"),
        ShardPart(range: 0..<1_000, server: nil, table: "wells_g1_p1"),
        ShardPart(range: 1_000..<end, server: "north", table: "wells_g1_p2"),
      ], servers: [nil, "north"], generation: 1)
    let next = plan.rebalanced("wells", servers: [nil, "north"], pieces: 4, sample)
    #expect(isWhole(next))
    #expect(next.counts == [500, 500])
    #expect(next.parts.map(\.count) == [0, 250, 250, 250, 250, 0])
  }

  @Test func `a server that leaves keeps nothing`() {
    let sample = ShardSample((0..<900).map { Int64($0) })
    let plan = ShardPlan("wells", servers: [nil, "north", "south"], pieces: 9, sample)
    let next = plan.rebalanced("wells", servers: [nil, "south"], pieces: 9, sample)
    #expect(next.parts.allSatisfy { $0.server != "north" })
    #expect(isWhole(next))
    #expect(next.counts.reduce(0, +) == 900)
    #expect(abs(next.counts[0] - next.counts[1]) <= 100)
  }

  @Test(arguments: [
    ("FOR VALUES FROM ('-2') TO ('0')", Range<Int64>?.some(-2..<0)),
    ("FOR VALUES FROM ('0') TO ('4294967296')", 0..<4_294_967_296),
    ("FOR VALUES FROM (MINVALUE) TO ('0')", nil), ("FOR VALUES IN ('1')", nil), ("DEFAULT", nil),
    ("", nil),
  ])
  func `bounds are read as the server writes them`(text: String, range: Range<Int64>?) {
    #expect(ShardLayout.range(text) == range)
  }

  @Test(arguments: [
    ("wells_g3_p7", 3), ("a_g_p_g12_p0", 12), ("wells", 0), ("wells_g3", 0), ("x_gy_pz", 0),
  ])
  func `names of tables tell their generation`(name: String, generation: Int) {
    #expect(ShardLayout.generation(of: name) == generation)
  }
}
