/// Writes WKT part by part.
public struct WKTWriter: GeometryVisitor {
  /// The text written; complete once every `begin` has its `end`.
  public var bytes: [UInt8] = []
  private let decimals: Int?

  /// A geometry or ring that has not ended.
  private struct Frame {
    let type: GeometryType
    /// Whether its parenthesis has been opened; a part that ends before is EMPTY.
    var isOpen = false
  }

  private var frames: [Frame] = []
  private var hasZ = false
  private var hasM = false

  /// - Parameter decimals: the most decimals of a number; `nil` for the shortest form.
  public init(decimals: Int? = nil) {
    self.decimals = decimals
  }

  public mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    let parent = frames.last?.type
    separate()
    if parent.map({ Self.isTagged(type, in: $0) }) ?? true {
      bytes.append(contentsOf: type.name.utf8)
      switch dimensions {
      case .xy: break
      case .xyz: bytes.append(contentsOf: " Z".utf8)
      case .xym: bytes.append(contentsOf: " M".utf8)
      case .xyzm: bytes.append(contentsOf: " ZM".utf8)
      }
      bytes.append(UInt8(ascii: " "))
    }
    hasZ = dimensions.hasZ
    hasM = dimensions.hasM
    frames.append(Frame(type: type))
  }

  public mutating func beginRing(count: Int?) {
    separate()
    frames.append(Frame(type: .lineString))
  }

  public mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    separate()
    append(x)
    bytes.append(UInt8(ascii: " "))
    append(y)
    if hasZ {
      bytes.append(UInt8(ascii: " "))
      append(z)
    }
    if hasM {
      bytes.append(UInt8(ascii: " "))
      append(m)
    }
  }

  public mutating func endRing() { close() }

  public mutating func end(_ type: GeometryType) { close() }

  /// Whether a member's type is named. Members whose parent has one member type only are not named,
  /// nor are lines in curves.
  private static func isTagged(_ member: GeometryType, in parent: GeometryType) -> Bool {
    switch parent {
    case .geometryCollection: true
    case .compoundCurve, .curvePolygon, .multiCurve: member != .lineString
    case .multiSurface: member != .polygon
    default: false
    }
  }

  private mutating func separate() {
    guard let last = frames.indices.last else { return }
    bytes.append(UInt8(ascii: frames[last].isOpen ? "," : "("))
    frames[last].isOpen = true
  }

  private mutating func close() {
    guard let frame = frames.popLast() else { return }
    if frame.isOpen {
      bytes.append(UInt8(ascii: ")"))
    } else {
      bytes.append(contentsOf: "EMPTY".utf8)
    }
  }

  private mutating func append(_ value: Double) {
    let isWritten =
      if let decimals {
        NumberText.append(value, decimals: decimals, to: &bytes)
      } else {
        NumberText.append(value, to: &bytes)
      }
    if isWritten { return }
    bytes.append(contentsOf: (value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity").utf8)
  }
}
