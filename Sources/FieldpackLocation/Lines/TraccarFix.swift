package import FieldpackCore

/// Reads what Traccar and its apps send.
///
/// - What the server forwards (`forward.url` with `forward.type=json`, and `event.forward.url`): the object
///   `position` with `latitude`, `longitude`, `altitude`, `fixTime`, `accuracy`, `course` and `speed` in
///   knots, and the object `device` with `uniqueId`, or `name`.
/// - What the app sends as JSON: `location` with `timestamp` and `coords`, and `device_id`.
/// - The query of its protocol OsmAnd: `id` or `deviceid`, `lat`, `lon` or `location`, `timestamp` in
///   seconds or milliseconds or as text, `altitude`, `accuracy`, `bearing` or `heading`, and `speed` in
///   knots or `mps` in metres per second, which Traccar does not know.
package enum TraccarFix {
  private static let knot = 1852.0 / 3600

  /// - Returns: `nil` for a line of another kind.
  static func read(
    _ members: FixMembers, device: String
  ) throws(FieldpackError) -> Fix? {
    if members.hasObject("position") { return try forwarded(members, device: device) }
    if members.hasObject("location") { return try sent(members, device: device) }
    return nil
  }

  private static func forwarded(
    _ members: FixMembers, device: String
  ) throws(FieldpackError) -> Fix? {
    let position = try members.inner("position")
    let known = try members.inner("device")
    guard let longitude = try position.degrees(["longitude"], limit: 180),
      let latitude = try position.degrees(["latitude"], limit: 90)
    else { return nil }
    guard !position.isFalse("valid") else {
      throw FieldpackError(.invalidData, "the device had no fix ('valid' is false)")
    }
    var name = try known.name(["uniqueId", "name"])
    if name == nil { name = try position.name(["deviceId"]) }
    // Zero stands for an accuracy that nobody knows.
    let accuracy = try position.measure(["accuracy"])
    return Fix(
      longitude: longitude, latitude: latitude, elevation: try position.number(["altitude"]),
      time: try position.time(["fixTime", "deviceTime"]), accuracy: accuracy == 0 ? nil : accuracy,
      course: try position.bearing(["course"]),
      speed: try position.measure(["speed"]).map { $0 * knot },
      device: name ?? device)
  }

  private static func sent(
    _ members: FixMembers, device: String
  ) throws(FieldpackError) -> Fix? {
    let location = try members.inner("location")
    guard location.hasObject("coords") else { return nil }
    let coordinates = try location.inner("coords")
    guard let longitude = try coordinates.degrees(["longitude"], limit: 180),
      let latitude = try coordinates.degrees(["latitude"], limit: 90)
    else { throw FieldpackError(.invalidData, "the location has no longitude or no latitude") }
    return Fix(
      longitude: longitude, latitude: latitude, elevation: try coordinates.number(["altitude"]),
      time: try location.time(["timestamp"]), accuracy: try coordinates.measure(["accuracy"]),
      course: try coordinates.bearing(["heading"]), speed: try coordinates.measure(["speed"]),
      device: try members.name(["device_id"]) ?? device)
  }

  /// A fix of the protocol OsmAnd.
  ///
  /// - Parameter value: gives the value of a parameter; `nil` for one that is missing.
  /// - Throws: `.invalidData` for a query without device and position, or with values that cannot be read.
  package static func osmAnd(
    _ value: (String) -> String?
  ) throws(FieldpackError) -> Fix {
    func number(_ names: String...) throws(FieldpackError) -> Double? {
      for name in names {
        guard let text = value(name), !text.isEmpty else { continue }
        guard let number = Double(text), number.isFinite else {
          throw FieldpackError(.invalidData, "'\(name)' is no number: '\(text.prefix(40))'")
        }
        return number
      }
      return nil
    }
    guard let device = value("id") ?? value("deviceid"), !device.isEmpty else {
      throw FieldpackError(.invalidData, "the query has no 'id'")
    }
    var fix = Fix(longitude: .nan, latitude: .nan, device: device)
    if let place = value("location")?.split(separator: ","), place.count == 2,
      let latitude = Double(place[0]), let longitude = Double(place[1])
    {
      (fix.latitude, fix.longitude) = (latitude, longitude)
    } else if let latitude = try number("lat"), let longitude = try number("lon") {
      (fix.latitude, fix.longitude) = (latitude, longitude)
    }
    guard fix.isOnEarth else {
      throw FieldpackError(.invalidData, "'lat' and 'lon' are no position on Earth")
    }
    if let text = value("timestamp") { fix.time = try time(text) }
    fix.elevation = try number("altitude")
    fix.accuracy = try number("accuracy").flatMap { $0 > 0 ? $0 : nil }
    fix.speed = try number("mps")
    if fix.speed == nil { fix.speed = try number("speed").map { $0 * knot } }
    if let speed = fix.speed, speed < 0 { fix.speed = nil }
    if let course = try number("bearing", "heading"), (0...360).contains(course) {
      fix.course = course == 360 ? 0 : course
    }
    return fix
  }

  private static func time(_ text: String) throws(FieldpackError) -> Instant {
    // As Traccar reads it: a number of more than ten digits is in milliseconds.
    let number = Double(text).map { $0 >= 1e11 ? $0 / 1000 : $0 }
    guard let instant = number.flatMap(Instant.init(unixSeconds:)) ?? Instant(text) else {
      throw FieldpackError(.invalidData, "'timestamp' is no time: '\(text.prefix(40))'")
    }
    return instant
  }
}
