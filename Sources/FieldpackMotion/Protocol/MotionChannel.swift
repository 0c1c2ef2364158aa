/// A kind of sensor whose readings a device may send or leave out.
public enum MotionSection: String, Hashable, Sendable, CaseIterable {
  /// Pitch, roll and yaw in radians.
  case attitude
  /// In g, gravity included.
  case acceleration
  /// In microtesla, uncalibrated.
  case magneticField
  /// In radians a second.
  case rotation

  /// The channels in the order of the protocol's arrays.
  public var channels: [MotionChannel] { MotionChannel.allCases.filter { $0.section == self } }

  public var unit: String {
    switch self {
    case .attitude: "rad"
    case .acceleration: "g"
    case .magneticField: "µT"
    case .rotation: "rad/s"
    }
  }
}

/// A set of sections, with the bits of `daco_batch.sections`.
public struct MotionSections: OptionSet, Hashable, Sendable {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let attitude = MotionSections(rawValue: 1)
  public static let acceleration = MotionSections(rawValue: 2)
  public static let magneticField = MotionSections(rawValue: 4)
  public static let rotation = MotionSections(rawValue: 8)
  public static let all: MotionSections = [.attitude, .acceleration, .magneticField, .rotation]

  public init(_ section: MotionSection) {
    switch section {
    case .attitude: self = .attitude
    case .acceleration: self = .acceleration
    case .magneticField: self = .magneticField
    case .rotation: self = .rotation
    }
  }

  /// In the protocol's order.
  public var sections: [MotionSection] {
    MotionSection.allCases.filter { contains(MotionSections($0)) }
  }
}

/// One of the twelve numbers of a sample; the raw value is its column's name.
public enum MotionChannel: String, Hashable, Sendable, CaseIterable {
  case pitch, roll, yaw, ax, ay, az, mx, my, mz, rx, ry, rz

  public var section: MotionSection {
    switch self {
    case .pitch, .roll, .yaw: .attitude
    case .ax, .ay, .az: .acceleration
    case .mx, .my, .mz: .magneticField
    case .rx, .ry, .rz: .rotation
    }
  }

  /// What the protocol calls its array.
  var member: String {
    section == .attitude ? rawValue : String(rawValue.dropFirst())
  }

  public var unit: String { section.unit }
}
