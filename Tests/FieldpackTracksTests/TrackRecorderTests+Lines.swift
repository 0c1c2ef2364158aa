import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackTracks

extension TrackRecorderTests {
  @Test func `line and length are true after each transaction`() async throws {
    let source = ScriptedSource(path(5))
    try await package.withStore { store in
      let recorder = TrackRecorder(store)
      var lines: [String] = []
      for try await _ in try recorder.record(source, as: "walk", .all) {
        let line = try await store.feature(.integer(1), in: "track")
        let x = line?.geometry?.envelope.map { "\($0.minX) \(Float($0.maxX))" } ?? "none"
        let length = try await store.tracks()[0].length
        lines.append("\(x) \((length * 100).rounded() / 100)")
      }
      #expect(
        lines == [
          "none 0.0", "13.4 13.4001 6.79", "13.4 13.4002 13.58", "13.4 13.4003 20.37",
          "13.4 13.4004 27.16",
        ])
    }
    #expect(
      try package.rows(
        "SELECT length(geom) = 49 + 5 * 16, substr(hex(geom), 83, 16) FROM track") == [
          "1|0200000005000000"
        ])
  }

  private static let vertices =
    "SELECT (length(geom) - 49) / 16, (SELECT count(*) FROM track_point) FROM track"

  @Test func `a line that trails its points is whole once the recording goes on`() async throws {
    // The end of the store without an end of the run: as good as a kill.
    for (end, expected) in [(55, "51|55"), (56, "55|56")] {
      try await package.withStore { store in
        let steps = try TrackRecorder(store).record(
          ScriptedSource(path(60)), as: "walk", .all, isReplay: true)
        for try await step in steps where step.fixes == end { break }
      }
      #expect(try package.rows(Self.vertices) == [expected])
    }
    _ = try await record(ScriptedSource(path(60)), .all, isReplay: true)
    #expect(try package.rows(Self.vertices) == ["60|60"])
    _ = try await record(ScriptedSource(path(60)), .all, as: "in one go")
    #expect(
      try package.rows("SELECT count(DISTINCT hex(geom)), count(DISTINCT length_m) FROM track")
        == ["1|1"])
    #expect(try package.findings() == [])
  }

  @Test func `each vertex of a line is written eleven times at most`() async throws {
    let count = 10_000
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try FieldData.layers.prepare(in: writer)
      }
    }
    let fixes = path(count)
    let (written, last) = try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        let tables = TrackTables(writer: writer)
        var track = try tables.create(.all, name: "walk", device: "", at: .at(0))
        var (written, last) = (0, 0)
        for (number, fix) in fixes.enumerated() {
          _ = try tables.add(fix, number: number, to: &track, at: .at(0))
          try tables.finish(&track)
          let row = try writer.rows("SELECT (length(geom) - 49) / 16, length_m FROM track").first
          let stored = row?[0].int ?? 0
          if stored != last { written += stored }
          last = stored
          guard row?[1].double == track.length else { break }
        }
        return (written, last)
      }
    }
    #expect(written < 11 * count)
    #expect(last * 11 > count * 10)
  }

  @Test func `a line that somebody changed is made anew from the points`() async throws {
    _ = try await record(ScriptedSource(path(3)), .all)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(.integer(1), in: "track", geometry: .set(nil))
      }
    }
    _ = try await record(ScriptedSource(path(4)), .all, isReplay: true)
    #expect(try package.rows("SELECT length(geom) FROM track") == ["\(49 + 4 * 16)"])
    #expect(try package.findings() == [])
  }
}
