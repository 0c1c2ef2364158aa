import FieldpackGeometry
import FieldpackTopology
import Testing

@Suite struct TopologyContextTests {
  private static func line(_ ordinates: [Double], _ dimensions: Dimensions = .xy) -> Geometry {
    .lineString(CoordinateSequence(dimensions: dimensions, ordinates: ordinates))
  }

  @Test(arguments: ByteOrder.allCases)
  func `what goes in comes out, z included`(order: ByteOrder) throws {
    let context = try TopologyContext()
    let square = CoordinateSequence(
      dimensions: .xyz, ordinates: [0, 0, 1, 4, 0, 2, 4, 4, 3, 0, 0, 1])
    let geometries: [Geometry] = [
      .point(Position(x: 1, y: 2), .xy), .point(Position(x: 1, y: 2, z: 3), .xyz),
      .point(nil, .xy), Self.line([0, 0, 1, 1]), .polygon([square], .xyz),
      .multiPoint([Position(x: 1, y: 2), Position(x: 3, y: 4)], .xy),
      .geometryCollection([.point(x: 1, y: 2), Self.line([0, 0, 1, 1])], .xy),
      .geometryCollection([], .xy),
    ]
    for geometry in geometries {
      for flavour in [WKB.Flavour.iso, .ewkb(srid: 4326)] {
        let bytes = WKB.bytes(of: geometry, byteOrder: order, flavour: flavour)
        #expect(try context.read(wkb: bytes).geometry() == geometry)
        #expect(try context.read(wkb: bytes).wkb() == WKB.bytes(of: geometry))
      }
    }
  }

  @Test func `m is dropped and z stays`() throws {
    let context = try TopologyContext()
    let m = Self.line([0, 0, 7, 3, 4, 9], .xym)
    #expect(try context.read(m).geometry() == Self.line([0, 0, 3, 4]))
    let both = Self.line([0, 0, 5, 7, 3, 4, 6, 9], .xyzm)
    #expect(try context.read(both).geometry() == Self.line([0, 0, 5, 3, 4, 6], .xyz))
    let point = Geometry.point(Position(x: 1, y: 2, m: 3), .xym)
    #expect(try context.read(point).geometry() == .point(x: 1, y: 2))
  }

  @Test func `curves are linearised and surfaces become polygons`() throws {
    let context = try TopologyContext()
    let circle = Geometry.circularString(
      CoordinateSequence(dimensions: .xy, ordinates: [1, 0, -1, 0, 1, 0]))
    let disc = try context.read(.composite(.curvePolygon, [circle], .xy))
    #expect(abs(try disc.area() - .pi) < 0.005)
    let ring = Self.line([0, 0, 1, 0, 0, 1, 0, 0])
    let triangle = Geometry.composite(.triangle, [ring], .xy)
    #expect(try context.read(triangle).area() == 0.5)
    let tin = try context.read(.composite(.tin, [triangle], .xy))
    #expect(try tin.geometry().type == .multiPolygon)
    let shell = CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 1, 0, 0, 1, 0, 0])
    let surface = Geometry.composite(.polyhedralSurface, [.polygon([shell], .xy)], .xy)
    #expect(try context.read(surface).area() == 0.5)
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan])
  func `coordinates that are no numbers are refused`(value: Double) throws {
    let context = try TopologyContext()
    for geometry in [
      Self.line([0, 0, 1, value]), Self.line([value, 0, 1, 1]),
      .multiPoint([Position(x: 1, y: 1), Position(x: value, y: 0)], .xy),
      .polygon(
        [CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 1, 0, value, 1, 0, 0])], .xy),
    ] {
      let error = #expect(throws: TopologyError.self) { _ = try context.read(geometry) }
      #expect(error?.kind == .notFinite)
    }
  }

  @Test func `a height that is no number is kept`() throws {
    let context = try TopologyContext()
    let read = try context.read(Self.line([0, 0, .nan, 1, 1, 5], .xyz))
    #expect(try read.length() == 2.squareRoot())
    #expect(try context.read(Self.line([1e308, 1e308, 0, 0])).isEmpty == false)
  }

  @Test func `damaged bytes are an error and never reach GEOS`() throws {
    let context = try TopologyContext()
    let whole = WKB.bytes(
      of: .geometryCollection([.point(x: 1, y: 2), Self.line([0, 0, 1, 1])], .xy))
    for length in 0..<whole.count {
      let error = #expect(throws: TopologyError.self) {
        _ = try context.read(wkb: Array(whole.prefix(length)))
      }
      #expect(error?.kind == .invalidGeometry)
    }
    let claimed: [UInt8] = [1, 2, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F]
    let error = #expect(throws: TopologyError.self) { _ = try context.read(wkb: claimed) }
    #expect(error?.kind == .invalidGeometry)
  }

  @Test(arguments: [33, 2_000, 100_000])
  func `deep nesting is an error, not a crash`(depth: Int) throws {
    let context = try TopologyContext()
    let level: [UInt8] = [1, 7, 0, 0, 0, 1, 0, 0, 0]
    let bytes = (0..<depth).flatMap { _ in level } + WKB.bytes(of: .point(x: 1, y: 2))
    let error = #expect(throws: TopologyError.self) { _ = try context.read(wkb: bytes) }
    #expect(error?.kind == .invalidGeometry)
  }

  @Test(arguments: [
    ([0.0, 0, 1, 0, 1, 1, 0, 1], "Points of LinearRing do not form a closed linestring"),
    ([0, 0, 0, 0], "Invalid number of points in LinearRing found 2"),
  ])
  func `a ring GEOS cannot hold is an error in its words`(
    ordinates: [Double], reason: String
  ) throws {
    let context = try TopologyContext()
    let polygon = Geometry.polygon(
      [CoordinateSequence(dimensions: .xy, ordinates: ordinates)], .xy)
    let error = #expect(throws: TopologyError.self) { _ = try context.read(polygon) }
    #expect(error?.kind == .invalidGeometry)
    #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    #expect(try context.read(.point(x: 1, y: 1)).isEmpty == false, "the context works on")
  }

  @Test func `two contexts work at once on two threads`() async throws {
    let areas = try await withThrowingTaskGroup(of: Double.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let context = try TopologyContext()
          var area = 0.0
          for index in 0..<500 {
            let disc = try context.read(.point(x: Double(index), y: 0)).buffered(by: 2)
            let next = try context.read(.point(x: Double(index) + 1, y: 0)).buffered(by: 2)
            area += try disc.intersection(next).area()
          }
          return area
        }
      }
      var areas: [Double] = []
      for try await area in group { areas.append(area) }
      return areas
    }
    #expect(areas.count == 4 && Set(areas).count == 1)
  }
}
