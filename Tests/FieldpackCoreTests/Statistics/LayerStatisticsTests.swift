import FieldpackGeometry
import Testing

@testable import FieldpackCore

@Suite struct LayerStatisticsTests {
  private static func schema(_ types: ColumnType..., geometry: Bool = false) -> Schema {
    Schema(
      layer: "wells", geometry: geometry ? GeometryColumn() : nil,
      columns: types.enumerated().map { ColumnDefinition("c\($0)", $1) })
  }

  private static func tally(_ schema: Schema, _ rows: [[Value]]) -> LayerTally {
    let tally = LayerTally(schema)
    for row in rows { tally.add(ValueRow(row)) }
    return tally
  }

  private func column(_ type: ColumnType, _ values: [Value]) -> ColumnStatistics {
    Self.tally(Self.schema(type), values.map { [$0] }).statistics.columns[0]
  }

  @Test func `numbers, texts and truth values are counted exactly`() {
    let found = Self.tally(
      Self.schema(.integer, .double, .text(), .boolean, .date),
      [
        [3, 0.5, "oak", true, "2026-05-01"], [-1, .null, "ash", false, "2025-12-31"],
        [3, 2.5, "oak", true, .null], [7, 0.5, "Elm", .null, "2026-05-01"],
      ]
    ).statistics
    var n = ColumnStatistics(column: "c0", type: .integer)
    (n.kinds, n.distinctCount, n.least, n.greatest, n.mean) = ([.integer: 4], 3, -1, 7, 3)
    n.mostFrequent = [.init(value: 3, count: 2)]
    var real = ColumnStatistics(column: "c1", type: .double)
    (real.nullCount, real.kinds, real.distinctCount) = (1, [.real: 3], 2)
    (real.least, real.greatest, real.mean) = (0.5, 2.5, 3.5 / 3)
    real.mostFrequent = [.init(value: 0.5, count: 2)]
    var text = ColumnStatistics(column: "c2", type: .text())
    (text.kinds, text.distinctCount, text.least, text.greatest) = ([.text: 4], 3, "Elm", "oak")
    text.mostFrequent = [.init(value: "oak", count: 2)]
    var flag = ColumnStatistics(column: "c3", type: .boolean)
    (flag.nullCount, flag.kinds, flag.distinctCount) = (1, [.integer: 3], 2)
    (flag.least, flag.greatest) = (false, true)
    flag.mostFrequent = [.init(value: true, count: 2)]
    var day = ColumnStatistics(column: "c4", type: .date)
    (day.nullCount, day.kinds, day.distinctCount) = (1, [.text: 3], 2)
    let last = ColumnType.date.value("2026-05-01")
    (day.least, day.greatest) = (ColumnType.date.value("2025-12-31"), last)
    day.mostFrequent = [.init(value: last, count: 2)]
    #expect(
      found
        == LayerStatistics(
          layer: "wells", count: 4, geometry: nil, columns: [n, real, text, flag, day]))
  }

  @Test func `a column of nothing but NULL, and a layer without rows, have no values`() {
    let empty = ColumnStatistics(column: "c0", type: .text())
    var nulls = empty
    nulls.nullCount = 2
    #expect(column(.text(), []) == empty)
    #expect(column(.text(), [.null, .null]) == nulls)
  }

  @Test func `values of several kinds are ordered as results are`() {
    var expected = ColumnStatistics(column: "c0", type: .integer)
    expected.kinds = [.integer: 2, .real: 2, .text: 2, .blob: 2]
    // 2 and 2.0 are one value.
    expected.distinctCount = 6
    (expected.least, expected.greatest) = (-1.5, "b")
    (expected.mean, expected.blobLengths) = ((2 + 9 + 2 - 1.5) / 4, 0...3)
    expected.mostFrequent = [.init(value: 2, count: 2), .init(value: "b", count: 2)]
    let values: [Value] = [2, 9, 2.0, -1.5, "b", "b", .blob([1, 2, 3]), .blob([])]
    #expect(column(.integer, values) == expected)
  }

  @Test func `NaN and infinities are counted and have no mean`() {
    var expected = ColumnStatistics(column: "c0", type: .double)
    (expected.kinds, expected.distinctCount) = ([.real: 4], 3)
    (expected.least, expected.greatest, expected.mean) = (1.5, .real(.infinity), nil)
    var found = column(.double, [.real(.nan), .real(.infinity), 1.5, .real(-Double.signalingNaN)])
    #expect(found.mostFrequent.map(\.count) == [2])
    found.mostFrequent = []
    #expect(found == expected)
    #expect(column(.double, [.real(.nan), 2, 4]).mean == 3)
  }

  @Test func `sums do not overflow, and small numbers are not lost beside large ones`() {
    #expect(column(.integer, [.integer(.max), .integer(.max)]).mean == 0x1p63)
    #expect(column(.integer, [.integer(.min), .integer(.max), 2]).mean == 1.0 / 3)
    #expect(column(.double, [1e100, 3, -1e100]).mean == 1)
  }

  /// Numbers and texts, `count` of each, with NULLs between them.
  private static func rows(_ numbers: Range<Int>) -> [[Value]] {
    numbers.map { number in
      [
        number % 7 == 0 ? .null : .integer(Int64(number % 997)), .real(Double(number) / 10),
        "name \(number)", .text("kind \(number % 12)"),
      ]
    }
  }

  @Test func `parts that are merged give what one part gives`() {
    let schema = Self.schema(.integer, .double, .text(), .text())
    let whole = Self.tally(schema, Self.rows(0..<24_000)).statistics
    // The second part alone has too many distinct values, so each way of merging occurs.
    let cuts = [0, 4_000, 20_000, 24_000]
    for order in [[0, 1, 2], [1, 0, 2], [2, 0, 1]] {
      let parts = order.map { Self.tally(schema, Self.rows(cuts[$0]..<cuts[$0 + 1])) }
      parts[0].merge(parts[1])
      parts[0].merge(parts[2])
      #expect(parts[0].statistics == whole, "\(order)")
    }
    #expect(whole.columns.map(\.distinctIsEstimated) == [false, true, true, false])
    #expect(whole.columns[0].distinctCount == 997)
    #expect(whole.columns[3].mostFrequent.map(\.count) == [2000, 2000, 2000, 2000, 2000])
  }

  @Test func `10,000 distinct values are counted, and more are estimated`() {
    let exact = column(.integer, (0..<10_000).map { Value.integer($0) } + [5, 5, 6] as [Value])
    #expect(exact.distinctCount == 10_000 && !exact.distinctIsEstimated)
    #expect(exact.mostFrequent == [.init(value: 5, count: 3), .init(value: 6, count: 2)])
    let texts = column(.text(), (0..<50_000).map { Value.text("well \($0)") })
    #expect(texts.distinctIsEstimated && texts.mostFrequent == [])
    #expect(abs(texts.distinctCount - 50_000) < 1_500)
    let numbers = column(.integer, (0..<50_000).map { Value.integer($0 * 1_000) })
    #expect(abs(numbers.distinctCount - 50_000) < 1_500)
    #expect(numbers.distinctCount <= 50_000)
  }

  @Test func `long texts are estimated before they fill the memory`() {
    let filler = String(repeating: "x", count: 1 << 20)
    let found = column(.text(), (0..<8).map { Value.text("\($0 % 6)\(filler)") })
    #expect(found.distinctIsEstimated && found.distinctCount == 6)
  }

  @Test func `geometries have types, an envelope, and empty and damaged ones among them`() {
    let tally = LayerTally(Self.schema(geometry: true))
    let point = Geometry.point(Position(x: 10, y: 54), .xy)
    let all: [[UInt8]?] = [
      WKB.bytes(of: point), WKB.bytes(of: .point(Position(x: 12, y: 53), .xy)), nil, [1, 9],
      // An empty point, and an empty line string.
      WKB.bytes(of: .point(nil, .xy)), [1, 2, 0, 0, 0, 0, 0, 0, 0],
    ]
    for wkb in all { tally.add(ValueRow(wkb: wkb)) }
    var expected = GeometryStatistics(column: "geom")
    (expected.nullCount, expected.emptyCount, expected.damagedCount) = (1, 2, 1)
    expected.types = [.point: 3, .lineString: 1]
    expected.envelope = Envelope(minX: 10, minY: 53, maxX: 12, maxY: 54)
    #expect(
      tally.statistics == LayerStatistics(layer: "wells", count: 6, geometry: expected))
  }
}
