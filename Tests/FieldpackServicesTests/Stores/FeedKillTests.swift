import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that polls a feed and is killed leaves one whole version. 20 kills, or as many as
/// `FIELDPACK_KILLS` says.
@Suite(.serialized, .programs) struct FeedKillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 20

  private static func version(_ number: Int) -> String {
    let features = (0..<200).map { id in
      #"{"type":"Feature","id":\#(id),"properties":{"version":\#(number)},"#
        + #""geometry":{"type":"Point","coordinates":[\#(id % 180),2]}}"#
    }
    return #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
  }

  @Test func `a program that polls and is killed leaves one whole version`() async throws {
    let folder = try TemporaryFolder()
    let served = Locked<Set<String>>([])
    let server = try LoopbackServer { _ in
      served.withLock { served in
        let text = Self.version(served.count)
        served.insert(text)
        return .text(200, text)
      }
    }
    let config = try folder.write(
      #"{"stores":[{"id":"a","store_type":"geojson","version":"1","uri":"\#(server.address)","#
        + #""options":{"polling":600}}]}"#, to: "survey.scfg")
    let file = folder.file("survey.stores/a.geojson")
    for _ in 0..<Self.kills {
      let program = try Program(
        Tool.built("FieldpackTestSubject"), ["poll", config.path],
        environment: ["TMPDIR": folder.url.path])
      try program.block(for: "its first poll") { !program.outputSoFar.isEmpty }
      usleep(UInt32.random(in: 0...40_000))
      program.destroy()
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(served.withLock { $0.contains(text) })
    }
    #expect(served.withLock { $0.count } > Self.kills)
    var options = FileStore.Options()
    options.cache = .private
    let store = try await FileStore(path: file.path, id: "a", options: options)
    #expect(try await store.count(Query()) == 200)
    await store.close()
  }
}
