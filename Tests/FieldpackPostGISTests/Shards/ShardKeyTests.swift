import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackPostGIS

@Suite struct ShardKeyTests {
  private let world = Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)

  private func point(_ x: Double, _ y: Double) -> Envelope {
    Envelope(minX: x, minY: y, maxX: x, maxY: y)
  }

  @Test func `a feature has the number of its place, or one of those that say why it has none`() {
    let points = ShardKey(area: world, reach: .init(width: 0, height: 0), idColumn: "fid")
    #expect(points.number(nil) == -1)
    #expect(points.number(.empty) == -1)
    #expect(points.number(point(-180, -90)) == 0)
    // Outside of the area the nearest cell counts.
    #expect(points.number(point(-500, -1_000)) == 0)
    #expect(points.number(point(180, -90)) == (1 << 32) - 1)
    #expect(points.number(point(180, -90)) == points.number(point(1e300, -90)))
    #expect(points.number(point(.infinity, 0)) == -2)
    #expect(points.number(Envelope(minX: 0, minY: 0, maxX: 1, maxY: 0)) == -2)
    let areas = ShardKey(area: world, reach: .init(width: 1, height: 2), idColumn: "fid")
    let middle = areas.number(point(0.5, 1))
    #expect(areas.number(Envelope(minX: 0, minY: 0, maxX: 1, maxY: 2)) == middle)
    #expect(areas.number(Envelope(minX: 0, minY: 0, maxX: 1.1, maxY: 2)) == -2)
    #expect(areas.number(Envelope(minX: 0, minY: 0, maxX: 1, maxY: 2.1)) == -2)
  }

  @Test func `an area without width has one column of cells`() {
    let line = ShardKey(
      area: Envelope(minX: 5, minY: 0, maxX: 5, maxY: 10), reach: .init(width: 0, height: 0),
      idColumn: "fid")
    #expect(line.number(point(5, 0)) == 0)
    #expect(line.ranges(touching: point(5, 0)).contains { $0.contains(0) })
  }

  @Test(arguments: [0.0, 3.0])
  func `no feature that touches a box is outside of its ranges`(reach: Double) {
    let key = ShardKey(area: world, reach: .init(width: reach, height: reach), idColumn: "fid")
    var random = FilterGenerator.SplitMix(state: 7)
    for _ in 0..<2_000 {
      let (x, y) = (
        Double.random(in: -200...200, using: &random), Double.random(in: -95...95, using: &random)
      )
      let (width, height) = (
        reach * Double.random(in: 0...1.2, using: &random),
        reach * Double.random(in: 0...1.2, using: &random)
      )
      let feature = Envelope(minX: x, minY: y, maxX: x + width, maxY: y + height)
      let number = key.number(feature)
      // A box that touches a corner of the feature, or lies in it.
      let size = Double.random(in: 0...20, using: &random)
      let box = Envelope(
        minX: feature.maxX, minY: feature.minY - size, maxX: feature.maxX + size,
        maxY: feature.minY)
      #expect(box.intersects(feature))
      let ranges = key.ranges(touching: box)
      #expect(number == -2 || ranges.contains { $0.contains(number) }, "\(feature) \(box)")
      #expect(ranges.count <= 8)
      for (a, b) in zip(ranges, ranges.dropFirst()) { #expect(a.upperBound < b.lowerBound) }
    }
  }

  @Test func `a small box touches little of the curve`() {
    let key = ShardKey(area: world, reach: .init(width: 0, height: 0), idColumn: "fid")
    let box = Envelope(minX: 8, minY: 47, maxX: 8.1, maxY: 47.1)
    let length = key.ranges(touching: box).reduce(0) { $0 + $1.count }
    // 19 by 38 cells, and what lies between eight ranges.
    #expect(length == 743)
    #expect(key.ranges(touching: world) == [0..<1 << 32])
    #expect(key.ranges(touching: .empty).isEmpty)
  }

  @Test func `a comment tells the curve`() {
    let key = ShardKey(
      area: Envelope(minX: -0.1, minY: 1e-7, maxX: 1_234_567.25, maxY: 9),
      reach: .init(width: 0.1, height: 3), idColumn: "a\"b")
    #expect(ShardKey(comment: key.comment) == key)
    #expect(
      key.comment
        == #"{"fieldpack":"hilbert","area":[-0.1,1e-07,1234567.25,9],"reach":[0.1,3],"id":"a\"b"}"#)
  }

  @Test(arguments: [
    "", "a note", "{}", #"{"fieldpack":"hilbert"}"#,
    #"{"fieldpack":"hilbert","area":[0,0,1],"reach":[0,0],"id":"fid"}"#,
    #"{"fieldpack":"hilbert","area":[0,0,1,1e999],"reach":[0,0],"id":"fid"}"#,
    #"{"fieldpack":"hilbert","area":[1,0,0,1],"reach":[0,0],"id":"fid"}"#,
    #"{"fieldpack":"hilbert","area":[0,0,1,1],"reach":[0,-1],"id":"fid"}"#,
    #"{"fieldpack":"hilbert","area":[0,0,1,"1"],"reach":[0,0],"id":"fid"}"#,
  ])
  func `other comments tell none`(comment: String) { #expect(ShardKey(comment: comment) == nil) }
}
