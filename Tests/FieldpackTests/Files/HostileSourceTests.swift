import Fieldpack
import FieldpackTestSupport
import Foundation
import Testing

/// Hostile files as sources of fixes: an error with its line, and nothing lost where errors are
/// skipped.
@Suite struct HostileSourceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let head = "<?xml version=\"1.0\"?>\n<gpx version=\"1.1\" creator=\"t\">\n"
  private static let good = "<wpt lat=\"1\" lon=\"2\"/>\n"

  /// A name, the text, the line of the error, its message's beginning, and how many fixes are left
  /// where errors are skipped; `nil` where the file cannot be read any further.
  static let hostile: [(String, String, Int, String, Int?)] = [
    (
      "entities",
      "<?xml version=\"1.0\"?>\n<!DOCTYPE gpx [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]>\n"
        + "<gpx version=\"1.1\"><wpt lat=\"&b;\" lon=\"2\"/></gpx>", 2, "", nil
    ),
    ("depth", head + good + String(repeating: "<wpt>", count: 1000), 4, "", nil),
    (
      "nan", head + good + "<wpt lat=\"NaN\" lon=\"2\"/>\n" + good + "</gpx>", 4,
      "lat 'NaN' of wpt is not a number from -90 to 90", 2
    ),
    (
      "range", head + good + "<wpt lat=\"1\" lon=\"1e308\"/>\n" + good + "</gpx>", 4,
      "lon '1e308' of wpt is not a number from -180 to 180", 2
    ),
    ("cut", head + good + "<wpt lat=\"1\" lo", 4, "", 1),
    ("other", "<kml/>", 1, "not a GPX file: its root element is 'kml'", nil),
  ]

  private func replay(
    _ path: String, skipsErrors: Bool
  ) async -> (fixes: Int, report: QueryReport?, failure: FieldpackError?) {
    var options = FileStore.Options()
    options.format = .gpx
    options.cache = .private
    options.importing.skipsErrors = skipsErrors
    do throws(FieldpackError) {
      let store = try await FileStore(path: path, id: "walk", options: options)
      let source = ReplaySource(store, layer: try await ReplaySource.layer(of: store))
      var fixes = 0
      for try await batch in source.updates() { fixes += batch.count }
      return (fixes, source.report, nil)
    } catch {
      return (0, nil, error)
    }
  }

  @Test(arguments: hostile.indices)
  func `hostile GPX is an error with its line`(index: Int) async throws {
    let (name, text, line, message, left) = Self.hostile[index]
    let path = try folder.write(text, to: "\(name).gpx").path
    let failure = await replay(path, skipsErrors: false).failure
    #expect(failure?.code == .invalidData)
    #expect(failure?.position?.file == path)
    #expect(failure?.position?.line == line)
    #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
    let skipping = await replay(path, skipsErrors: true)
    #expect((skipping.failure == nil) == (left != nil))
    #expect(skipping.fixes == left ?? 0)
  }

  @Test func `an attribute of 100 MB is an error with its line`() async throws {
    let file = try folder.write(Self.head + Self.good + "<wpt lat=\"", to: "long.gpx")
    let handle = try FileHandle(forWritingTo: file)
    try handle.seekToEnd()
    for _ in 0..<100 { try handle.write(contentsOf: Data(repeating: 0x31, count: 1 << 20)) }
    try handle.write(contentsOf: Data("\" lon=\"2\"/></gpx>".utf8))
    try handle.close()
    let failure = await replay(file.path, skipsErrors: false).failure
    #expect(failure?.code == .invalidData)
    #expect(failure?.position?.line == 4)
  }

  /// The bad files of `real/gpx-bad`: the line of the error, `nil` where they are read, and the fixes
  /// where errors are skipped.
  static let bad: [(String, Int?, Int)] = [
    ("d_comma.gpx", 2, 1), ("d_entities.gpx", 1, 0), ("d_lat_range.gpx", 2, 1),
    ("d_no_lon.gpx", 2, 1), ("d_not_gpx.gpx", 1, 0), ("d_prefixed.gpx", nil, 2),
    ("d_time_backwards.gpx", nil, 2), ("d_truncated.gpx", 2, 1),
  ]

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)), arguments: bad)
  func `bad files of other makers are replayed or refused with their line`(
    name: String, line: Int?, fixes: Int
  ) async throws {
    let path = SharedData.url("real/gpx-bad/\(name)").path
    let strict = await replay(path, skipsErrors: false)
    #expect(strict.failure?.position?.line == line)
    #expect(strict.fixes == (line == nil ? fixes : 0))
    #expect(await replay(path, skipsErrors: true).fixes == fixes)
  }
}
