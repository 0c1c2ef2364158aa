import FieldpackGeometry
import FieldpackTopology
import Testing

@Suite struct TopologyGeometryTests {
  private static func line(_ ordinates: [Double]) -> Geometry {
    .lineString(CoordinateSequence(dimensions: .xy, ordinates: ordinates))
  }

  private static func polygon(_ rings: [Double]...) -> Geometry {
    .polygon(rings.map { CoordinateSequence(dimensions: .xy, ordinates: $0) }, .xy)
  }

  private static let square = polygon([0, 0, 4, 0, 4, 4, 0, 4, 0, 0])
  private static let bowtie = polygon([0, 0, 2, 2, 2, 0, 0, 2, 0, 0])

  @Test func `measures area, length and distance`() throws {
    let context = try TopologyContext()
    let holed = Self.polygon(
      [0, 0, 4, 0, 4, 4, 0, 4, 0, 0], [1, 1, 1, 2, 2, 2, 2, 1, 1, 1])
    let square = try context.read(holed)
    #expect(try square.area() == 15)
    #expect(try square.length() == 20)
    let line = try context.read(Self.line([7, 8, 10, 12]))
    #expect(try line.length() == 5 && line.area() == 0)
    #expect(try square.distance(to: line) == 5)
    #expect(try square.isWithin(5, of: line) == true)
    #expect(try square.isWithin(4.9, of: line) == false)
    let nearest = try #require(try square.nearestPositions(to: line))
    #expect(nearest.here == Position(x: 4, y: 4) && nearest.there == Position(x: 7, y: 8))
    #expect(square.envelope == Envelope(minX: 0, minY: 0, maxX: 4, maxY: 4))
  }

  @Test func `an empty geometry has no distance and no envelope`() throws {
    let context = try TopologyContext()
    let empty = try context.read(.polygon([], .xy))
    let point = try context.read(.point(x: 1, y: 1))
    #expect(empty.isEmpty && empty.envelope == nil)
    #expect(try empty.area() == 0 && empty.length() == 0)
    #expect(try empty.distance(to: point) == nil && point.distance(to: empty) == nil)
    #expect(try point.isWithin(1, of: empty) == nil)
    #expect(try point.nearestPositions(to: empty) == nil)
    #expect(try empty.centroid().geometry() == .point(nil, .xy))
    #expect(try empty.isValid())
  }

  @Test func `says why and where a geometry is invalid`() throws {
    let context = try TopologyContext()
    let bowtie = try context.read(Self.bowtie)
    #expect(try bowtie.isValid() == false)
    #expect(
      try bowtie.validity()
        == .invalid(reason: "Self-intersection", location: Position(x: 1, y: 1)))
    let repaired = try bowtie.madeValid()
    #expect(try repaired.validity() == .valid && repaired.area() == 2)
    #expect(try repaired.geometry().type == .multiPolygon)
    #expect(try context.read(Self.square).validity() == .valid)
    #expect(try context.read(Self.line([0, 0, 2, 2, 2, 0, 0, 2])).isSimple() == false)
    #expect(try context.read(Self.line([0, 0, 2, 2])).isSimple())
  }

  @Test func `makes points that stand for a geometry`() throws {
    let square = try TopologyContext().read(Self.square)
    #expect(try square.centroid().geometry() == .point(x: 2, y: 2))
    let point = try square.pointOnSurface()
    #expect(try point.has(.within, to: square) == true)
  }

  @Test func `combines two geometries`() throws {
    let context = try TopologyContext()
    let a = try context.read(Self.square)
    let b = try context.read(Self.polygon([2, 2, 6, 2, 6, 6, 2, 6, 2, 2]))
    let expected = Self.polygon([2, 2, 4, 2, 4, 4, 2, 4, 2, 2])
    #expect(try a.intersection(b).has(.equals, to: context.read(expected)) == true)
    #expect(try a.union(b).area() == 28)
    #expect(try a.difference(b).area() == 12)
    #expect(try a.symmetricDifference(b).area() == 24)
    let members = try context.read(
      .geometryCollection([try a.geometry(), try b.geometry()], .xy))
    #expect(try members.unionOfMembers().area() == 28)
    #expect(try a.boundary().length() == 16)
    let far = try context.read(.point(x: 100, y: 100))
    #expect(try a.intersection(far).isEmpty)
  }

  @Test func `geometries of two contexts work together`() throws {
    let a = try TopologyContext().read(Self.square)
    let b = try TopologyContext().read(.point(x: 2, y: 2))
    #expect(try a.has(.contains, to: b) == true)
    #expect(try a.union(b).area() == 16)
  }

  @Test func `a buffer of what is too far away is refused`() throws {
    let context = try TopologyContext()
    let far = try context.read(Self.line([-1e308, 0, 1e308, 1]))
    let error = #expect(throws: TopologyError.self) { try far.buffered(by: 1) }
    #expect(
      error
        == TopologyError(
          .invalidArgument, "-1e+308 is too far away for a buffer (no more than 1e+150)"))
    let wide = #expect(throws: TopologyError.self) {
      try context.read(.point(x: 0, y: 0)).buffered(by: 1e200)
    }
    #expect(wide?.kind == .invalidArgument)
    #expect(try context.read(.multiPoint([], .xy)).buffered(by: 1).isEmpty)
  }

  @Test func `buffers by style`() throws {
    let context = try TopologyContext()
    let line = try context.read(Self.line([0, 0, 10, 0]))
    let round = try line.buffered(by: 1)
    #expect(abs(try round.area() - (20 + .pi)) < 0.03)
    #expect(try line.buffered(by: 1, style: BufferStyle(cap: .flat)).area() == 20)
    #expect(try line.buffered(by: 1, style: BufferStyle(cap: .square)).area() == 24)
    let left = try line.buffered(by: 1, style: BufferStyle(isSingleSided: true))
    #expect(left.envelope == Envelope(minX: 0, minY: 0, maxX: 10, maxY: 1))
    let square = try context.read(Self.square)
    #expect(try square.buffered(by: 1, style: BufferStyle(join: .mitre)).area() == 36)
    #expect(try square.buffered(by: 1, style: BufferStyle(join: .bevel)).area() == 34)
    #expect(try square.buffered(by: -1).area() == 4)
    #expect(try square.buffered(by: -3).isEmpty)
    #expect(
      try context.read(.point(x: 0, y: 0))
        .buffered(by: 1, style: BufferStyle(quadrantSegments: 1)).area() == 2)
  }

  @Test func `simplifies and takes the hull`() throws {
    let context = try TopologyContext()
    let line = try context.read(Self.line([0, 0, 5, 0.1, 10, 0]))
    #expect(try line.simplified(tolerance: 1).geometry() == Self.line([0, 0, 10, 0]))
    #expect(
      try line.simplified(tolerance: 0.01, preservingTopology: false).geometry()
        == Self.line([0, 0, 5, 0.1, 10, 0]))
    let points = try context.read(
      .multiPoint([[0, 0], [4, 0], [0, 4], [1, 1]].map { Position(x: $0[0], y: $0[1]) }, .xy))
    #expect(try points.convexHull().area() == 8)
  }

  @Test func `relates as DE-9IM says`() throws {
    let context = try TopologyContext()
    let square = try context.read(Self.square)
    let line = try context.read(Self.line([-1, 2, 5, 2]))
    #expect(try line.relate(to: square) == "101FF0212")
    #expect(try line.relates(to: square, pattern: "T*T******"))
    #expect(try line.relates(to: square, pattern: "FF*FF****") == false)
    for pattern in ["", "T*T*****", "T*T*******", "T*T*****X", "ééé*TTTTT"] {
      let error = #expect(throws: TopologyError.self) {
        _ = try line.relates(to: square, pattern: pattern)
      }
      #expect(error?.kind == .invalidArgument)
    }
  }

  @Test func `senseless arguments are refused`() throws {
    let square = try TopologyContext().read(Self.square)
    for value in [Double.nan, .infinity] {
      #expect(throws: TopologyError.self) { _ = try square.buffered(by: value) }
      #expect(throws: TopologyError.self) { _ = try square.simplified(tolerance: value) }
      #expect(throws: TopologyError.self) { _ = try square.isWithin(value, of: square) }
    }
    #expect(throws: TopologyError.self) { _ = try square.simplified(tolerance: -1) }
  }

  @Test func `an exception of GEOS becomes an error in its words`() throws {
    let context = try TopologyContext()
    let collection = try context.read(
      .geometryCollection([.point(x: 1, y: 1), Self.square], .xy))
    let error = #expect(throws: TopologyError.self) { _ = try collection.boundary() }
    #expect(error?.kind == .failed)
    #expect(error?.message.contains("GeometryCollection") == true, "\(String(describing: error))")
    #expect(try context.read(Self.square).area() == 16, "the context works on")
  }
}
