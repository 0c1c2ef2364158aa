/// A geometry of ``FilterTable``, with its WKB.
public enum FilterShape: Sendable {
  case point(Double, Double)
  case emptyPoint
  case line([(Double, Double)])
  /// West, south, east, north.
  case rectangle(Double, Double, Double, Double)

  /// Little-endian ISO WKB.
  public var wkb: [UInt8] {
    switch self {
    case .point(let x, let y): header(1) + bytes(x) + bytes(y)
    case .emptyPoint: header(1) + bytes(Double.nan) + bytes(Double.nan)
    case .line(let positions): header(2) + sequence(positions)
    case .rectangle: header(3) + bytes(UInt32(1)) + sequence(positions)
    }
  }

  /// minX, minY, maxX, maxY; `nil` where the geometry is empty.
  public var bounds: (minX: Double, minY: Double, maxX: Double, maxY: Double)? {
    let xs = positions.map(\.0)
    let ys = positions.map(\.1)
    guard let minX = xs.min(), let maxX = xs.max(), let minY = ys.min(), let maxY = ys.max() else {
      return nil
    }
    return (minX, minY, maxX, maxY)
  }

  private var positions: [(Double, Double)] {
    switch self {
    case .point(let x, let y): [(x, y)]
    case .emptyPoint: []
    case .line(let positions): positions
    case .rectangle(let west, let south, let east, let north):
      [(west, south), (east, south), (east, north), (west, north), (west, south)]
    }
  }

  private func header(_ type: UInt32) -> [UInt8] { [1] + bytes(type) }

  private func sequence(_ positions: [(Double, Double)]) -> [UInt8] {
    bytes(UInt32(positions.count)) + positions.flatMap { bytes($0.0) + bytes($0.1) }
  }

  private func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> ($0 * 8) & 255) } }

  private func bytes(_ value: Double) -> [UInt8] {
    (0..<8).map { UInt8(value.bitPattern >> ($0 * 8) & 255) }
  }
}
