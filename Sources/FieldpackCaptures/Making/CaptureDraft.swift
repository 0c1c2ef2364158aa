import FieldpackCore

/// What is known of a capture that is being made.
public struct CaptureDraft: Hashable, Sendable {
  public var title: String
  /// Seconds since 1970 in UTC.
  public var createdAt: Double
  /// Where the device was, the first at time 0; a picture has one.
  public var points: [CapturePoint]
  /// Degrees clockwise from true north; `nil` takes the heading of the first point.
  public var heading: Double?

  public init(
    points: [CapturePoint], createdAt: Double, title: String = CaptureInfo.untitled,
    heading: Double? = nil
  ) {
    self.points = points
    self.createdAt = createdAt
    self.title = title
    self.heading = heading
  }

  /// - Returns: the first point.
  /// - Throws: `.invalidArgument` for what no capture may say.
  func checked(as kind: CaptureInfo.MediaKind) throws(FieldpackError) -> CapturePoint {
    guard let first = points.first else { throw Self.wrong("has no point") }
    guard kind == .video || points.count == 1 else {
      throw Self.wrong("is a picture, which has one point, and has \(points.count)")
    }
    guard first.time == 0 else { throw Self.wrong("begins at \(first.time) s and not at 0") }
    guard createdAt.isFinite, abs(createdAt) < 1e12 else {
      throw Self.wrong("was made at \(createdAt), which is no time")
    }
    guard heading?.isFinite != false else { throw Self.wrong("has a heading that is no number") }
    var last = 0.0
    for (index, point) in points.enumerated() {
      guard abs(point.latitude) <= 90, abs(point.longitude) <= 180 else {
        throw Self.wrong(
          "has a point \(index) that is not on Earth: latitude \(point.latitude), "
            + "longitude \(point.longitude)")
      }
      guard point.time.isFinite, point.time >= last, point.heading?.isFinite != false,
        point.accuracy?.isFinite != false
      else {
        throw Self.wrong("has a point \(index) out of order, or with a value that is no number")
      }
      last = point.time
    }
    return first
  }

  private static func wrong(_ what: String) -> FieldpackError {
    FieldpackError(.invalidArgument, "the capture \(what)")
  }
}
