import FieldpackGeometry
import FieldpackProjection
import FieldpackTestSupport
import Foundation
import Testing

/// One operation of PROJ's own `.gie` files that goes from one code to another.
struct GieOperation: Sendable {
  let file: String
  var source: SRS
  var target: SRS
  /// Metres.
  var tolerance = 0.0005
  /// Positions and where they should go.
  var pairs: [(accept: [Double], expect: [Double])] = []
  /// Positions that should come back after so many times there and back.
  var roundTrips: [(accept: [Double], times: Int)] = []
}

/// Reads the operations between two codes; those in PROJ strings are left out, as our API has none.
struct GieReader {
  private let file: String
  private var operations: [GieOperation] = []
  private var current: GieOperation?
  private var accept: [Double] = []
  private var tolerance = 0.0005
  private var codes: [SRS] = []

  static func read(_ url: URL) throws -> [GieOperation] {
    var reader = GieReader(file: url.lastPathComponent)
    let text = try String(contentsOf: url, encoding: .utf8)
    for line in text.replacing("\\\n", with: " ").split(separator: "\n") {
      reader.take(
        line.split(separator: "#")[...].first?.split(separator: " ").map(String.init) ?? [])
    }
    reader.close()
    return reader.operations
  }

  private init(file: String) {
    self.file = file
  }

  private mutating func take(_ words: [String]) {
    switch words.first {
    case "operation": open(words)
    case "crs_src": codes = words.dropFirst().prefix(1).compactMap { SRS($0) }
    case "crs_dst": openCodes(codes + words.dropFirst().prefix(1).compactMap { SRS($0) })
    case "tolerance":
      let unit = words.last == "mm" ? 0.001 : words.last == "cm" ? 0.01 : 1
      tolerance = (Double(words[1]) ?? .nan) * unit
      current?.tolerance = tolerance
    case "accept": accept = words.dropFirst().compactMap(Double.init)
    case "expect":
      let expect = words.dropFirst().compactMap(Double.init)
      if !accept.isEmpty { current?.pairs.append((accept, expect)) }
    case "roundtrip": current?.roundTrips.append((accept, Int(words[1]) ?? 0))
    default: break
    }
  }

  private mutating func open(_ words: [String]) {
    let text = words.joined(separator: " ")
    let steps = text.components(separatedBy: "step").dropFirst()
    let named = steps.compactMap { step in
      step.firstMatch(of: /init=epsg:(\d+)/).flatMap { Int32($0.1) }.map { SRS("EPSG", $0) }
    }
    openCodes(steps.count == 2 ? named : [])
  }

  private mutating func openCodes(_ codes: [SRS]) {
    close()
    guard codes.count == 2 else { return }
    current = GieOperation(file: file, source: codes[0], target: codes[1], tolerance: tolerance)
  }

  private mutating func close() {
    if let current { operations.append(current) }
    current = nil
    accept = []
  }
}

@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct GieTests {
  /// Codes whose axes PROJ's `crs_src` and `crs_dst` give as latitude or northing first.
  private static let northFirst: Set<Int32> = [4258, 4979, 4123, 2393]

  private static func operations() throws -> [GieOperation] {
    try SharedData.files(in: "real/proj", extensions: ["gie"]).flatMap(GieReader.read)
  }

  @Test func `positions go where PROJ's own tests say`() throws {
    var checked = 0
    for operation in try Self.operations() {
      let transformation = try Self.transformation(operation)
      for pair in operation.pairs where pair.accept.count < 4 {
        let start = Self.position(pair.accept, operation.source, operation.file)
        let expected = Self.position(pair.expect, operation.target, operation.file)
        let moved = try #require(transformation.transform(start))
        let apart = Self.distance(moved, expected, in: operation.target)
        checked += 1
        #expect(
          apart <= operation.tolerance,
          "\(operation.file) \(operation.source) to \(operation.target): \(apart) m")
      }
    }
    #expect(checked == 261)
  }

  @Test func `positions come back after a hundred times there and back`() throws {
    var checked = 0
    for operation in try Self.operations() where !operation.roundTrips.isEmpty {
      let there = try Self.transformation(operation)
      let back = try CoordinateTransformation(
        from: Self.threeDimensional(operation.target),
        to: Self.threeDimensional(operation.source))
      let starts = operation.roundTrips.map {
        Self.position($0.accept, operation.source, operation.file)
      }
      var x = starts.map(\.x)
      var y = starts.map(\.y)
      var z = starts.map { $0.z ?? 0 }
      // The files say 1,000 times, which only takes longer.
      for _ in 0..<min(100, operation.roundTrips.map(\.times).max() ?? 0) {
        #expect(there.transform(x: &x, y: &y, z: &z, count: x.count) == [])
        #expect(back.transform(x: &x, y: &y, z: &z, count: x.count) == [])
      }
      for (index, start) in starts.enumerated() {
        let end = Position(x: x[index], y: y[index], z: z[index])
        checked += 1
        #expect(Self.distance(end, start, in: operation.source) <= operation.tolerance)
      }
    }
    #expect(checked == 109)
  }

  // In the files 4326 has heights where the other side is geocentric.
  private static func transformation(
    _ operation: GieOperation
  ) throws(ProjectionError) -> CoordinateTransformation {
    let isGeocentric = [operation.source.code, operation.target.code].contains(4978)
    return try CoordinateTransformation(
      from: isGeocentric ? threeDimensional(operation.source) : operation.source,
      to: isGeocentric ? threeDimensional(operation.target) : operation.target)
  }

  private static func threeDimensional(_ srs: SRS) -> SRS {
    srs == .wgs84 ? SRS("EPSG", 4979) : srs
  }

  private static func position(_ values: [Double], _ srs: SRS, _ file: String) -> Position {
    let isSwapped = file == "epsg_no_grid.gie" && northFirst.contains(srs.code)
    return Position(
      x: values[isSwapped ? 1 : 0], y: values[isSwapped ? 0 : 1],
      z: values.count > 2 ? values[2] : nil)
  }

  private static func distance(_ a: Position, _ b: Position, in srs: SRS) -> Double {
    let height = (a.z ?? 0) - (b.z ?? 0)
    let isGeographic = (try? SRSCatalogue().definition(of: srs).isGeographic) ?? false
    let flat =
      isGeographic
      ? Geodesic.wgs84.distance(from: a, to: b)
      : ((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)).squareRoot()
    return (flat * flat + height * height).squareRoot()
  }
}
