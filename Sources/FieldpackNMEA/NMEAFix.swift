package import FieldpackCore

/// What the sentences of one moment tell together.
package struct NMEAFix: Hashable, Sendable {
  package var longitude: Double
  package var latitude: Double
  /// Metres above mean sea level.
  package var elevation: Double?
  /// Mean sea level above the ellipsoid, in metres.
  package var geoidHeight: Double?
  package var time: Instant?
  /// Milliseconds since midnight, UTC.
  package var timeOfDay: Int?
  /// `2d`, `3d`, `dgps` or `pps`, as GPX has them.
  package var fix: String?
  /// GGA's indicator: 1 GPS, 2 differential, 3 PPS, 4 and 5 RTK, 6 estimated, 7 manual, 8 simulated.
  package var quality: Int?
  package var satellites: Int?
  package var hdop: Double?
  package var vdop: Double?
  package var pdop: Double?
  package var ageOfCorrection: Double?
  package var station: Int?
  /// Metres a second.
  package var speed: Double?
  package var course: Double?
  /// One standard deviation of the position in metres, of GST.
  package var accuracy: Double?
}

/// What a sentence completes.
package enum NMEAEvent: Hashable, Sendable {
  case fix(NMEAFix)
  /// Where the device points, degrees from true north.
  case heading(degrees: Double)
  case waypoint(name: String, longitude: Double, latitude: Double)
}
