package import FieldpackCore
package import FieldpackGeoPackage
package import FieldpackGeometry

// Foundation would bring all of its data into a tool that holds Swift's own libraries.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The usual grid of web maps, whose tiles are addressed as zoom, x and y.
package enum WebMercator {
  static let srs = SRS("EPSG", 3857)
  /// How far the grid reaches from its middle to each side, in metres.
  package static let edge = 20_037_508.342789244
  /// In pixels.
  package static let tileSize = 256
  static let zooms = 0...30

  /// What else the system is called.
  private static let codes: Set<Int32> = [3857, 900_913, 102_100, 102_113]

  static func contains(_ srs: SRS) -> Bool { codes.contains(srs.code) }

  /// The area of a tile in metres; `nil` for an address that the grid does not have.
  static func envelope(of address: TileAddress) -> Envelope? {
    guard zooms.contains(address.zoom) else { return nil }
    let count = 1 << address.zoom
    guard 0..<count ~= address.column, 0..<count ~= address.row else { return nil }
    // Rounded once, so that the last tiles end where the grid does.
    func distance(_ index: Int) -> Double { edge * (2 * Double(index) / Double(count) - 1) }
    return Envelope(
      minX: distance(address.column), minY: -distance(address.row + 1),
      maxX: distance(address.column + 1), maxY: -distance(address.row))
  }

  /// The area of a tile in metres.
  ///
  /// - Parameter location: which layer is asked, for the error.
  /// - Throws: `.invalidArgument` for an address that the grid does not have.
  @discardableResult
  package static func area(
    of address: TileAddress, for location: KeyTuple.Partial
  ) throws(FieldpackError) -> Envelope {
    if let area = envelope(of: address) { return area }
    throw FieldpackError(
      .invalidArgument,
      "web maps have no tile \(address): zoom is 0 to \(zooms.upperBound), x and y are 0 to "
        + "2^zoom - 1", location: location)
  }

  /// The area of tiles in degrees.
  static func degrees(_ area: Envelope) -> Envelope {
    func longitude(_ x: Double) -> Double { x / edge * 180 }
    func latitude(_ y: Double) -> Double { atan(sinh(y / edge * .pi)) * 180 / .pi }
    return Envelope(
      minX: longitude(area.minX), minY: latitude(area.minY), maxX: longitude(area.maxX),
      maxY: latitude(area.maxY))
  }
}

extension TilePyramid {
  /// The address in the usual grid of web maps of the tile that has exactly the area of a stored
  /// one; `nil` where none has.
  func webAddress(of address: TileAddress, in matrix: TileMatrix) -> TileAddress? {
    guard WebMercator.contains(srs) else { return nil }
    let area = envelope(of: address, in: matrix)
    let zoom = log2(2 * WebMercator.edge / area.width).rounded()
    guard zoom >= 0, zoom <= Double(WebMercator.zooms.upperBound) else { return nil }
    let count = Double(1 << Int(zoom))
    let size = 2 * WebMercator.edge / count
    let column = ((area.minX + WebMercator.edge) / size).rounded()
    let row = ((WebMercator.edge - area.maxY) / size).rounded()
    guard column >= 0, column < count, row >= 0, row < count else { return nil }
    let found = TileAddress(zoom: Int(zoom), column: Int(column), row: Int(row))
    guard let own = WebMercator.envelope(of: found) else { return nil }
    let distances = [
      own.minX - area.minX, own.minY - area.minY, own.maxX - area.maxX, own.maxY - area.maxY,
    ]
    return distances.allSatisfy { abs($0) <= size / 25_600 } ? found : nil
  }
}
