import FieldpackCore
import FieldpackMotion

/// Bodies of simulated devices.
enum MadeMotion {
  static func device(_ number: Int) -> MotionDevice {
    MotionDevice(
      systemName: "Linux", systemVersion: "6.1", name: "sensor \(number)",
      identifierForVendor: "vendor-\(number)", model: "board")
  }

  /// A reading whose twelve numbers depend on device and index, none of them round.
  static func reading(_ device: Int, _ index: Int) -> MotionReading {
    let values = (0..<12).map { channel in
      Double(device * 12 + channel + 1) / 7 + Double(index) / 3
    }
    return MotionReading(
      attitude: .init(pitch: values[0], roll: values[1], yaw: values[2]),
      acceleration: .init(x: values[3], y: values[4], z: values[5]),
      magneticField: .init(x: values[6], y: values[7], z: values[8]),
      rotation: .init(x: values[9], y: values[10], z: values[11]))
  }

  static func data(
    session: String, at time: Double, _ readings: [MotionReading]
  ) throws -> [UInt8] {
    try MotionRequest.data(.init(session: session, timestamp: time, readings: readings)).body()
  }

  /// Five readings of acceleration alone, from `first` up along z.
  static func rising(session: String, at time: Double, from first: Double) throws -> [UInt8] {
    try data(
      session: session, at: time,
      (0..<5).map { MotionReading(acceleration: .init(x: 0, y: 0, z: first + Double($0))) })
  }
}
