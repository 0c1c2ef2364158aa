public import FieldpackCore

/// All that the detections of a monitor's next fixes depend on, beside its parameters.
///
/// Stored and read back exactly, a monitor goes on as if it had never stopped. One row a device holds
/// ``DeviceState`` without its stays, the ``Anchor`` in columns that are NULL together; one row a stay
/// holds device, region and the rest of ``Stay``. A fix changes the state of its own device only, so
/// that what is to be stored with it is ``FixMonitor/state(of:)``. Degrees and metres are stored as
/// REAL, which keeps every bit, instants as integer milliseconds, numbers of fixes as integers, a
/// region as the integer or text that its id is.
public struct MonitorState: Hashable, Sendable {
  /// By name, code point by code point.
  public var devices: [DeviceState]

  public init(devices: [DeviceState] = []) { self.devices = devices }
}

/// What a monitor knows of one device after the last of its fixes.
public struct DeviceState: Hashable, Sendable {
  /// The empty name where there is one device only.
  public var device: String
  /// The number of the last fix that was taken; those passed over do not count.
  public var fix: Int
  /// Where that fix was, in degrees on WGS 84.
  public var longitude: Double
  public var latitude: Double
  /// The time of the last fix that had one: fixes before it are late.
  public var time: Instant?
  /// Late fixes that were passed over since, while they come in order.
  public var late: LateFixes?
  /// Of the region and the distance monitor, which have one from the first fix on.
  public var anchor: Anchor?
  /// Of the regions monitor: the regions that count as holding the device, by region id.
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

/// Late fixes of a device, each later than the one before: too many of them to be late by chance, and
/// the last time that was taken is what is wrong.
public struct LateFixes: Hashable, Sendable {
  public var count: Int
  /// Of the last one.
  public var time: Instant

  public init(count: Int, time: Instant) {
    self.count = count
    self.time = time
  }
}

/// The fix of a device's last detection, from which the next one is measured: the centre of the
/// region monitor's boundary.
public struct Anchor: Hashable, Sendable {
  /// The number of that fix.
  public var fix: Int
  /// In degrees on WGS 84.
  public var longitude: Double
  public var latitude: Double
  /// Since when the device is beyond the boundary, while the time to wait has not passed.
  public var beyondSince: Instant?

  public init(fix: Int, longitude: Double, latitude: Double, beyondSince: Instant? = nil) {
    self.fix = fix
    self.longitude = longitude
    self.latitude = latitude
    self.beyondSince = beyondSince
  }
}

/// One stay of a device in a watched region, from its `enter` on.
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
