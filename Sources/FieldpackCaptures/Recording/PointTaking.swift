import FieldpackCore
import FieldpackLocation

/// Makes the points of a capture of what a source tells.
struct PointTaking {
  let kind: CaptureInfo.MediaKind
  let timing: CaptureTiming
  /// When the first fix was read, of an image the latest, where it said so.
  private(set) var date: Instant?
  private var fix: Fix?
  private var heading: Double?
  /// The time of a fix, and that of its point.
  private var base: (time: Instant, seconds: Double)?
  private var last: Double?

  init(_ kind: CaptureInfo.MediaKind, _ timing: CaptureTiming) {
    self.kind = kind
    self.timing = timing
  }

  /// - Parameter seconds: since the recording began.
  /// - Returns: `nil` for what is no point: a heading before the first fix, and what is no number.
  mutating func take(_ update: LocationUpdate, after seconds: Double) -> CapturePoint? {
    let time: Instant?
    switch update {
    case .fix(let new):
      guard new.isOnEarth else { return nil }
      if fix == nil || kind == .image { date = new.time }
      fix = new
      if let degrees = new.heading, 0...360 ~= degrees { heading = degrees }
      time = new.time
    case .heading(let new):
      guard 0...360 ~= new.degrees else { return nil }
      heading = new.degrees
      time = new.time
    }
    guard let fix else { return nil }
    let accuracy = fix.accuracy.flatMap { $0.isFinite ? $0 : nil }
    return CapturePoint(
      time: moment(time, seconds), longitude: fix.longitude, latitude: fix.latitude,
      heading: heading, accuracy: accuracy)
  }

  /// The first is 0, and none is before the one before it.
  private mutating func moment(_ time: Instant?, _ seconds: Double) -> Double {
    guard let last, kind == .video else {
      last = 0
      base = time.map { ($0, 0) }
      return 0
    }
    var moment = seconds
    if timing == .fixes, let time {
      if let base {
        moment = base.seconds + (Double(time.milliseconds) - Double(base.time.milliseconds)) / 1000
      } else {
        base = (time, max(last, seconds))
      }
    }
    moment = moment.isFinite ? max(moment, last) : last
    self.last = moment
    return moment
  }
}
