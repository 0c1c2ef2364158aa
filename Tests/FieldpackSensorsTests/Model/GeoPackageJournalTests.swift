import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackMedia
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

/// What a link keeps, so that a kill loses nothing.
@Suite struct GeoPackageJournalTests {
  private static let south = SensorAddress(uri: "cam://0")

  @Test func `a capture is kept before its download and stored once`() async throws {
    let file = try SensorFile()
    let bmp = madeBMP(40, 20)
    try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(by: .north), to: person.key)
      try await journal.captured(["a", "b"], by: .north, for: item.key)
      try await journal.captured(["a"], by: .north, for: nil)
      try await journal.captured(["a"], by: Self.south, for: nil)
      #expect(
        try await journal.unfinished().captures == [
          PendingCapture(id: "a", device: .north, item: item.key),
          PendingCapture(id: "b", device: .north, item: item.key),
          PendingCapture(id: "a", device: Self.south, item: nil),
        ])
      #expect(try await journal.post(SensorDownload("a", bmp)) == item.key)
      #expect(try await journal.post(SensorDownload("a", bmp)) == nil)
      #expect(try await journal.post(SensorDownload("b", bmp)) == item.key)
      #expect(try await journal.unfinished().captures.map(\.device) == [Self.south])
      let stored = try await persons.item("1")
      #expect((stored.contentType, stored.captureId) == ("image/bmp", "b"))
      #expect(stored.metadataJSON == #"{"width":"4"}"#)
      let files = try await persons.files(of: item.key)
      #expect(files.map(\.role) == [.data, .data, .thumbnail])
      #expect(files.map(\.contentType) == ["image/bmp", "image/bmp", "image/png"])
      #expect(try await persons.content(of: files[0]) == bmp)
      #expect(files[0].sha256 == SHA256.hex(bmp))
    }
    #expect(
      try file.file.rows(
        "SELECT width_px, height_px, byte_count = length(data), role FROM media ORDER BY id") == [
          "40|20|1|sensor_data", "40|20|1|sensor_data", "228|228|1|thumbnail",
        ])
    #expect(try file.file.findings() == [])
  }

  @Test func `a later capture takes the place of the one before`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(), to: person.key)
      for id in ["a", "b", "c"] { try await journal.captured([id], by: .north, for: item.key) }
      _ = try await journal.post(SensorDownload("a", madeBMP(1, 1)))
      _ = try await journal.post(SensorDownload("c", madeBMP(3, 3)))
      // What comes late is stored, and what is newer stays the item's.
      _ = try await journal.post(SensorDownload("b", madeBMP(2, 2)))
      #expect(try await persons.item("1").captureId == "c")
      #expect(
        try await persons.files(of: item.key).map(\.byteCount).prefix(2) == [
          madeBMP(3, 3).count, madeBMP(2, 2).count,
        ])
    }
    #expect(
      try file.file.rows("SELECT capture_id, state, media_id IS NULL FROM bio_capture") == [
        "a|stored|1", "b|stored|0", "c|stored|0",
      ])
    #expect(try file.file.findings() == [])
  }

  @Test func `a capture of an item that is gone leaves nothing`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(), to: person.key)
      try await journal.captured(["a"], by: .north, for: item.key)
      try await persons.delete([person.key])
      let error = await failure { _ = try await journal.post(SensorDownload("a")) }
      #expect(error?.code == .notFound)
      let orphan = await failure { _ = try await journal.post(SensorDownload("x")) }
      #expect(orphan?.code == .notFound)
      #expect(try await journal.unfinished().captures.map(\.id) == ["a"])
      try await journal.lost("a", by: .north, because: FieldpackError(.notFound, "Zofia is gone"))
      #expect(try await journal.unfinished() == .init())
    }
    #expect(try file.file.rows("SELECT count(*) FROM media") == ["0"])
    #expect(
      try file.file.rows("SELECT capture_id, state, reason FROM bio_capture") == [
        "a|lost|notFound"
      ])
  }

  @Test func `what is stored is never lost and what was lost may be found`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(), to: person.key)
      _ = try await journal.post(SensorDownload("a", of: item))
      try await journal.lost("a", by: .north, because: FieldpackError(.io, "x"))
      try await journal.captured(["b"], by: .north, for: item.key)
      try await journal.captured(["b"], by: Self.south, for: item.key)
      try await journal.lost("b", by: .north, because: FieldpackError(.io, "x"))
      #expect(try await journal.post(SensorDownload("b")) == item.key)
    }
    #expect(
      try file.file.rows("SELECT capture_id, state, reason FROM bio_capture") == [
        "a|stored|NULL", "b|stored|NULL", "b|pending|NULL",
      ])
  }

  @Test func `a sensor that begins its ids anew loses no picture`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add()
      let first = try await persons.add(.finger(), to: person.key)
      let second = try await persons.add(.finger(.rightSlap), to: person.key)
      try await journal.captured(["1"], by: .north, for: first.key)
      #expect(try await journal.post(SensorDownload("1", madeBMP(1, 1))) == first.key)
      try await journal.captured(["1"], by: .north, for: second.key)
      #expect(
        try await journal.unfinished().captures == [
          PendingCapture(id: "1", device: .north, item: second.key)
        ])
      #expect(try await journal.post(SensorDownload("1", madeBMP(3, 3))) == second.key)
      for (item, size) in [(first, 1), (second, 3)] {
        let files = try await persons.files(of: item.key)
        #expect(files.map(\.role) == [.data, .thumbnail])
        #expect(files.first?.byteCount == madeBMP(size, size).count)
      }
    }
    #expect(
      try file.file.rows("SELECT capture_id, item_fid, state FROM bio_capture ORDER BY id") == [
        "1#1|1|stored", "1|2|stored",
      ])
    #expect(try file.file.findings() == [])
  }

  @Test func `sessions are kept with their locks`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add()
      try await persons.add(.finger(by: .north), to: person.key)
      let held = SensorSession(device: .north, id: "s1", holdsLock: true)
      try await journal.session(held)
      try await journal.session(SensorSession(device: Self.south, id: "s2", holdsLock: true))
      try await journal.session(SensorSession(device: Self.south, id: "s2", holdsLock: false))
      #expect(
        try await journal.unfinished().sessions == [
          held, SensorSession(device: Self.south, id: "s2", holdsLock: false),
        ])
      #expect(try await persons.item("1").device?.mostRecentSessionId == "s1")
      try await journal.session(SensorSession(device: .north, id: nil, holdsLock: false))
      #expect(try await journal.unfinished().sessions.map(\.id) == ["s2"])
      // A session that is given back late is not the one that there is now.
      try await journal.forget(SensorSession(device: Self.south, id: "s1", holdsLock: true))
      #expect(try await journal.unfinished().sessions.map(\.id) == ["s2"])
      try await journal.forget(SensorSession(device: Self.south, id: "s2", holdsLock: true))
      #expect(try await journal.unfinished().sessions == [])
    }
    #expect(try file.file.findings() == [])
  }

  @Test func `operations are logged`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(), to: person.key)
      var entry = SensorLogEntry(
        device: .north, operation: .configure, startedAt: 1_600_000_000.25,
        elapsed: .milliseconds(125))
      try await journal.operation(entry)
      (entry.session, entry.item, entry.sequence) = ("s1", item.key, .connectConfigure)
      (entry.httpStatus, entry.status, entry.message) = (200, "badValue", "no")
      entry.badFields = ["submodality"]
      try await journal.operation(entry)
    }
    #expect(
      try file.file.rows("SELECT * FROM bio_op_log") == [
        "1|http://192.0.2.1:8000|NULL|NULL|configure|NULL|NULL|NULL|NULL|NULL|1600000000.25|0.125",
        "2|http://192.0.2.1:8000|s1|1|configure|connectConfigure|200|badValue|no"
          + #"|["submodality"]|1600000000.25|0.125"#,
      ])
    #expect(try file.file.findings() == [])
  }

  @Test func `many bytes come from a file and only bytes tell their type`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(), to: person.key)
      let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let content = SpooledBytes()
      try bytes.withUnsafeBytes { try content.append($0) }
      var download = SensorDownload("a", of: item)
      (download.content, download.contentType) = (content, "application/x-wsq")
      _ = try await journal.post(download)
      let stored = try await persons.files(of: item.key)
      #expect(stored.map(\.contentType) == ["application/x-wsq"])
      #expect(try await persons.content(of: stored[0]) == bytes)
      #expect(try await persons.item("1").contentType == "application/x-wsq")
    }
  }
}
