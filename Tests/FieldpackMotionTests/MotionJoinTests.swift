import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackMotion
import FieldpackTestSupport
import Testing

@Suite struct TimedPathTests {
  private static func point(_ time: Double, _ x: Double, _ y: Double) -> TimedPath.Point {
    TimedPath.Point(time: time, position: Position(x: x, y: y, z: 9))
  }

  private static let path = TimedPath(legs: [
    [point(100, 5, 5), point(110, 6, 5)],
    [point(10, 0, 0), point(0, 2, 2), point(10, 9, 9), point(40, 30, 0)],
    [],
  ])

  @Test(
    arguments: [
      (0.0, Position(x: 2, y: 2, m: 0)), (5, Position(x: 1, y: 1, m: 5)),
      (10, Position(x: 0, y: 0, m: 10)), (25, Position(x: 15, y: 0, m: 25)),
      (105, Position(x: 5.5, y: 5, m: 105)), (-1, nil), (41, nil), (99, nil), (110.5, nil),
      (.nan, nil),
    ] as [(Double, Position?)])
  func `a position lies between the places around its time`(time: Double, expected: Position?) {
    #expect(Self.path.position(at: time, maximumGap: 30) == expected)
  }

  @Test func `places that are far apart in time have nothing between them`() {
    #expect(Self.path.position(at: 25, maximumGap: 29.9) == nil)
    #expect(Self.path.position(at: 40, maximumGap: 0) == Position(x: 30, y: 0, m: 40))
  }

  @Test func `a path has the times of its places`() {
    #expect(Self.path.times == 0...110)
    #expect(Self.path.pointCount == 5)
    #expect(TimedPath(legs: []).times == nil)
  }

  @Test func `a way over the antimeridian is the short one`() {
    let path = TimedPath(legs: [[Self.point(0, 179, 0), Self.point(4, -179, 4)]])
    let xs = [1.0, 3].map { path.position(at: $0, maximumGap: 9)?.x }
    #expect(xs == [179.5, -179.5])
  }

  @Test func `fixes of two devices are two legs`() {
    let fixes = [("a", 10, 7.0), ("b", 10, 20), ("a", 12, 8), ("b", 12, 21)].map {
      Fix(
        longitude: $0.2, latitude: 0, time: Instant(milliseconds: Int64($0.1) * 1000),
        device: $0.0)
    }
    let path = TimedPath(fixes: fixes)
    #expect(path.legs.map { $0.map(\.position.x) } == [[7, 8], [20, 21]])
    #expect(path.position(at: 11, maximumGap: 2) == Position(x: 20.5, y: 0, m: 11))
  }

  @Test func `of legs at one time the one begun last counts`() {
    let path = TimedPath(legs: [
      [Self.point(0, 0, 0), Self.point(100, 100, 0)], [Self.point(10, 1, 1), Self.point(20, 1, 2)],
    ])
    #expect(path.position(at: 15, maximumGap: 100) == Position(x: 1, y: 1.5, m: 15))
    #expect(path.position(at: 50, maximumGap: 100) == Position(x: 50, y: 0, m: 50))
  }
}

@Suite(.programs) struct MotionJoinTests {
  /// Sessions `a` at seconds 10 to 12 and `b` at second 50, at 5 Hz.
  private static func package() async throws -> FieldFile {
    let package = try FieldFile()
    let bodies = [
      try MadeMotion.rising(session: "a", at: 10.8, from: 0),
      try MadeMotion.rising(session: "a", at: 11.8, from: 5),
      try MadeMotion.rising(session: "b", at: 50, from: 100),
    ]
    let log = try package.file(
      "log", bodies.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n"))
    try await package.withStore { store in
      _ = try await store.importMotion(from: [log], rate: 5)
    }
    return package
  }

  private static func fix(_ second: Int64, _ longitude: Double) -> Fix {
    Fix(
      longitude: longitude, latitude: 47, time: Instant(milliseconds: second * 1000))
  }

  @Test func `samples become points on the path, and a session a line`() async throws {
    let package = try await Self.package()
    let path = TimedPath(fixes: [Self.fix(10, 7), Self.fix(11, 8)])
    let report = try await package.withStore { try await $0.joinMotion(to: path) }
    #expect(
      report
        == MotionJoinReport(sessions: [
          .init(id: "a", samples: 10, placed: 6), .init(id: "b", samples: 5, placed: 0),
        ]))
    try await package.withStore { store in
      var points: [Feature] = []
      for try await point in try await store.query(Query("motion_point")).features {
        points.append(point)
      }
      #expect(points.count == 6)
      #expect(points[5].geometry == .point(Position(x: 8, y: 47, m: 11), .xym))
      #expect(points[5].attributes["az"] == .real(5))
      #expect(points[5].attributes["pitch"] == .null)
      #expect(points[5].attributes["time"] == .dateTime(Instant(milliseconds: 11_000)))
      var lines: [Feature] = []
      for try await line in try await store.query(Query("motion_track")).features {
        lines.append(line)
      }
      #expect(lines.count == 1)
      #expect(lines.first?.attributes["point_count"] == .integer(6))
      #expect(
        lines.first?.geometry?.envelope
          == Envelope(minX: 7, minY: 47, maxX: 8, maxY: 47, m: 10...11))
    }
    #expect(try package.rows("SELECT count(*) FROM daco_sample") == ["15"])
    #expect(try package.findings() == [])
    #expect(try await package.verdicts() == [])
  }

  @Test func `joining again replaces what the first join made`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let west = TimedPath(fixes: [Self.fix(10, 7), Self.fix(12, 8)])
      _ = try await store.joinMotion(to: west)
      let east = TimedPath(fixes: [Self.fix(11, 20), Self.fix(12, 21)])
      let report = try await store.joinMotion(to: east, sessions: ["a"])
      #expect(report.sessions == [.init(id: "a", samples: 10, placed: 5)])
    }
    #expect(try package.rows("SELECT count(*) FROM motion_point") == ["5"])
    #expect(
      try package.rows(
        "SELECT min_x, max_x FROM gpkg_contents WHERE table_name LIKE 'motion_%'")
        == ["20.0|20.8", "20.0|20.8"])
    #expect(try package.findings() == [])
  }

  @Test func `a session that is not there is named`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      do throws(FieldpackError) {
        _ = try await store.joinMotion(to: TimedPath(legs: []), sessions: ["c"])
        Issue.record("nothing was thrown")
      } catch {
        #expect(error.message == "there is no session 'c' (there are: a, b)")
      }
    }
  }

  @Test func `a layer of points or of lines with M is a path`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "track_points", geometry: GeometryColumn(type: .point),
            columns: [ColumnDefinition("time", .dateTime)]))
        try writer.createLayer(
          Schema(
            layer: "lines", geometry: GeometryColumn(type: .multiLineString, m: .mandatory)))
        for second in [Int64(10), 11] {
          try writer.create(
            Feature(
              geometry: .point(Position(x: Double(second), y: 47), .xy),
              attributes: ["time": .dateTime(Instant(milliseconds: second * 1000))]),
            in: "track_points")
        }
        let lines = [[10.0, 47, 10, 11, 47, 11], [12, 47, 20, 13, 47, 21]].map {
          CoordinateSequence(dimensions: .xym, ordinates: $0)
        }
        try writer.create(Feature(geometry: .multiLineString(lines, .xym)), in: "lines")
      }
      let points = try await TimedPath(store)
      let lines = try await TimedPath(store, layer: "lines")
      #expect(points.legs.map(\.count) == [2] && lines.legs.map(\.count) == [2, 2])
      for path in [points, lines] {
        #expect(
          path.position(at: 10.5, maximumGap: 1) == Position(x: 10.5, y: 47, m: 10.5))
      }
      #expect(lines.position(at: 15, maximumGap: 100) == nil)
      await #expect(throws: FieldpackError.self) { _ = try await TimedPath(store, layer: "x") }
    }
  }

  @Test func `the points of captures are a path by absolute time`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "capture", geometry: GeometryColumn(type: .point),
            columns: [
              ColumnDefinition("token", .text()), ColumnDefinition("created_at_unix", .double),
            ]))
        try writer.createLayer(
          Schema(
            layer: "capture_point", geometry: GeometryColumn(type: .point),
            columns: [
              ColumnDefinition("capture_fid", .integer), ColumnDefinition("t_s", .double),
            ]))
        for (number, token) in ["one", "two"].enumerated() {
          try writer.create(
            Feature(attributes: [
              "token": .text(token), "created_at_unix": .real(Double(number) * 40 + 10),
            ]), in: "capture")
          for second in 0..<2 {
            let x = Double(number * 10 + second)
            try writer.create(
              Feature(
                geometry: .point(Position(x: x, y: 47), .xy),
                attributes: [
                  "capture_fid": .integer(Int64(number + 1)), "t_s": .real(Double(second)),
                ]), in: "capture_point")
          }
        }
      }
      let both = try await TimedPath(store)
      #expect(both.legs.map(\.count) == [2, 2] && both.times == 10...51)
      #expect(both == (try await TimedPath(store, layer: "capture_point")))
      #expect(both.position(at: 50.5, maximumGap: 1) == Position(x: 10.5, y: 47, m: 50.5))
      let two = try await TimedPath(capturesOf: store, tokens: ["two"])
      #expect(two.times == 50...51)
      let report = try await store.joinMotion(to: two)
      #expect(report.sessions.map(\.placed) == [0, 1])
      do throws(FieldpackError) {
        _ = try await TimedPath(capturesOf: store, tokens: ["two", "six"])
        Issue.record("nothing was thrown")
      } catch {
        #expect(error.message == "there is no capture 'six' in store 'field'")
      }
    }
  }
}
