import FieldpackCore

/// A line of gpsd's JSON protocol (gpsd_json(5)), as `gpspipe -w` prints it.
enum GPSDReport {
  private static let classes: Set<String> = [
    "VERSION", "DEVICES", "DEVICE", "WATCH", "POLL", "TPV", "SKY", "GST", "ATT", "IMU", "TOFF",
    "PPS", "OSC", "AIS", "RTCM2", "RTCM3", "SUBFRAME", "RAW", "ERROR",
  ]

  static func isReport(_ line: UnsafeBufferPointer<UInt8>) throws(FieldpackError) -> Bool {
    let members = try FixMembers(line)
    // Other writers may mean something else by a class.
    guard let name = try? members.text(["class"]) else { return false }
    return classes.contains(name)
  }

  /// Adds the fix of a TPV report of mode 2 or 3; other reports add nothing.
  ///
  /// The accuracy is `eph`, else what `epx` and `epy` make together; the elevation `altMSL`, `alt`
  /// or `altHAE`.
  static func read(
    _ line: UnsafeBufferPointer<UInt8>, device: String, into updates: inout [LocationUpdate]
  ) throws(FieldpackError) {
    let members = try FixMembers(line)
    guard try members.text(["class"]) == "TPV", let mode = try members.number(["mode"]), mode >= 2
    else { return }
    guard let longitude = try members.degrees(["lon"], limit: 180),
      let latitude = try members.degrees(["lat"], limit: 90)
    else { throw FieldpackError(.invalidData, "the TPV report has a fix but no lon or no lat") }
    let fix = Fix(
      longitude: longitude, latitude: latitude,
      elevation: try members.number(["altMSL", "alt", "altHAE"]),
      time: try members.time(["time"]), accuracy: try accuracy(members),
      course: try members.bearing(["track"]), speed: try members.measure(["speed"]),
      device: try members.text(["device"]) ?? device)
    updates.append(.fix(fix))
  }

  private static func accuracy(_ members: FixMembers) throws(FieldpackError) -> Double? {
    if let radius = try members.measure(["eph"]) { return radius }
    guard let x = try members.measure(["epx"]), let y = try members.measure(["epy"]) else {
      return nil
    }
    let radius = (x * x + y * y).squareRoot()
    return radius.isFinite ? radius : nil
  }
}
