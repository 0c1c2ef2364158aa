public import FieldpackCore
public import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which captures are meant; all where nothing is said.
public struct CaptureSelection: Hashable, Sendable {
  /// Those made on a day, as the clocks of the time zone showed it (`TZ`, else the machine's).
  public var day: CalendarDate?
  /// Those in view: in a box of longitudes and latitudes.
  public var box: Envelope?
  /// Those near a point, by longitude and latitude…
  public var center: Position?
  /// …no farther than this, in metres on the ellipsoid.
  public var radius = 1000.0
  public var kind: CaptureInfo.MediaKind?
  /// Those that were uploaded, or those that were never.
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

  /// What the store is asked: the newest first.
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
