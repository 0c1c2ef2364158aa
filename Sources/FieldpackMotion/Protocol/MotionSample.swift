/// The values of a device's sensors at one moment; a section that was not sent is `nil`.
public struct MotionReading: Hashable, Sendable {
  /// The device's orientation, in radians.
  public struct Attitude: Hashable, Sendable {
    public var pitch: Double
    public var roll: Double
    public var yaw: Double

    public init(pitch: Double, roll: Double, yaw: Double) {
      self.pitch = pitch
      self.roll = roll
      self.yaw = yaw
    }
  }

  /// A quantity along the device's axes.
  public struct Vector: Hashable, Sendable {
    public var x: Double
    public var y: Double
    public var z: Double

    public init(x: Double, y: Double, z: Double) {
      self.x = x
      self.y = y
      self.z = z
    }
  }

  public var attitude: Attitude?
  /// In g, gravity included.
  public var acceleration: Vector?
  /// In microtesla, uncalibrated.
  public var magneticField: Vector?
  /// In radians a second.
  public var rotation: Vector?

  public init(
    attitude: Attitude? = nil, acceleration: Vector? = nil, magneticField: Vector? = nil,
    rotation: Vector? = nil
  ) {
    self.attitude = attitude
    self.acceleration = acceleration
    self.magneticField = magneticField
    self.rotation = rotation
  }

  public subscript(channel: MotionChannel) -> Double? {
    switch channel {
    case .pitch: attitude?.pitch
    case .roll: attitude?.roll
    case .yaw: attitude?.yaw
    case .ax: acceleration?.x
    case .ay: acceleration?.y
    case .az: acceleration?.z
    case .mx: magneticField?.x
    case .my: magneticField?.y
    case .mz: magneticField?.z
    case .rx: rotation?.x
    case .ry: rotation?.y
    case .rz: rotation?.z
    }
  }

  /// The sections that are not `nil`.
  public var sections: MotionSections {
    var sections: MotionSections = []
    if attitude != nil { sections.insert(.attitude) }
    if acceleration != nil { sections.insert(.acceleration) }
    if magneticField != nil { sections.insert(.magneticField) }
    if rotation != nil { sections.insert(.rotation) }
    return sections
  }

  /// The reading without its other sections.
  public func keeping(_ sections: MotionSections) -> MotionReading {
    MotionReading(
      attitude: sections.contains(.attitude) ? attitude : nil,
      acceleration: sections.contains(.acceleration) ? acceleration : nil,
      magneticField: sections.contains(.magneticField) ? magneticField : nil,
      rotation: sections.contains(.rotation) ? rotation : nil)
  }

  mutating func set(_ section: MotionSection, _ first: Double, _ second: Double, _ third: Double) {
    let vector = Vector(x: first, y: second, z: third)
    switch section {
    case .attitude: attitude = Attitude(pitch: first, roll: second, yaw: third)
    case .acceleration: acceleration = vector
    case .magneticField: magneticField = vector
    case .rotation: rotation = vector
    }
  }

  /// Whether every number is one.
  var isFinite: Bool { MotionChannel.allCases.allSatisfy { self[$0]?.isFinite ?? true } }
}

/// A reading with its time.
public struct MotionSample: Hashable, Sendable {
  /// Seconds since 1970.
  public var time: Double
  public var reading: MotionReading

  public init(time: Double, reading: MotionReading) {
    self.time = time
    self.reading = reading
  }

  /// The samples of readings that were sent together: the last at `time`, the others before it.
  ///
  /// The protocol sends the time of sending alone; sample `i` of `n` was read at
  /// `time - (n - 1 - i) / rate`.
  public static func samples(
    of readings: [MotionReading], sentAt time: Double, rate: Double
  ) -> [MotionSample] {
    readings.enumerated().map { index, reading in
      MotionSample(time: time - Double(readings.count - 1 - index) / rate, reading: reading)
    }
  }
}
