import FieldpackGeometry

/// One geometry of each type and dimension, with members where the type has them.
enum Samples {
  static let types = GeometryType.allCases.filter(\.isConcrete)

  static let all: [Geometry] = types.flatMap { type in
    Dimensions.allCases.flatMap { [geometry(type, $0), empty(type, $0)] }
  }

  static func position(_ x: Double, _ y: Double, _ dimensions: Dimensions) -> Position {
    Position(
      x: x, y: y, z: dimensions.hasZ ? x * 10 + y : nil,
      m: dimensions.hasM ? x * 100 + y / 8 : nil)
  }

  static func line(_ xy: [(Double, Double)], _ dimensions: Dimensions) -> CoordinateSequence {
    CoordinateSequence(xy.map { position($0.0, $0.1, dimensions) }, dimensions: dimensions)
  }

  static func geometry(_ type: GeometryType, _ dimensions: Dimensions) -> Geometry {
    let path = line([(1, 2), (3, 4.5), (-5.25, 6)], dimensions)
    let ring = line([(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)], dimensions)
    let hole = line([(2, 2), (2, 4), (4, 4), (2, 2)], dimensions)
    let arc = line([(-5.25, 6), (-4, 7), (-3, 6)], dimensions)
    let circle = line([(0, 0), (10, 10), (0, 0)], dimensions)
    let joined = Geometry.composite(
      .compoundCurve, [.lineString(path), .circularString(arc)], dimensions)
    let triangle = Geometry.composite(
      .triangle, [.lineString(line([(0, 0), (1, 0), (0, 1), (0, 0)], dimensions))], dimensions)
    return switch type {
    case .point: .point(position(-1.5, 2, dimensions), dimensions)
    case .lineString: .lineString(path)
    case .polygon: .polygon([ring, hole], dimensions)
    case .multiPoint:
      .multiPoint([position(1, 2, dimensions), nil, position(3, 4, dimensions)], dimensions)
    case .multiLineString: .multiLineString([path, arc], dimensions)
    case .multiPolygon: .multiPolygon([[ring, hole], [hole]], dimensions)
    case .geometryCollection:
      .geometryCollection(
        [
          .point(position(1, 2, dimensions), dimensions), .lineString(path),
          .geometryCollection([.polygon([ring], dimensions)], dimensions),
        ], dimensions)
    case .circularString: .circularString(arc)
    case .compoundCurve: joined
    case .curvePolygon:
      .composite(.curvePolygon, [.circularString(circle), .lineString(hole)], dimensions)
    case .multiCurve:
      .composite(.multiCurve, [.lineString(path), .circularString(arc), joined], dimensions)
    case .multiSurface:
      .composite(
        .multiSurface,
        [
          .polygon([ring], dimensions),
          .composite(.curvePolygon, [.circularString(circle)], dimensions),
        ], dimensions)
    case .polyhedralSurface: .composite(type, [.polygon([ring], dimensions)], dimensions)
    case .tin: .composite(.tin, [triangle, triangle], dimensions)
    case .triangle: triangle
    case .geometry, .curve, .surface: .point(nil, dimensions)
    }
  }

  static func empty(_ type: GeometryType, _ dimensions: Dimensions) -> Geometry {
    switch type {
    case .lineString: .lineString(CoordinateSequence(dimensions: dimensions))
    case .circularString: .circularString(CoordinateSequence(dimensions: dimensions))
    case .polygon: .polygon([], dimensions)
    case .multiPoint: .multiPoint([], dimensions)
    case .multiLineString: .multiLineString([], dimensions)
    case .multiPolygon: .multiPolygon([], dimensions)
    case .geometryCollection: .geometryCollection([], dimensions)
    case .compoundCurve, .curvePolygon, .multiCurve, .multiSurface, .polyhedralSurface, .tin,
      .triangle:
      .composite(type, [], dimensions)
    default: .point(nil, dimensions)
    }
  }
}

/// Bytes written as hexadecimal digits; blanks are for the reader.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.utf8.filter { $0 != UInt8(ascii: " ") }.compactMap {
    Character(Unicode.Scalar($0)).hexDigitValue
  }
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] * 16 + digits[$0 + 1])
  }
}

func hex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// What a call throws, as text, or `nothing`.
func failure<Value>(_ body: () throws(GeometryError) -> Value) -> GeometryError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error
  }
}
