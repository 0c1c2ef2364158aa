public import FieldpackCore

/// What a monitor saw in a fix.
public struct Detection: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A device's first fix, of the region and the distance monitor.
    case start
    /// Out of the region: of the boundary around the last detection, or of a watched region.
    case exit
    /// As far from the last detection as the distance monitor asks for.
    case moved
    /// Into a watched region.
    case enter
    /// In a watched region, at each fix.
    case inside
    /// Out of a watched region, at each fix.
    case outside
    /// Through a watched region between two fixes that lie out of it.
    case cross
    /// In a watched region for as long as the monitor waits.
    case dwell
  }

  /// Which fix of the run, counted from 0 over all devices.
  public var fix: Int
  public var kind: Kind
  /// Whose fix it is; empty where there is one device only.
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
