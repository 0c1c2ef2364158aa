import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Readers, writers, other programs and full disks.
@Suite(.programs) struct ConcurrencyTests {
  private static let wells = Schema(
    layer: "wells", geometry: GeometryColumn(type: .point),
    columns: [ColumnDefinition("n", .integer), ColumnDefinition("text", .text())])

  private func package(_ count: Int) async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Self.wells)
        for index in 0..<count {
          try writer.create(Self.well(index, round: 0), in: "wells")
        }
      }
    }
    return package
  }

  private static func well(_ index: Int, round: Int64) -> Feature {
    Feature(
      geometry: .point(x: Double(index % 100), y: Double(index / 100)),
      attributes: ["n": .integer(round)])
  }

  private func code(_ body: () async throws -> Void) async -> FieldpackError.Code? {
    await thrown(body)?.code
  }

  @Test func `lets eight readers and a writer work at once, each on one state`() async throws {
    let package = try await package(2500)
    let store = try await package.store()
    _ = try await store.write { (writer) throws(FieldpackError) in
      try writer.create(Self.well(1, round: 0), in: "wells")
    }
    let isWritten = Locked(false)
    let scans = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var scans = 0
          repeat {
            var seen: Set<Int64> = []
            var count = 0
            for try await batch in try await store.query(Query("wells")) {
              for index in 0..<batch.count { seen.insert(batch[index].integer(at: 0)) }
              count += batch.count
            }
            #expect(seen.count == 1 && count == 2501, "\(seen) \(count)")
            scans += 1
          } while !isWritten.withLock { $0 }
          return scans
        }
      }
      group.addTask {
        defer { isWritten.withLock { $0 = true } }
        for round: Int64 in 1...8 {
          let value = Value.integer(round)
          try await store.write { (writer) throws(FieldpackError) in
            for id in 1...2501 {
              try writer.update(.integer(Int64(id)), in: "wells", set: ["n": value])
            }
          }
        }
        return 1
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(scans.allSatisfy { $0 > 0 }, "\(scans)")
    #expect(try await store.count(Query("wells", where: Column<Int64>("n") == 8)) == 2501)
    await store.close()
    #expect(try package.names() == ["survey.gpkg"])
    #expect(try package.rows("PRAGMA journal_mode") == ["delete"])
    #expect(try package.faults() == [])
  }

  @Test(arguments: ["delete", "truncate", "persist", "wal"])
  func `leaves the journal mode as it was`(mode: String) async throws {
    let package = try await package(10)
    let set = try package.rows("PRAGMA journal_mode = \(mode)")
    #expect(set == [mode])
    let names = try package.names()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(1, in: "wells", set: ["n": 7])
      }
      #expect(try await store.count(Query("wells", where: Column<Int64>("n") == 7)) == 1)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: package.path))[18] == (mode == "wal" ? 2 : 1))
    #expect(try package.names() == names)
  }

  @Test func `waits with the first write until queries are read`() async throws {
    let package = try await package(3000)
    let change: @Sendable (GeoPackageWriter) throws(FieldpackError) -> Void = {
      (writer) throws(FieldpackError) in try writer.delete(1, in: "wells")
    }
    let hasty = try await GeoPackageStore(
      path: package.path, id: "survey", busyTimeout: .milliseconds(30))
    let first = try await hasty.query(Query()).makeAsyncIterator()
    #expect(try await first.next()?.count == 1024)
    #expect(await code { try await hasty.write(change) } == .busy)
    withExtendedLifetime(first) {}
    await hasty.close()
    let store = try await GeoPackageStore(
      path: package.path, id: "survey", busyTimeout: .seconds(3600))
    var iterator: FeatureBatches.Iterator? = try await store.query(Query()).makeAsyncIterator()
    #expect(try await iterator?.next()?.count == 1024)
    let isWritten = Locked(false)
    async let written: Void = {
      try await store.write(change)
      isWritten.withLock { $0 = true }
    }()
    try await Task.sleep(for: .milliseconds(30))
    #expect(!isWritten.withLock { $0 })
    iterator = nil
    try await written
    // From now on the file is in WAL mode, and nobody waits.
    let second = try await store.query(Query()).makeAsyncIterator()
    var count = try await second.next()?.count ?? 0
    try await store.write { (writer) throws(FieldpackError) in try writer.delete(2, in: "wells") }
    while let batch = try await second.next() { count += batch.count }
    #expect(count == 2999)
    await store.close()
    #expect(try package.names() == ["survey.gpkg"])
  }

  /// Another program that has begun a transaction, and ends when it is let go.
  private func holder(_ begin: String, _ package: TestPackage) async throws -> Program {
    let (ready, done) = (package.folder.file("ready").path, package.folder.file("done").path)
    let script = """
      \(begin);
      .shell touch \(ready)
      .shell while [ ! -e \(done) ]; do sleep 0.01; done
      """
    let program = try Program(
      Programs.sqlite3 ?? "", [package.path], input: Data((script + "\n").utf8))
    while !FileManager.default.fileExists(atPath: ready) {
      try await Task.sleep(for: .milliseconds(5))
    }
    return program
  }

  private func letGo(_ package: TestPackage) {
    _ = FileManager.default.createFile(atPath: package.folder.file("done").path, contents: nil)
  }

  @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
  func `says that another program holds the lock, after the timeout`() async throws {
    let package = try await package(10)
    let other = try await holder("BEGIN EXCLUSIVE", package)
    let start = ContinuousClock.now
    let reading = await code {
      let store = try await GeoPackageStore(
        path: package.path, id: "survey", busyTimeout: .milliseconds(200))
      await store.close()
    }
    let elapsed = ContinuousClock.now - start
    #expect(reading == .busy)
    #expect(elapsed >= .milliseconds(200))
    // The bulk writer waits longer, until the other program is done.
    let done = package.folder.file("done").path
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.1)
      _ = FileManager.default.createFile(atPath: done, contents: nil)
    }
    #expect(await code { try await onThread { try package.append(3, to: "wells") } } == nil)
    _ = try await other.result()
    #expect(try package.faults() == [])
  }

  @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
  func `reads while another program writes, and fails to write`() async throws {
    let package = try await package(10)
    let store = try await GeoPackageStore(
      path: package.path, id: "survey", busyTimeout: .milliseconds(100))
    let other = try await holder("BEGIN IMMEDIATE", package)
    #expect(try await store.count(Query("wells")) == 10)
    let change: @Sendable (GeoPackageWriter) throws(FieldpackError) -> Void = {
      (writer) throws(FieldpackError) in try writer.delete(1, in: "wells")
    }
    #expect(await code { try await store.write(change) } == .busy)
    letGo(package)
    _ = try await other.result()
    try await store.write(change)
    #expect(try await store.count(Query("wells")) == 9)
    await store.close()
  }

  @Test(arguments: [true, false])
  func `leaves the file as it was when the disk is full`(usesWAL: Bool) async throws {
    let package = try await package(100)
    let before = try Data(contentsOf: URL(fileURLWithPath: package.path))
    let long = Value.text(String(repeating: "x", count: 100_000))
    let store = try await GeoPackageStore(path: package.path, id: "survey", usesWAL: usesWAL)
    try await store.limitPages(to: 40)
    let failed = await code {
      try await store.write { (writer) throws(FieldpackError) in
        for index in 0..<100 {
          var well = Self.well(index, round: 1)
          well.attributes["text"] = long
          _ = try writer.create(well, in: "wells")
        }
      }
    }
    #expect(failed == .full)
    #expect(try await store.count(Query("wells", where: Column<Int64>("n") == 0)) == 100)
    await store.close()
    #expect(try package.rows("SELECT count(*) FROM wells") == ["100"])
    #expect(try package.names() == ["survey.gpkg"])
    #expect(try package.faults() == [])
    if !usesWAL { #expect(try Data(contentsOf: URL(fileURLWithPath: package.path)) == before) }
  }

  @Test func `stops a long query when its task is cancelled`() async throws {
    let package = try await package(1)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(layer: "lines", geometry: GeometryColumn(type: .lineString)))
        for _ in 0..<300 {
          try writer.create(Feature(geometry: Self.zigzag(turned: true)), in: "lines")
        }
      }
    }
    let store = try await package.store()
    let filter = Filter.relation(.overlaps, Self.zigzag(turned: false))
    let task = Task { try await store.count(Query("lines", where: filter)) }
    try await Task.sleep(for: .milliseconds(100))
    task.cancel()
    let result = await task.result
    #expect(throws: FieldpackError.self) { try result.get() }
    if case .failure(let error) = result {
      #expect((error as? FieldpackError)?.code == .interrupted)
    }
    #expect(try await store.count(Query("lines")) == 300)
    await store.close()
  }

  /// Two of these, one turned, cross at each of their segments.
  private static func zigzag(turned: Bool) -> Geometry {
    let ordinates = (0..<300).flatMap { index in
      let (along, across) = (Double(index) * 0.1, index % 2 == 0 ? 0.0 : 30.0)
      return turned ? [across, along] : [along, across]
    }
    return .lineString(CoordinateSequence(dimensions: .xy, ordinates: ordinates))
  }
}
