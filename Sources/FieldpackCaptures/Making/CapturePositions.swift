public import FieldpackCore
public import FieldpackGeometry
public import FieldpackLocation

/// Where a device was, for the media that it made there.
public struct CapturePositions: Sendable {
  private let updates: [LocationUpdate]
  /// What to call them in errors.
  private let name: String

  /// One position, by longitude and latitude.
  public init(_ position: Position) {
    updates = [.fix(Fix(longitude: position.x, latitude: position.y))]
    name = "the place"
  }

  /// All that a source gives; fixes that are not on Earth are left out.
  ///
  /// - Parameter name: what to call it in errors.
  public init(_ source: any LocationSource, name: String) async throws(FieldpackError) {
    var updates: [LocationUpdate] = []
    for try await some in source.updates() {
      updates += some.filter { if case .fix(let fix) = $0 { fix.isOnEarth } else { true } }
    }
    self.updates = updates
    self.name = name
  }

  /// The draft of a capture that was made among these positions.
  ///
  /// A picture gets the last fix before it was made; the first fix where all are later; the last
  /// fix of all where the time of the picture is unknown. A video gets a point for each fix and
  /// heading while it was made, beginning with the last fix before; where its time is unknown, it
  /// began with the first fix.
  /// - Parameters:
  ///   - createdAt: when it was made in seconds since 1970, where the caller knows it.
  ///   - fallback: the time for a capture where neither `createdAt` nor a fix gives one.
  ///   - duration: of a video, in seconds.
  /// - Throws: `.invalidArgument` for what is no time; `.invalidData` where there is no fix, or where
  ///   those of a video have no times.
  public func draft(
    of kind: CaptureInfo.MediaKind, createdAt: Double?, otherwise fallback: Double,
    duration: Double? = nil
  ) throws(FieldpackError) -> CaptureDraft {
    if let createdAt, !(createdAt.isFinite && abs(createdAt) < 1e12) {
      throw FieldpackError(.invalidArgument, "\(createdAt) is no time of a capture")
    }
    let times = fixes.map(\.fix.time)
    guard let first = fixes.first, let last = fixes.last else {
      throw FieldpackError(.invalidData, "\(name) gave no position, and a capture has one")
    }
    let begin = createdAt.map { moment -> (index: Int, fix: Fix) in
      fixes.last { $0.fix.unixTime.map { $0 <= moment } ?? false } ?? first
    }
    switch kind {
    case .image:
      let taken = begin ?? last
      var points = PointTaking(.image, .fixes)
      var point: CapturePoint?
      for update in updates[...taken.index] { point = points.take(update, after: 0) ?? point }
      return CaptureDraft(
        points: point.map { [$0] } ?? [],
        createdAt: createdAt ?? taken.fix.unixTime ?? fallback)
    case .video:
      guard fixes.count == 1 || times.allSatisfy({ $0 != nil }) else {
        throw FieldpackError(
          .invalidData, "\(name) has positions without times, which a video needs")
      }
      return CaptureDraft(
        points: points(from: (begin ?? first).index, createdAt, duration),
        createdAt: createdAt ?? first.fix.unixTime ?? fallback)
    }
  }

  private var fixes: [(index: Int, fix: Fix)] {
    updates.enumerated().compactMap { index, update in
      if case .fix(let fix) = update { (index, fix) } else { nil }
    }
  }

  /// - Parameter moment: when the video began; `nil` is when its first fix was read.
  private func points(
    from start: Int, _ moment: Double?, _ duration: Double?
  ) -> [CapturePoint] {
    var taking = PointTaking(.video, .fixes)
    var points: [CapturePoint] = []
    for (index, update) in updates.enumerated() {
      var update = update
      if index < start {
        // What the device pointed to before is known at the beginning.
        guard case .heading = update else { continue }
      } else if index == start, let moment, case .fix(var fix) = update {
        fix.time = Instant(milliseconds: Int64((moment * 1000).rounded()))
        update = .fix(fix)
      }
      guard let point = taking.take(update, after: 0) else { continue }
      if moment != nil, let duration, point.time > duration { break }
      points.append(point)
    }
    return points
  }
}

extension Fix {
  /// In seconds since 1970.
  fileprivate var unixTime: Double? { time.map { Double($0.milliseconds) / 1000 } }
}
