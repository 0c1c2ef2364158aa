import FieldpackCore

/// Reads a fix or a heading from a JSON object, or from a GeoJSON feature with a point.
///
/// | what | names, the first that is there | value |
/// | --- | --- | --- |
/// | position | `lon` `lng` `longitude`, with `lat` `latitude` | degrees on WGS 84 |
/// | elevation | `ele` `elevation` `alt` `altitude` | metres |
/// | time | `time` `timestamp` | RFC 3339 text, or Unix seconds |
/// | accuracy | `accuracy` | metres |
/// | course | `course` | degrees from true north, 0 to 360 |
/// | speed | `speed` | metres a second |
/// | device | `device` | text, or an integer |
/// | heading | `heading`, with `heading_accuracy` | degrees from true north, 0 to 360 |
///
/// A feature has position and elevation in its geometry and the rest in its properties. A `heading`
/// becomes a ``Heading``, which comes before the fix where the object has a position as well.
/// `null` counts as absent. A negative accuracy, course, speed or heading counts as unknown,
/// because phones write it so. Other members are ignored.
///
/// A message of OwnTracks, which has a `_type`, is a fix where that is `location`, and else adds
/// nothing: `tst` is its time, `acc` the accuracy, `cog` the course, `vel` the speed in kilometres an
/// hour, and `tid` the device. A position that Traccar forwards, or that its app sends as JSON, is a
/// fix, too.
public enum JSONFixReader {
  /// How deep a line may be nested.
  static let maximumDepth = 32

  /// Adds what `line` tells to `updates`.
  ///
  /// - Throws: `.invalidData` for what is no such object, without a position.
  static func read(
    _ line: UnsafeBufferPointer<UInt8>, device: String, into updates: inout [LocationUpdate]
  ) throws(FieldpackError) {
    let members = try FixMembers(line)
    // Other writers may mean something else by this name.
    if let type = try? members.text(["_type"]) {
      guard type == "location" else { return }
      return updates.append(.fix(try ownTracksFix(members, device: device)))
    }
    if let fix = try TraccarFix.read(members, device: device) { return updates.append(.fix(fix)) }
    try read(members, device: device, into: &updates)
  }

  private static func ownTracksFix(
    _ members: FixMembers, device: String
  ) throws(FieldpackError) -> Fix {
    guard let position = try position(members) else {
      throw FieldpackError(.invalidData, "the location has neither 'lon' nor 'lat'")
    }
    return Fix(
      longitude: position.x, latitude: position.y, elevation: position.z,
      time: try members.time(["tst"]), accuracy: try members.measure(["acc"]),
      course: try members.bearing(["cog"]), speed: try members.measure(["vel"]).map { $0 / 3.6 },
      device: try members.name(["tid"]) ?? device)
  }

  private static func read(
    _ members: FixMembers, device: String, into updates: inout [LocationUpdate]
  ) throws(FieldpackError) {
    var position = try position(members)
    var facts = members
    if try members.text(["type"]) == "Feature" {
      position = try members.point()
      facts = try members.inner("properties")
    }
    let device = try facts.name(["device"]) ?? device
    let time = try facts.time(["time", "timestamp"])
    let heading = try facts.bearing(["heading"])
    let headingAccuracy = try facts.measure(["heading_accuracy"])
    guard position != nil || heading != nil else {
      throw FieldpackError(
        .invalidData, "the line has neither a position ('lon' and 'lat') nor a 'heading'")
    }
    var fix = Fix(longitude: 0, latitude: 0, time: time, device: device)
    fix.accuracy = try facts.measure(["accuracy"])
    fix.course = try facts.bearing(["course"])
    fix.speed = try facts.measure(["speed"])
    guard let position else {
      let heading = heading.map {
        Heading(degrees: $0, accuracy: headingAccuracy, time: time, device: device)
      }
      updates += heading.map { [.heading($0)] } ?? []
      return
    }
    fix.heading = heading
    (fix.longitude, fix.latitude, fix.elevation) = position
    updates.append(.fix(fix))
  }

  private static func position(
    _ members: FixMembers
  ) throws(FieldpackError) -> (x: Double, y: Double, z: Double?)? {
    let longitude = try members.degrees(["lon", "lng", "longitude"], limit: 180)
    let latitude = try members.degrees(["lat", "latitude"], limit: 90)
    let elevation = try members.number(["ele", "elevation", "alt", "altitude"])
    switch (longitude, latitude) {
    case (nil, nil): return nil
    case (let x?, let y?): return (x, y, elevation)
    case (nil, _): throw FieldpackError(.invalidData, "the line has a latitude but no 'lon'")
    case (_, nil): throw FieldpackError(.invalidData, "the line has a longitude but no 'lat'")
    }
  }
}
