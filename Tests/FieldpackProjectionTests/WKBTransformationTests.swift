import FieldpackGeometry
import FieldpackProjection
import Testing

@Suite struct WKBTransformationTests {
  private static let position = Position(x: 13.4, y: 52.5, z: 34, m: 7)
  private static let moved = Position(x: 1491681.1766298658, y: 6891041.723891586, z: 34, m: 7)

  /// One geometry of every type, every position at `position`.
  private static func geometries(at position: Position, _ dimensions: Dimensions) -> [Geometry] {
    let line = CoordinateSequence([position, position, position, position], dimensions: dimensions)
    let polygon = Geometry.polygon([line, line], dimensions)
    return [
      .point(position, dimensions), .point(nil, dimensions), .lineString(line),
      .lineString(CoordinateSequence(dimensions: dimensions)), polygon, .polygon([], dimensions),
      .multiPoint([position, nil, position], dimensions),
      .multiLineString([line, line], dimensions),
      .multiPolygon([[line], [line, line]], dimensions),
      .geometryCollection(
        [.point(position, dimensions), .geometryCollection([polygon], dimensions)], dimensions),
      .circularString(line),
      .composite(.compoundCurve, [.lineString(line), .circularString(line)], dimensions),
      .composite(.curvePolygon, [.circularString(line)], dimensions),
      .composite(.multiCurve, [.lineString(line)], dimensions),
      .composite(.multiSurface, [polygon], dimensions),
      .composite(.polyhedralSurface, [polygon], dimensions),
      .composite(.triangle, [.lineString(line)], dimensions),
      .composite(.tin, [.composite(.triangle, [.lineString(line)], dimensions)], dimensions),
    ]
  }

  @Test(arguments: Dimensions.allCases, ByteOrder.allCases)
  func `every type is transformed in place`(dimensions: Dimensions, order: ByteOrder) throws {
    let mercator = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 3857))
    let exact = try #require(
      mercator.transform(
        Position(x: 13.4, y: 52.5, z: dimensions.hasZ ? 34 : nil, m: dimensions.hasM ? 7 : nil)))
    #expect(abs(exact.x - Self.moved.x) < 1e-6 && abs(exact.y - Self.moved.y) < 1e-6)
    let pairs = zip(
      Self.geometries(at: Self.position, dimensions), Self.geometries(at: exact, dimensions))
    for (source, expected) in pairs {
      for flavour in [WKB.Flavour.iso, .ewkb(srid: 4326), .ewkb(srid: nil)] {
        var bytes = WKB.bytes(of: source, byteOrder: order, flavour: flavour)
        let envelope = try mercator.transform(wkb: &bytes)
        #expect(bytes == WKB.bytes(of: expected, byteOrder: order, flavour: flavour))
        #expect(envelope.z == (envelope.isEmpty || !dimensions.hasZ ? nil : 34...34))
        #expect(envelope.isEmpty || (envelope.minX == exact.x && envelope.maxY == exact.y))
      }
      #expect(try mercator.transform(source) == expected)
    }
  }

  @Test func `a header before the geometry stays as it is`() throws {
    let mercator = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 3857))
    var blob: [UInt8] = [1, 2, 3] + WKB.bytes(of: .point(x: 13.4, y: 52.5))
    try mercator.transform(wkb: &blob, from: 3)
    let moved = try #require(mercator.transform(Position(x: 13.4, y: 52.5)))
    #expect(blob == [1, 2, 3] + WKB.bytes(of: .point(x: moved.x, y: moved.y)))
    for offset in [-1, 25, 1_000] {
      #expect(throws: ProjectionError.self) { try mercator.transform(wkb: &blob, from: offset) }
    }
  }

  @Test func `failed positions are counted and change nothing`() throws {
    let mercator = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 3857))
    let line = Geometry.lineString(
      CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 0, 95, 1, 1, 0, -95]))
    var bytes = WKB.bytes(of: line)
    let error = #expect(throws: ProjectionError.self) { try mercator.transform(wkb: &bytes) }
    #expect(
      error
        == ProjectionError(
          .failedPoints,
          "2 of 4 positions of the geometry cannot be transformed from EPSG:4326 to EPSG:3857"))
    #expect(bytes == WKB.bytes(of: line))
  }

  @Test(arguments: ["EPSG:3857", "EPSG:32633", "EPSG:27700"])
  func `a point goes where arrays go, to the bit, and fails where they fail`(code: String) throws {
    let target = try #require(SRS(code))
    let transformation = try CoordinateTransformation(from: .wgs84, to: target)
    var values: [Double] = [.infinity, 0, 1e308, 1e308, -0.0, -0.0]
    for x in stride(from: -200.0, through: 200, by: 7.3) {
      for y in stride(from: -96.0, through: 96, by: 6) { values += [x, y] }
    }
    var moved = values
    let failed = Set(transformation.transform(&moved, dimensions: .xy))
    #expect(!failed.isEmpty)
    for index in 0..<values.count / 2 {
      let whole = WKB.bytes(of: .point(x: values[2 * index], y: values[2 * index + 1]))
      var bytes = whole
      if failed.contains(index) {
        let error = #expect(throws: ProjectionError.self) {
          try transformation.transform(wkb: &bytes)
        }
        #expect(error?.message.hasPrefix("1 of 1 position of the geometry cannot") == true)
        #expect(bytes == whole)
        #expect(transformation.point(whole) == nil)
      } else {
        let (x, y) = (moved[2 * index], moved[2 * index + 1])
        #expect(
          try transformation.transform(wkb: &bytes)
            == Envelope(minX: x, minY: y, maxX: x, maxY: y))
        #expect(bytes == WKB.bytes(of: .point(x: x, y: y)))
        let point = try #require(transformation.point(whole))
        #expect(point.x == x && point.y == y)
      }
    }
  }

  @Test func `only a plain point goes alone`() throws {
    let mercator = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 3857))
    let identity = try CoordinateTransformation(from: .wgs84, to: .wgs84)
    let foreign: ByteOrder = ByteOrder.native == .little ? .big : .little
    let plain = WKB.bytes(of: .point(x: 1, y: 2), byteOrder: .native)
    #expect(mercator.point(plain) != nil)
    #expect(identity.point(plain) == nil)
    for other in [
      WKB.bytes(of: .point(x: 1, y: 2), byteOrder: foreign),
      WKB.bytes(of: .point(nil, .xy), byteOrder: .native), Array(plain.dropLast()), plain + [0],
      WKB.bytes(of: .point(Position(x: 1, y: 2, z: 3), .xyz), byteOrder: .native), [],
    ] {
      #expect(mercator.point(other) == nil)
    }
  }

  @Test func `damaged bytes are an error and stay as they are`() throws {
    let mercator = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 3857))
    let whole = WKB.bytes(of: Self.geometries(at: Self.position, .xyzm)[9])
    for length in 0..<whole.count {
      var bytes = Array(whole.prefix(length))
      let error = #expect(throws: ProjectionError.self) { try mercator.transform(wkb: &bytes) }
      #expect(error?.kind == .invalidGeometry)
      #expect(bytes == Array(whole.prefix(length)))
    }
  }

  @Test func `the same system gives the envelope and no other change`() throws {
    let identity = try CoordinateTransformation(from: .wgs84, to: .wgs84)
    let line = CoordinateSequence(dimensions: .xy, ordinates: [1, 2, 3, 4])
    var bytes = WKB.bytes(of: .lineString(line))
    #expect(
      try identity.transform(wkb: &bytes) == Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4))
    #expect(bytes == WKB.bytes(of: .lineString(line)))
  }
}

extension CoordinateTransformation {
  // A span cannot be given to the macros.
  fileprivate func point(_ wkb: [UInt8]) -> (x: Double, y: Double)? {
    transformedPoint(wkb: wkb.span.bytes)
  }
}
