import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

#if Server
  /// A server that is killed while clients edit loses nothing that it has acknowledged. 5 kills, or as many as
  /// `FIELDPACK_KILLS` says.
  @Suite(.serialized, .programs) struct ServeKillTests {
    private static let kills =
      ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 5

    /// The names of the features that were acknowledged, by their ids.
    private typealias Acknowledged = Locked<[String: String]>

    @Test func `each edit that was acknowledged is there after a kill`() async throws {
      let survey = try SurveyFolder()
      _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
      _ = try await survey.run("log", "enable", "field.gpkg:wells")
      let acknowledged = Acknowledged([:])
      for round in 0..<Self.kills {
        let before = acknowledged.withLock { $0.count }
        let program = try Program(
          Tool.path,
          ["serve", "field.gpkg", "--writable", "--author", "Ada", "--listen", "127.0.0.1:0"],
          folder: survey.folder.url)
        let address = try program.servedAddress()
        await withTaskGroup(of: Void.self) { group in
          for client in 0..<3 {
            group.addTask {
              await Self.create("\(round)-\(client)", at: address, acknowledged)
            }
          }
          group.addTask {
            // Not before something is acknowledged that could be lost.
            while acknowledged.withLock({ $0.count }) == before { usleep(200) }
            usleep(UInt32.random(in: 0...60_000))
            program.send(SIGKILL)
          }
        }
        #expect(try await program.result().status == 128 + SIGKILL)
      }
      try await Self.check(survey, acknowledged.withLock { $0 })
    }

    /// Creates features until the server is gone.
    private static func create(
      _ client: String, at address: String, _ acknowledged: Acknowledged
    ) async {
      guard let http = try? HTTPClient() else { return }
      for number in 0... {
        let name = "\(client)-\(number)"
        let body =
          #"{"type":"Feature","geometry":{"type":"Point","coordinates":[13,\#(number % 90)]},"#
          + #""properties":{"name":"\#(name)"}}"#
        let request = HTTPRequest(
          .post, address + "collections/wells/items",
          fields: ["Content-Type": "application/geo+json"], body: .bytes(Array(body.utf8)))
        guard let answer = try? await http.send(request), answer.status == 201,
          let id = answer.fields["Location"]?.split(separator: "/").last
        else { return }
        acknowledged.withLock { $0[String(id)] = name }
      }
    }

    private static func check(
      _ survey: SurveyFolder, _ acknowledged: [String: String]
    ) async throws {
      #expect(acknowledged.count >= kills)
      let found = try await survey.run(
        "sql", "field.gpkg", "SELECT fid || '=' || name FROM wells WHERE fid > 12", "--format",
        "csv")
      let rows = Set(found.output.split(whereSeparator: \.isNewline).map(String.init))
      let lost = acknowledged.map { "\($0.key)=\($0.value)" }.filter { !rows.contains($0) }
      #expect(lost == [], "\(found)")
      // Each feature is in the log once, by its author, and in the index.
      let counts = try await survey.run(
        "sql", "field.gpkg",
        "SELECT (SELECT count(*) FROM wells) - 2 = (SELECT count(*) FROM wells_audit "
          + "WHERE audit_op = 1 AND author = 'Ada') AND (SELECT count(*) FROM wells) "
          + "= (SELECT count(*) FROM rtree_wells_geom) AS whole", "--format", "csv")
      #expect(counts.output == "whole\r\n1\r\n", "\(counts)")
      let check = try await survey.run("check", "field.gpkg")
      #expect(check.status == 0, "\(check)")
    }
  }
#endif
