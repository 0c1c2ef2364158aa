import FieldpackGeometry
import FieldpackTopology
import Testing

@Suite struct PreparedGeometryTests {
  private static func ring(_ ordinates: [Double]) -> Geometry {
    .polygon([CoordinateSequence(dimensions: .xy, ordinates: ordinates)], .xy)
  }

  private static func box(_ a: Double, _ b: Double, _ c: Double, _ d: Double) -> Geometry {
    ring([a, b, c, b, c, d, a, d, a, b])
  }

  private static let square = box(0, 0, 10, 10)

  @Test func `relations read from the feature to the prepared geometry`() throws {
    let prepared = try PreparedGeometry(Self.square, in: TopologyContext())
    let inner = WKB.bytes(of: Self.box(2, 2, 3, 3))
    let outer = WKB.bytes(of: Self.box(-1, -1, 11, 11))
    let expected: [(SpatialRelation, Bool, Bool)] = [
      (.intersects, true, true), (.disjoint, false, false), (.within, true, false),
      (.contains, false, true), (.covers, false, true), (.coveredBy, true, false),
      (.touches, false, false), (.crosses, false, false), (.overlaps, false, false),
      (.equals, false, false),
    ]
    for (relation, ofInner, ofOuter) in expected {
      #expect(try prepared.test(relation, of: inner.span.bytes) == ofInner, "\(relation)")
      #expect(try prepared.test(relation, of: outer.span.bytes) == ofOuter, "\(relation)")
    }
    let turned = WKB.bytes(of: Self.ring([10, 10, 10, 0, 0, 0, 0, 10, 10, 10]))
    #expect(try prepared.test(.equals, of: turned.span.bytes) == true)
  }

  @Test(arguments: SpatialRelation.allCases)
  func `an empty geometry answers nothing`(relation: SpatialRelation) throws {
    let context = try TopologyContext()
    let prepared = try PreparedGeometry(Self.square, in: context)
    for empty in [
      Geometry.point(nil, .xy), .polygon([], .xy), .geometryCollection([], .xy),
      .multiPoint([nil], .xy),
    ] {
      #expect(try prepared.test(relation, of: WKB.bytes(of: empty).span.bytes) == nil)
      #expect(try context.read(empty).has(relation, to: prepared.base) == nil)
      let none = try PreparedGeometry(empty, in: context)
      #expect(try none.test(relation, of: WKB.bytes(of: Self.square).span.bytes) == nil)
      #expect(none.decision(on: relation, of: Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)) == nil)
    }
    #expect(prepared.decision(on: relation, of: .empty) == nil)
  }

  @Test func `a border belongs to covers and not to contains`() throws {
    let prepared = try PreparedGeometry(Self.square, in: TopologyContext())
    let onBorder = WKB.bytes(of: .point(x: 10, y: 5))
    #expect(try prepared.test(.within, of: onBorder.span.bytes) == false)
    #expect(try prepared.test(.coveredBy, of: onBorder.span.bytes) == true)
    #expect(try prepared.test(.touches, of: onBorder.span.bytes) == true)
  }

  @Test func `knows a rectangle`() throws {
    let context = try TopologyContext()
    for (geometry, isRectangle) in [
      (Self.square, true), (Self.ring([0, 0, 0, 1, 2, 1, 2, 0, 0, 0]), true),
      (Self.ring([0, 0, 1, 0, 1, 1, 0, 0]), false),
      (Self.ring([0, 0, 1, 1, 1, 0, 0, 1, 0, 0]), false),
      (Self.ring([0, 0, 1, 0, 0, 0, 0, 1, 0, 0]), false),
      (Self.ring([0, 0, 2, 0, 2, 1, 0, 2, 0, 0]), false), (.point(x: 1, y: 1), false),
      (.polygon([], .xy), false),
    ] {
      #expect(try PreparedGeometry(geometry, in: context).isRectangle == isRectangle)
    }
  }

  @Test(arguments: SpatialRelation.allCases)
  func `the envelope decides only what the geometry would say`(
    relation: SpatialRelation
  ) throws {
    let context = try TopologyContext()
    let features: [Geometry] = [
      .point(x: 5, y: 5), .point(x: 10, y: 5), .point(x: 0, y: 0), .point(x: 11, y: 5),
      Self.box(2, 2, 3, 3), Self.box(0, 0, 3, 3), Self.box(8, 8, 12, 12), Self.square,
      Self.box(-1, -1, 11, 11), Self.box(10, 0, 12, 10), Self.box(20, 20, 21, 21),
      Self.ring([-5, 5, 5, -5, -5, -5, -5, 5]), Self.ring([9, 12, 12, 9, 12, 12, 9, 12]),
      .lineString(CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 10, 0])),
      .lineString(CoordinateSequence(dimensions: .xy, ordinates: [1, 1, 9, 9])),
      .lineString(CoordinateSequence(dimensions: .xy, ordinates: [-1, 5, 11, 5])),
    ]
    for base in [Self.square, Self.ring([0, 0, 10, 0, 10, 10, 5, 2, 0, 10, 0, 0])] {
      let prepared = try PreparedGeometry(base, in: context)
      for feature in features {
        let bytes = WKB.bytes(of: feature)
        let answer = try prepared.test(relation, of: bytes.span.bytes)
        let box = try #require(try context.read(feature).envelope)
        let decision = prepared.decision(on: relation, of: box)
        #expect(decision == nil || decision == answer, "\(relation) \(feature)")
      }
    }
    let rectangle = try PreparedGeometry(Self.square, in: context)
    #expect(
      rectangle.decision(on: .intersects, of: Envelope(minX: 2, minY: 2, maxX: 3, maxY: 3))
        == true)
    #expect(
      rectangle.decision(on: .within, of: Envelope(minX: 2, minY: 2, maxX: 3, maxY: 3)) == true)
    #expect(
      rectangle.decision(on: .within, of: Envelope(minX: 0, minY: 2, maxX: 3, maxY: 3)) == nil)
    #expect(
      rectangle.decision(on: .disjoint, of: Envelope(minX: 20, minY: 2, maxX: 30, maxY: 3))
        == true)
  }

  @Test func `distance is tested against the prepared geometry`() throws {
    let prepared = try PreparedGeometry(Self.square, in: TopologyContext())
    let point = WKB.bytes(of: .point(x: 13, y: 14))
    #expect(try prepared.isWithin(5, of: point.span.bytes) == true)
    #expect(try prepared.isWithin(4.999, of: point.span.bytes) == false)
    #expect(try prepared.isWithin(5, of: WKB.bytes(of: .point(nil, .xy)).span.bytes) == nil)
    let error = #expect(throws: TopologyError.self) {
      _ = try prepared.isWithin(.nan, of: point.span.bytes)
    }
    #expect(error?.kind == .invalidArgument)
  }

  @Test func `a converse of a converse is the relation`() {
    for relation in SpatialRelation.allCases {
      #expect(relation.mirrored.mirrored == relation)
    }
    #expect(SpatialRelation.within.mirrored == .contains)
    #expect(SpatialRelation.covers.mirrored == .coveredBy)
  }
}
