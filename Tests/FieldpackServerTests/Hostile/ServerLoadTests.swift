import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Many clients that read beside somebody who writes.
  ///
  /// `FIELDPACK_LOAD=60` asks for 256 connections and so many seconds.
  @Suite(.serialized) struct ServerLoadTests {
    private static let seconds = ProcessInfo.processInfo.environment["FIELDPACK_LOAD"]
      .flatMap { Int($0) }

    private static let paths = [
      "/collections/wells/items?limit=1000", "/collections/wells/items?bbox=1,0,90,90&limit=500",
      "/collections/wells/items/7", "/collections/wells", "/",
      "/collections/wells/items?f=geojsonl",
      "/collections/wells/tiles/WebMercatorQuad/0/0/0",
      "/collections/wells/items?filter=depth%3E=0&sortby=-seen&limit=300",
    ]

    /// What readers have seen.
    private final class Seen: Sendable {
      let answers = Locked(0)
      let faults = Locked<[String]>([])
    }

    /// Each commit gives all wells the name of its round.
    private func write(_ round: Int, _ server: TestServer, wells: Int) async throws {
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        for id in 1...wells {
          try writer.update(
            .integer(Int64(id)), in: "wells", set: ["name": .text("round \(round)")])
        }
      }
    }

    private func read(_ path: String, _ server: TestServer, _ seen: Seen) async throws {
      let answer = try await server.get(path)
      seen.answers.withLock { $0 += 1 }
      if answer.status >= 500 { seen.faults.withLock { $0.append("\(path): \(answer.status)") } }
      let names = Set(answer.text.matches(of: #/"name":"([^"]*)"/#).map { String($0.output.1) })
      if names.count > 1 { seen.faults.withLock { $0.append("\(path): \(names)") } }
    }

    private var openFiles: Int {
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    @Test func `each page is of one state, and none fails beside a writer`() async throws {
      let (clients, wells) = (Self.seconds == nil ? 16 : 256, 1_000)
      if Self.seconds != nil { OpenFiles.allowMost() }
      let server = try await TestServer(wells: wells, connections: clients)
      try await write(0, server, wells: wells)
      let seen = Seen()
      let end = Self.seconds.map { ContinuousClock.now + .seconds($0) }
      let isOver = Locked(false)
      let wal = server.store.path + "-wal"
      var files: [Int] = []
      var longest = 0
      try await withThrowingTaskGroup(of: Void.self) { group in
        for client in 0..<clients {
          group.addTask {
            var turn = client
            // In small each client asks for everything twice.
            while end.map({ ContinuousClock.now < $0 }) ?? (turn - client < 2 * Self.paths.count) {
              try await self.read(Self.paths[turn % Self.paths.count], server, seen)
              turn += 1
            }
          }
        }
        let writer = Task {
          var round = 1
          var sizes: [(wal: Int, files: Int)] = []
          while !isOver.withLock({ $0 }) {
            try await self.write(round, server, wells: wells)
            round += 1
            let attributes = try? FileManager.default.attributesOfItem(atPath: wal)
            sizes.append((attributes?[.size] as? Int ?? 0, self.openFiles))
          }
          return sizes
        }
        try await group.waitForAll()
        isOver.withLock { $0 = true }
        let sizes = try await writer.value
        longest = sizes.map(\.wal).max() ?? 0
        files = sizes.map(\.files)
      }
      #expect(seen.faults.withLock { $0 } == [])
      #expect(longest <= 64 << 20)
      if Self.seconds != nil {
        // The second half of the time needs no more than the first.
        let half = files.count / 2
        let (before, after) = (files[..<half].max() ?? 0, files[half...].max() ?? 0)
        #expect(after <= before + 8)
        print("answers \(seen.answers.withLock { $0 }), WAL \(longest), files \(before) \(after)")
      }
      await server.close()
    }
  }
#endif
