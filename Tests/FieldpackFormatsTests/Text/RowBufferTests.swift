import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackFormats

@Suite struct RowBufferTests {
  private static func text(_ value: String, _ column: Int, in rows: inout RowBuffer) {
    Array(value.utf8).withUnsafeBufferPointer { rows.set(column, $0) }
  }

  private static func values(_ rows: borrowing RowBuffer) -> [Value] {
    (0..<rows.columnCount).map { rows.stored(at: $0) }
  }

  private static func geometry(_ rows: borrowing RowBuffer) -> [UInt8]? {
    rows.withGeometry { span in span.withUnsafeBytes { Array($0) } }
  }

  @Test func `rows keep their values, whatever follows them`() {
    var rows = RowBuffer(columnCount: 3)
    Self.text("first", 0, in: &rows)
    rows.set(1, Int64(-7))
    rows.commit(id: 1, envelope: nil) { $0 += [1, 2, 3] }
    rows.set(0, 0.5)
    Self.text("", 1, in: &rows)
    Self.text("second", 2, in: &rows)
    rows.commit(id: 2, envelope: nil) { _ in }
    rows.select(0)
    #expect(rows.id == .integer(1))
    #expect(Self.values(rows) == [.text("first"), .integer(-7), .null])
    #expect(Self.geometry(rows) == [1, 2, 3])
    rows.select(1)
    #expect(Self.values(rows) == [.real(0.5), .text(""), .text("second")])
    #expect(Self.geometry(rows) == nil)
  }

  @Test func `forgetting closed rows keeps the open one`() {
    var rows = RowBuffer(columnCount: 2)
    Self.text("gone", 1, in: &rows)
    rows.commit(id: 1, envelope: nil) { $0 += [9] }
    Self.text("kept", 0, in: &rows)
    rows.removeRows()
    #expect(rows.count == 0)
    let isKept = !rows.isNull(0)
    #expect(isKept)
    rows.set(1, Int64(5))
    rows.commit(id: 2, envelope: nil) { $0 += [8] }
    rows.select(0)
    #expect(Self.values(rows) == [.text("kept"), .integer(5)])
    #expect(Self.geometry(rows) == [8])
  }

  @Test func `a row given up leaves nothing in the next`() {
    var rows = RowBuffer(columnCount: 2)
    Self.text("given up", 0, in: &rows)
    rows.set(1, 1.5)
    rows.clear()
    Self.text("new", 0, in: &rows)
    rows.commit(id: 3, envelope: nil) { _ in }
    rows.select(0)
    #expect(Self.values(rows) == [.text("new"), .null])
  }

  @Test(arguments: Dimensions.allCases)
  func `a point is the WKB that the writer makes`(dimensions: Dimensions) {
    var rows = RowBuffer(columnCount: 0)
    rows.commit(id: 1, point: 5.5, 47.25, 301.6, 1e9, dimensions)
    var writer = WKBWriter()
    writer.begin(.point, dimensions)
    writer.position(5.5, 47.25, 301.6, 1e9)
    writer.end(.point)
    rows.select(0)
    #expect(Self.geometry(rows) == writer.bytes)
    #expect(
      rows.envelope
        == Envelope(
          minX: 5.5, minY: 47.25, maxX: 5.5, maxY: 47.25,
          z: dimensions.hasZ ? 301.6...301.6 : nil, m: dimensions.hasM ? 1e9...1e9 : nil))
  }

  @Test func `an ordinate that is no number is in no range`() {
    var rows = RowBuffer(columnCount: 0)
    rows.commit(id: 1, point: 1, 2, .nan, .nan, .xyzm)
    rows.select(0)
    #expect(rows.envelope == Envelope(minX: 1, minY: 2, maxX: 1, maxY: 2))
  }

  @Test func `a row without a geometry has no envelope`() {
    var rows = RowBuffer(columnCount: 0)
    rows.commit(id: 1, envelope: Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)) { _ in }
    rows.select(0)
    #expect(Self.geometry(rows) == nil)
    #expect(rows.envelope == nil)
  }
}
