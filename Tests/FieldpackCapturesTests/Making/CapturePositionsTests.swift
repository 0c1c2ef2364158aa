import FieldpackCore
import FieldpackGeometry
import FieldpackLocation
import Testing

@testable import FieldpackCaptures

@Suite struct CapturePositionsTests {
  private static func fix(_ second: Double?, _ longitude: Double) -> LocationUpdate {
    .fix(
      Fix(
        longitude: longitude, latitude: 50,
        time: second.map { Instant(milliseconds: Int64($0 * 1000)) }))
  }

  /// Fixes at 1000, 1010, 1020 and 1030 s, a heading after the second.
  private static let walk = ScriptedSource([
    [fix(1000, 0)], [fix(1010, 10), .heading(Heading(degrees: 45, time: nil))],
    [fix(1020, 20), fix(1030, 30)],
  ])

  private func draft(
    _ kind: CaptureInfo.MediaKind, createdAt: Double? = nil, duration: Double? = nil,
    _ source: ScriptedSource = CapturePositionsTests.walk
  ) async throws -> CaptureDraft {
    try await CapturePositions(source, name: "walk.gpx")
      .draft(of: kind, createdAt: createdAt, otherwise: 77, duration: duration)
  }

  private func point(_ time: Double, _ longitude: Double, _ heading: Double?) -> CapturePoint {
    CapturePoint(time: time, longitude: longitude, latitude: 50, heading: heading)
  }

  @Test func `a picture gets the last position until it was made`() async throws {
    let cases: [(Double?, CapturePoint, Double)] = [
      (nil, point(0, 30, 45), 1030), (1030, point(0, 30, 45), 1030),
      (1029.9, point(0, 20, 45), 1029.9), (1010, point(0, 10, nil), 1010),
      (5000, point(0, 30, 45), 5000), (3, point(0, 0, nil), 3),
    ]
    for (createdAt, expected, time) in cases {
      let draft = try await draft(.image, createdAt: createdAt)
      #expect(draft == CaptureDraft(points: [expected], createdAt: time))
    }
  }

  @Test func `a video gets the positions while it was made`() async throws {
    let all = [point(0, 0, nil), point(10, 10, nil), point(10, 10, 45), point(20, 20, 45)]
    #expect(
      try await draft(.video)
        == CaptureDraft(points: all + [point(30, 30, 45)], createdAt: 1000))
    // Its positions are its own, however long it is.
    #expect(try await draft(.video, duration: 1).points.count == 5)
    #expect(
      try await draft(.video, createdAt: 1012.5, duration: 8)
        == CaptureDraft(
          points: [point(0, 10, nil), point(0, 10, 45), point(7.5, 20, 45)], createdAt: 1012.5))
    #expect(
      try await draft(.video, createdAt: 1025).points
        == [point(0, 20, 45), point(5, 30, 45)])
    #expect(try await draft(.video, createdAt: 2000).points == [point(0, 30, 45)])
  }

  @Test func `a place alone is enough, and the file tells when`() throws {
    let positions = CapturePositions(Position(x: 1, y: 50))
    for kind in CaptureInfo.MediaKind.allCases {
      let draft = try positions.draft(of: kind, createdAt: nil, otherwise: 77)
      #expect(draft == CaptureDraft(points: [point(0, 1, nil)], createdAt: 77))
    }
  }

  @Test(arguments: [Double.nan, .infinity, 1e300, -1e12])
  func `what is no time is refused`(time: Double) async throws {
    for kind in CaptureInfo.MediaKind.allCases {
      let error = await #expect(throws: FieldpackError.self) {
        try await draft(kind, createdAt: time)
      }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test func `no position, and a video's without times, are refused`() async throws {
    let none = ScriptedSource([[.heading(Heading(degrees: 1))]])
    let timeless = ScriptedSource([[Self.fix(nil, 1), Self.fix(nil, 2)]])
    let nowhere = ScriptedSource([[.fix(Fix(longitude: 200, latitude: 0))]])
    for (source, message) in [
      (none, "walk.gpx gave no position, and a capture has one"),
      (nowhere, "walk.gpx gave no position, and a capture has one"),
      (timeless, "walk.gpx has positions without times, which a video needs"),
    ] {
      let error = await #expect(throws: FieldpackError.self) {
        try await draft(.video, source)
      }
      #expect(error?.code == .invalidData)
      #expect(error?.message == message)
    }
    #expect(try await draft(.image, timeless).points == [point(0, 2, nil)])
  }
}
