/// Which ordinates a position carries beside x and y.
public enum Dimensions: UInt8, Hashable, Sendable, CaseIterable {
  case xy = 0
  case xyz = 1
  case xym = 2
  case xyzm = 3

  public init(hasZ: Bool, hasM: Bool) {
    self = hasZ ? (hasM ? .xyzm : .xyz) : (hasM ? .xym : .xy)
  }

  public var hasZ: Bool { rawValue & 1 != 0 }
  public var hasM: Bool { rawValue & 2 != 0 }

  /// The number of ordinates of a position: 2, 3 or 4.
  public var count: Int { 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0) }

  /// The ordinates' letters: `XY`, `XYZ`, `XYM` or `XYZM`.
  public var name: String {
    switch self {
    case .xy: "XY"
    case .xyz: "XYZ"
    case .xym: "XYM"
    case .xyzm: "XYZM"
    }
  }
}
