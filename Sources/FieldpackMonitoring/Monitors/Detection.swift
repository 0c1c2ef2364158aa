public import FieldpackCore

/// Something that a monitor found in a fix.
public struct Detection: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A device's first fix, in an anchor or distance monitor.
    case start
    /// The device left the boundary around its anchor, or a watched region.
    case exit
    /// The device is as far from its last detection as the distance monitor asks for.
    case moved
    /// The device entered a watched region.
    case enter
    /// The device is in a watched region; one detection for each fix.
    case inside
    /// The device is out of a watched region; one detection for each fix.
    case outside
    /// The device passed through a watched region between two fixes outside of it.
    case cross
    /// The device has been in a watched region for as long as the monitor asks for.
    case dwell
  }

  /// The number of the fix in the run, counted from 0 over all devices.
  public var fix: Int
  public var kind: Kind
  /// The name of the device; empty where there is only one.
  public var device: String
  /// The watched region; `nil` for the region and the distance monitor.
  public var region: FeatureID?
  public var time: Instant?
  /// In metres: to the watched region's edge, negative inside; to the fix of the last detection for
  /// the region and the distance monitor, 0 at the start; `nil` where the region is gone.
  public var distance: Double?

  public init(
    fix: Int, kind: Kind, device: String = "", region: FeatureID? = nil, time: Instant? = nil,
    distance: Double? = nil
  ) {
    self.fix = fix
    self.kind = kind
    self.device = device
    self.region = region
    self.time = time
    self.distance = distance
  }
}

extension Detection: CustomStringConvertible {
  /// `enter region 1 at fix 4, -41.8 m`, with the device's name where it has one.
  public var description: String {
    var text = kind.rawValue
    if let region { text += " region \(region)" }
    if !device.isEmpty { text += " by \(device)" }
    text += " at fix \(fix)"
    if let distance { text += ", \(Decimals.text(distance, digits: 1)) m" }
    return text
  }
}
