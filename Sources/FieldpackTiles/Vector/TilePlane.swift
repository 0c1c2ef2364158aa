import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection

// Foundation would bring all of its data into a tool that holds Swift's own libraries.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Brings positions of a layer to the grid of a tile: x to the right, y down, 0 at the upper left
/// corner.
struct TilePlane {
  private enum Way {
    case metres
    case degrees
    case transformation(CoordinateTransformation)
  }

  let extent: Int
  /// How far geometries reach beyond the tile.
  let buffer: Int
  /// What the tile shows with its buffer.
  let box: TileBox
  private let area: Envelope
  private let way: Way
  /// Steps of the grid a metre.
  private let scale: Double
  private let left: Double
  private let top: Double

  /// The latitude that replaces those nearer to a pole, which have no place in Mercator. It lies far
  /// outside of the grid of web maps.
  private static let northernmost = 89.99
  /// In steps; the world has 2^42 at the last zoom. What lies farther away has no place, and differences
  /// of such numbers might have none either.
  private static let farthest = SIMD2<Double>(repeating: 0x1p50)

  init(
    _ area: Envelope, _ options: VectorTileOptions, of layer: LayerID, _ srs: SRS,
    in snapshot: any TileReading
  ) throws(FieldpackError) {
    if WebMercator.contains(srs) {
      self.init(area, options, .metres)
    } else if srs == .wgs84 {
      self.init(area, options, .degrees)
    } else {
      let found = try snapshot.transformation(from: layer, to: WebMercator.srs)
      self.init(area, options, found.map { .transformation($0) } ?? .metres)
    }
  }

  /// The grid for a layer in Web Mercator.
  init(mercator area: Envelope, _ options: VectorTileOptions) {
    self.init(area, options, .metres)
  }

  private init(_ area: Envelope, _ options: VectorTileOptions, _ way: Way) {
    self.area = area
    self.way = way
    (extent, buffer) = (options.extent, options.buffer)
    let (low, high) = (-Double(buffer), Double(extent + buffer))
    box = TileBox(least: SIMD2(low, low), greatest: SIMD2(high, high))
    scale = Double(extent) / area.width
    (left, top) = (area.minX * scale, area.maxY * scale)
  }

  // MARK: The tile in the layer

  /// What the tile shows with its buffer, in the SRS of the layer.
  func boxes(
    of layer: LayerID, in snapshot: any TileReading
  ) throws(FieldpackError) -> [Envelope] {
    let (margin, edge) = (Double(buffer) / scale, WebMercator.edge)
    let wide = Envelope(
      minX: max(area.minX - margin, -edge), minY: max(area.minY - margin, -edge),
      maxX: min(area.maxX + margin, edge), maxY: min(area.maxY + margin, edge))
    switch way {
    case .metres: return [wide]
    case .degrees:
      let box = WebMercator.degrees(wide)
      // More than the rounding of the formulas.
      let far = 1e-9
      return [
        Envelope(
          minX: box.minX - far, minY: box.minY - far, maxX: box.maxX + far, maxY: box.maxY + far)
      ]
    case .transformation:
      let back = try snapshot.transformation(from: WebMercator.srs, to: layer)
      do throws(ProjectionError) {
        return try back.transform(wide)
      } catch {
        // The SRS has no place for the tile.
        if error.kind == .failedPoints { return [] }
        throw FieldpackError(error, location: .init(layer: layer))
      }
    }
  }

  // MARK: Positions

  /// The position of a point; `nil` where it has none.
  @inline(__always)
  func place(x: Double, y: Double) -> SIMD2<Double>? {
    var position = SIMD2(x, y)
    switch way {
    case .metres: break
    case .degrees: position = Self.metres(position)
    case .transformation(let transformation):
      guard let moved = transformation.transform(Position(x: x, y: y)) else { return nil }
      position = SIMD2(moved.x, moved.y)
    }
    let placed = onGrid(position)
    return (placed.x + placed.y).isFinite ? placed : nil
  }

  /// Brings all positions to the grid.
  ///
  /// - Returns: their box; `nil` where one of them has no place.
  func place(_ positions: inout [SIMD2<Double>]) -> TileBox? {
    placeEach(&positions)
    var box = TileBox.empty
    var sum = 0.0
    for position in positions {
      box.add(position)
      sum += position.x + position.y
    }
    // Each infinite or missing number makes the sum so.
    let isNear = all((box.greatest .< Self.farthest) .& (box.least .> -Self.farthest))
    return sum.isFinite && isNear ? box : nil
  }

  /// Brings all positions to the grid; those that have no place become infinite or NaN.
  func placeEach(_ positions: inout [SIMD2<Double>]) {
    switch way {
    case .metres: break
    case .degrees:
      for index in positions.indices { positions[index] = Self.metres(positions[index]) }
    case .transformation(let transformation):
      positions.withUnsafeMutableBytes { bytes in
        let ordinates = bytes.assumingMemoryBound(to: Double.self)
        guard let base = ordinates.baseAddress else { return }
        _ = transformation.transform(
          x: base, y: base + 1, stride: 16, count: ordinates.count / 2)
      }
    }
    for index in positions.indices { positions[index] = onGrid(positions[index]) }
  }

  @inline(__always)
  private func onGrid(_ metres: SIMD2<Double>) -> SIMD2<Double> {
    SIMD2(metres.x * scale - left, top - metres.y * scale)
  }

  /// Web Mercator of longitude and latitude, on the sphere as EPSG:3857 has it.
  @inline(__always)
  private static func metres(_ degrees: SIMD2<Double>) -> SIMD2<Double> {
    let latitude = min(max(degrees.y, -northernmost), northernmost)
    let sine = sin(latitude * (.pi / 180))
    let y = 0.5 * log((1 + sine) / (1 - sine))
    // `max` gives a number also for NaN.
    return SIMD2(
      degrees.x * (WebMercator.edge / 180), degrees.y.isNaN ? .nan : y * (WebMercator.edge / .pi))
  }
}

/// A box on the grid of a tile.
struct TileBox: Equatable {
  var least: SIMD2<Double>
  var greatest: SIMD2<Double>

  static let empty = TileBox(
    least: SIMD2(repeating: .infinity), greatest: -SIMD2(repeating: .infinity))

  @inline(__always)
  mutating func add(_ position: SIMD2<Double>) {
    least = pointwiseMin(least, position)
    greatest = pointwiseMax(greatest, position)
  }

  func contains(_ other: TileBox) -> Bool {
    all((least .<= other.least) .& (other.greatest .<= greatest))
  }

  func touches(_ other: TileBox) -> Bool {
    all((least .<= other.greatest) .& (other.least .<= greatest))
  }

  @inline(__always)
  func contains(_ position: SIMD2<Double>) -> Bool {
    all((least .<= position) .& (position .<= greatest))
  }
}
