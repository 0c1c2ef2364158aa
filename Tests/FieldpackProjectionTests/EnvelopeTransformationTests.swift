import FieldpackGeometry
import FieldpackProjection
import Testing

/// A box and pyproj 3.7.2's `transform_bounds` of it with 21 points a side.
struct KnownBox: Sendable {
  let source: Int32
  let target: Int32
  let from: [Double]
  let to: [Double]

  static let all: [KnownBox] = [
    KnownBox(
      source: 4326, target: 3857, from: [5, 45, 25, 55],
      to: [556597.4539663679, 5621521.486192066, 2782987.269831839, 7361866.113051188]),
    KnownBox(
      source: 4326, target: 3035, from: [5, 45, 25, 55],
      to: [3926417.967604707, 2432142.2161959717, 5496673.766702697, 3643392.55824048]),
    KnownBox(
      source: 4326, target: 32633, from: [12, 45, 18, 55],
      to: [263553.97389879345, 4982950.400226552, 736446.0261012093, 6098907.825129169]),
    KnownBox(
      source: 32633, target: 4326, from: [300000, 5_000_000, 800000, 6_000_000],
      to: [11.94040631664446, 45.08980169318446, 19.58488184196319, 54.14808399455496]),
    KnownBox(
      source: 3995, target: 4326, from: [-1_000_000, -1_000_000, 1_000_000, 1_000_000],
      to: [-180, 77.03740063459344, 180, 90]),
    KnownBox(
      source: 4326, target: 3995, from: [-180, 60, 180, 90],
      to: [-3299207.5292114005, -3333134.027630276, 3299207.5292114005, 3333134.027630276]),
    KnownBox(
      source: 4326, target: 4258, from: [-180, -90, 180, 90], to: [-180, -90, 180, 90]),
    KnownBox(
      source: 4326, target: 4267, from: [-100, 30, -90, 40],
      to: [-99.99963220132504, 29.999771194263033, -89.99990631949048, 40.00000311609789]),
  ]
}

@Suite struct EnvelopeTransformationTests {
  @Test(arguments: KnownBox.all)
  func `holds the box that other programs give, and little more`(known: KnownBox) throws {
    let transformation = try CoordinateTransformation(
      from: SRS("EPSG", known.source), to: SRS("EPSG", known.target))
    let boxes = try transformation.transform(Envelope(known.from))
    try #require(boxes.count == 1)
    let unit = known.target == 4326 || known.target == 4258 || known.target == 4267 ? 1e-5 : 1
    let slack = (known.target == 3995 ? 40_000 : 150) * unit
    let theirs = Envelope(known.to)
    let tolerance = 1e-6 * unit
    #expect(boxes[0].minX <= theirs.minX + tolerance && boxes[0].minX > theirs.minX - slack)
    #expect(boxes[0].minY <= theirs.minY + tolerance && boxes[0].minY > theirs.minY - slack)
    #expect(boxes[0].maxX >= theirs.maxX - tolerance && boxes[0].maxX < theirs.maxX + slack)
    #expect(boxes[0].maxY >= theirs.maxY - tolerance && boxes[0].maxY < theirs.maxY + slack)
  }

  @Test func `holds every position of the box`() throws {
    let box = Envelope(minX: 2, minY: 40, maxX: 25, maxY: 55)
    for code: Int32 in [3035, 32633, 2154, 3857, 3995, 27700, 31370] {
      let transformation = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", code))
      let boxes = try transformation.transform(box)
      var x: [Double] = []
      var y: [Double] = []
      for row in 0...300 {
        for column in 0...300 {
          x.append(box.minX + box.width * Double(column) / 300)
          y.append(box.minY + box.height * Double(row) / 300)
        }
      }
      #expect(transformation.transform(x: &x, y: &y) == [])
      var beyond = 0.0
      for index in x.indices {
        beyond = max(
          beyond, boxes[0].minX - x[index], x[index] - boxes[0].maxX, boxes[0].minY - y[index],
          y[index] - boxes[0].maxY)
      }
      #expect(beyond < 1e-3, "EPSG:\(code): \(beyond) m outside")
    }
  }

  @Test func `a result across the antimeridian is two boxes`() throws {
    let transformation = try CoordinateTransformation(from: SRS("EPSG", 3832), to: .wgs84)
    let boxes = try transformation.transform(
      Envelope(minX: 2_000_000, minY: -1_000_000, maxX: 4_500_000, maxY: 1_000_000))
    try #require(boxes.count == 2)
    #expect(abs(boxes[0].minX - 167.96630568239044) < 1e-9 && boxes[0].maxX == 180)
    #expect(boxes[1].minX == -180 && abs(boxes[1].maxX + 169.57581221462155) < 1e-9)
    #expect(abs(boxes[0].minY + 9.005882635079505) < 1e-9 && boxes[0].minY == boxes[1].minY)
  }

  @Test func `a box across the antimeridian is taken in two parts`() throws {
    let zealand = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 2193))
    let boxes = try zealand.transform(Envelope(minX: 170, minY: -50, maxX: -175, maxY: -30))
    try #require(boxes.count == 2)
    var both = boxes[0]
    both.formUnion(boxes[1])
    // pyproj: 1310590.35, 4392005.40, 2761624.73, 6681183.35
    #expect(abs(both.minX - 1_310_590.35) < 40 && abs(both.maxX - 2_761_624.73) < 40)
    #expect(abs(both.minY - 4_392_005.40) < 400 && abs(both.maxY - 6_681_183.35) < 400)
  }

  @Test func `the same system keeps the box, split at the antimeridian`() throws {
    let identity = try CoordinateTransformation(from: .wgs84, to: .wgs84)
    let plain = Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4)
    #expect(try identity.transform(plain) == [plain])
    #expect(
      try identity.transform(Envelope(minX: 170, minY: -1, maxX: -170, maxY: 1)) == [
        Envelope(minX: 170, minY: -1, maxX: 180, maxY: 1),
        Envelope(minX: -180, minY: -1, maxX: -170, maxY: 1),
      ])
  }

  @Test(arguments: [Int32(3857), 32633, 3035, 2154, 27700])
  func `the whole world reaches as far as the target can`(code: Int32) throws {
    let transformation = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", code))
    let boxes = try transformation.transform(
      Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90))
    try #require(boxes.count == 1)
    for position in [(13.4, 52.5), (0, 0), (-0.1, 51.5), (3, 47), (10, 85.9), (-60, -30)] {
      let moved = try #require(transformation.transform(Position(x: position.0, y: position.1)))
      #expect(
        boxes[0].contains(Envelope(minX: moved.x, minY: moved.y, maxX: moved.x, maxY: moved.y)),
        "EPSG:\(code) at \(position): \(moved) outside \(boxes[0])")
    }
  }

  @Test func `senseless boxes are refused and an empty one is none`() throws {
    let mercator = try CoordinateTransformation(from: SRS("EPSG", 3857), to: .wgs84)
    #expect(try mercator.transform(Envelope.empty) == [])
    for box in [
      Envelope(minX: 10, minY: 0, maxX: 0, maxY: 1), Envelope(minX: 0, minY: 1, maxX: 1, maxY: 0),
      Envelope(minX: .nan, minY: 0, maxX: 1, maxY: 1),
      Envelope(minX: 0, minY: 0, maxX: .infinity, maxY: 1),
    ] {
      let error = #expect(throws: ProjectionError.self) { _ = try mercator.transform(box) }
      #expect(error?.kind == .invalidGeometry)
    }
  }

  @Test func `a box that has no place in the target is an error`() throws {
    let mercator = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 3857))
    let error = #expect(throws: ProjectionError.self) {
      _ = try mercator.transform(Envelope(minX: 0, minY: 95, maxX: 1, maxY: 99))
    }
    #expect(error?.kind == .failedPoints)
  }
}

extension Envelope {
  fileprivate init(_ borders: [Double]) {
    self.init(minX: borders[0], minY: borders[1], maxX: borders[2], maxY: borders[3])
  }
}
