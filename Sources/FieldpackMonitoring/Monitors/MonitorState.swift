public import FieldpackCore

/// Everything, besides its parameters, that a monitor's next detections depend on.
///
/// A monitor that resumes a state that was stored exactly goes on as if it had never stopped. In a
/// table, a device is a row with the members of ``DeviceState`` except its stays, and an ``Anchor``
/// is columns that are NULL together; a stay is a row with device, region and the rest of ``Stay``.
/// A fix changes only the state of its own device, which ``FixMonitor/state(of:)`` gives. Degrees
/// and metres are stored as REAL, which keeps every bit, instants as integer milliseconds, numbers
/// of fixes as integers, a region as the integer or text that its id is.
public struct MonitorState: Hashable, Sendable {
  /// The devices in the order of their names, by code points.
  public var devices: [DeviceState]

  public init(devices: [DeviceState] = []) { self.devices = devices }
}

/// What a monitor knows of one device after its last fix.
public struct DeviceState: Hashable, Sendable {
  /// The name of the device; empty where there is only one.
  public var device: String
  /// The number of the last fix that was taken, which no ignored fix is.
  public var fix: Int
  /// The longitude of that fix in degrees on WGS 84.
  public var longitude: Double
  public var latitude: Double
  /// The time of the last fix with a time. Fixes before it are late.
  public var time: Instant?
  /// The late fixes that were ignored since, as long as each is later than the one before.
  public var late: LateFixes?
  /// The anchor, in an anchor or distance monitor, which have one from the first fix on.
  public var anchor: Anchor?
  /// The regions that the device stays in, by region id, in a geofence monitor.
  public var stays: [Stay]

  public init(
    device: String = "", fix: Int, longitude: Double, latitude: Double, time: Instant? = nil,
    late: LateFixes? = nil, anchor: Anchor? = nil, stays: [Stay] = []
  ) {
    self.device = device
    self.fix = fix
    self.longitude = longitude
    self.latitude = latitude
    self.time = time
    self.late = late
    self.anchor = anchor
    self.stays = stays
  }
}

/// Late fixes of a device, each later than the one before. Three of them show that the last time
/// was wrong.
public struct LateFixes: Hashable, Sendable {
  public var count: Int
  /// The time of the last of them.
  public var time: Instant

  public init(count: Int, time: Instant) {
    self.count = count
    self.time = time
  }
}

/// The fix of a device's last detection, from which the next one is measured. It is the centre of
/// an anchor monitor's boundary.
public struct Anchor: Hashable, Sendable {
  /// The number of that fix.
  public var fix: Int
  /// Degrees on WGS 84.
  public var longitude: Double
  public var latitude: Double
  /// When the device left the boundary, while it has to stay outside for longer to count.
  public var beyondSince: Instant?

  public init(fix: Int, longitude: Double, latitude: Double, beyondSince: Instant? = nil) {
    self.fix = fix
    self.longitude = longitude
    self.latitude = latitude
    self.beyondSince = beyondSince
  }
}

/// A stay of a device in a watched region, which begins with its `enter`.
public struct Stay: Hashable, Sendable {
  public var region: FeatureID
  /// The number of the fix that entered.
  public var fix: Int
  /// The time of the first fix of the stay that had one.
  public var since: Instant?
  /// Whether the stay has had its `dwell`.
  public var hasDwelt: Bool

  public init(region: FeatureID, fix: Int, since: Instant? = nil, hasDwelt: Bool = false) {
    self.region = region
    self.fix = fix
    self.since = since
    self.hasDwelt = hasDwelt
  }
}
