public import FieldpackCore
public import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A selection of captures. Without any condition it selects all.
public struct CaptureSelection: Hashable, Sendable {
  /// Captures made on this day in the time zone of `TZ`, else that of the machine.
  public var day: CalendarDate?
  /// Captures in this box of longitudes and latitudes.
  public var box: Envelope?
  /// Captures no farther than ``radius`` from this longitude and latitude.
  public var center: Position?
  /// The largest distance from ``center``, in metres on the ellipsoid.
  public var radius = 1000.0
  public var kind: CaptureInfo.MediaKind?
  /// `true` selects captures that were uploaded, `false` those that never were.
  public var isUploaded: Bool?
  public var limit: Int?

  public init(
    day: CalendarDate? = nil, box: Envelope? = nil, center: Position? = nil,
    radius: Double = 1000, kind: CaptureInfo.MediaKind? = nil, isUploaded: Bool? = nil,
    limit: Int? = nil
  ) {
    self.day = day
    self.box = box
    self.center = center
    self.radius = radius
    self.kind = kind
    self.isUploaded = isUploaded
    self.limit = limit
  }

  /// The query that finds the captures, the newest first.
  public var query: Query {
    var filter = Filter.all
    if let kind { filter = filter && Column<String>("media_type") == kind.rawValue }
    if let isUploaded {
      let uploaded = Column<Double>("uploaded_at_unix")
      filter = filter && (isUploaded ? uploaded >= 500 : uploaded < 500)
    }
    if let day {
      let (start, end) = (Self.start(of: day), Self.start(of: day, plus: 1))
      let created = Column<Double>("created_at_unix")
      filter = filter && created >= start && created < end
    }
    if let box { filter = filter && .intersects(box, srs: .wgs84) }
    if let center {
      filter =
        filter && .isWithin(radius, of: .point(x: center.x, y: center.y), srs: .wgs84)
    }
    let query = Query(CaptureLayers.capture, where: filter).order(
      by: [Order("created_at_unix", descending: true), Order("token")])
    return limit.map { query.limit($0) } ?? query
  }

  /// The second when a day begins by the local clock.
  private static func start(of day: CalendarDate, plus days: Int32 = 0) -> Double {
    let parts = day.components
    var time = tm()
    time.tm_year = Int32(parts.year - 1900)
    time.tm_mon = Int32(parts.month - 1)
    time.tm_mday = Int32(parts.day) + days
    time.tm_isdst = -1
    return Double(mktime(&time))
  }
}
