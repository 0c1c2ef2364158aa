public import FieldpackCore

/// The sensors of a Linux machine, through its industrial I/O files.
///
/// The first device that has an accelerometer, a gyroscope or a magnetometer gives that section;
/// others are absent, and so is attitude, which no such sensor measures. Values are those of the
/// kernel's files, `(raw + offset) · scale`, converted to the protocol's units: acceleration in g,
/// the magnetic field in microtesla, rotation in radians a second. The sign of the acceleration is
/// reversed, because the kernel measures the force that holds the device up and the protocol the
/// one that pulls it down.
///
/// A reading lacks the sections of a sensor that cannot be read; after ``failureLimit`` such
/// readings in a row the source fails.
public final class IndustrialIOSource: MotionSource {
  public let isLive = true
  /// How many readings in a row may lack a sensor before the source fails: a second's worth at the
  /// usual rate.
  public static let failureLimit = 50
  private let sensors: [Sensor]
  private let reader: Reader

  private struct Axis {
    var path: String
    var scale: Double
    var offset: Double
  }

  private struct Sensor {
    var section: MotionSection
    var axes: [Axis]

    func values() throws(FieldpackError) -> [Double] {
      var values: [Double] = []
      for axis in axes {
        values.append((try IndustrialIOSource.number(axis.path) + axis.offset) * axis.scale)
      }
      return values
    }
  }

  /// Name of the files, section, and what one of their units is in the protocol's.
  private static let kinds: [(name: String, section: MotionSection, unit: Double)] = [
    ("accel", .acceleration, -1 / 9.80665), ("magn", .magneticField, 100),
    ("anglvel", .rotation, 1),
  ]

  /// - Parameter folder: where the devices are.
  /// - Throws: `.unavailable` where there is no such sensor.
  public init(folder: String = "/sys/bus/iio/devices") throws(FieldpackError) {
    let names = FileSystem.names(in: folder) ?? []
    let devices = names.filter { $0.hasPrefix("iio:device") }.sorted().map { "\(folder)/\($0)" }
    var sensors: [Sensor] = []
    for kind in Self.kinds {
      for device in devices {
        guard let axes = try Self.axes(kind.name, of: device, unit: kind.unit) else { continue }
        sensors.append(Sensor(section: kind.section, axes: axes))
        break
      }
    }
    guard !sensors.isEmpty else {
      throw FieldpackError(
        .unavailable,
        "\(folder) has no accelerometer, gyroscope or magnetometer with three axes")
    }
    self.sensors = sensors
    reader = Reader(sensors, executor: try .started())
  }

  /// The sections that the sensors give.
  public var sections: MotionSections { MotionSections(sensors.map { MotionSections($0.section) }) }

  private static func axes(
    _ kind: String, of device: String, unit: Double
  ) throws(FieldpackError) -> [Axis]? {
    var axes: [Axis] = []
    for axis in ["x", "y", "z"] {
      let path = "\(device)/in_\(kind)_\(axis)_raw"
      guard FileSystem.exists(path) else { return nil }
      let scale = try setting("scale", kind, axis, of: device) ?? 1
      let offset = try setting("offset", kind, axis, of: device) ?? 0
      axes.append(Axis(path: path, scale: scale * unit, offset: offset))
    }
    return axes
  }

  /// What holds for one axis, else for all of them.
  private static func setting(
    _ name: String, _ kind: String, _ axis: String, of device: String
  ) throws(FieldpackError) -> Double? {
    for path in ["\(device)/in_\(kind)_\(axis)_\(name)", "\(device)/in_\(kind)_\(name)"]
    where FileSystem.exists(path) { return try number(path) }
    return nil
  }

  private static func number(_ path: String) throws(FieldpackError) -> Double {
    var bytes = [UInt8](repeating: 0, count: 64)
    let input = try ByteInput(path: path)
    let read = bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(FieldpackError) in try input.read(into: buffer) }
    }
    let count = try read.get()
    let text = String(decoding: bytes[..<count], as: UTF8.self).filter { !$0.isWhitespace }
    guard let value = Double(text), value.isFinite else {
      throw FieldpackError(
        .unavailable, "\(path) holds '\(text)', which is no number",
        position: FilePosition(file: path))
    }
    return value
  }

  public func next() async throws(FieldpackError) -> MotionReading? { try await reader.read() }

  /// Reads on a thread of its own, since a sensor may take its time.
  private actor Reader {
    private let sensors: [Sensor]
    private let executor: ThreadExecutor
    /// How often each sensor failed one time after the other.
    private var failures: [Int]

    init(_ sensors: [Sensor], executor: ThreadExecutor) {
      self.sensors = sensors
      self.executor = executor
      failures = sensors.map { _ in 0 }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
      executor.asUnownedSerialExecutor()
    }

    func read() throws(FieldpackError) -> MotionReading {
      var reading = MotionReading()
      for (index, sensor) in sensors.enumerated() {
        do throws(FieldpackError) {
          let values = try sensor.values()
          reading.set(sensor.section, values[0], values[1], values[2])
          failures[index] = 0
        } catch {
          failures[index] += 1
          if failures[index] >= IndustrialIOSource.failureLimit { throw error }
        }
      }
      return reading
    }
  }
}
