import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

/// The configs of SpatialConnect's own repositories, three generations of them.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct ConfigFilesTests {
  struct Expected: Sendable, CustomStringConvertible {
    var file: String
    /// Type identifiers, in order.
    var stores: [String] = []
    var forms = 0
    var hasRemote = false
    var diagnostics: [String] = []
    var description: String { file }
  }

  static let files: [Expected] = [
    Expected(
      file: "ios-sdk/tests.scfg",
      stores: [
        "geojson.1", "geojson.1", "geojson.1", "gpkg.1", "gpkg.1", "wfs.1.1.0", "geojson.1",
      ], forms: 1),
    Expected(file: "ios-sdk/remote.scfg", hasRemote: true),
    Expected(file: "ios-sdk/remote-string-url.scfg", hasRemote: true),
    Expected(
      file: "ios-sdk/tests-old1.scfg",
      stores: ["geojson.1", "geojson.1", "geojson.1", "gpkg.1", "gpkg.1", "wfs.1.1.0"]),
    Expected(
      file: "ios-sdk/tests-old2.scfg", stores: ["geojson.1", "geojson.1"],
      diagnostics: ["7:1: note: 'isMainBundle' has no effect"]),
    Expected(
      file: "android-sdk/config.scfg", stores: ["geojson.1", "gpkg.1", "gpkg.1"], forms: 1,
      diagnostics: ["43:17: warning: the 'version' of form 'baseball_team' is not above 0"]),
    Expected(
      file: "android-sdk/remote.scfg", stores: ["gpkg.1", "gpkg.1", "wfs.1.1.0"], hasRemote: true),
    Expected(
      file: "android-sdk/scconfig-old.json", stores: ["gpkg.1", "geojson.1"],
      diagnostics: ["13:7: note: 'isInApp' has no effect"]),
    Expected(
      file: "android-sdk/scconfig_local.json",
      stores: ["geojson.1", "gpkg.1", "gpkg.1", "wfs.1.1.0"], forms: 1,
      diagnostics: ["39:17: warning: the 'version' of form 'baseball_team' is not above 0"]),
    Expected(file: "android-sdk/exchange_remote.json", hasRemote: true),
    Expected(
      file: "examples/tests.scfg", stores: ["geojson.1", "gpkg.1", "gpkg.1"],
      diagnostics: ["7:1: note: 'isMainBundle' has no effect"]),
    Expected(
      file: "mobile/remote-full.scfg",
      stores: [
        "geojson.1", "geojson.1", "geojson.1", "gpkg.1", "gpkg.1", "wfs.1.1.0", "geojson.1",
      ], forms: 4, hasRemote: true),
  ]

  @Test(arguments: files) func `every config of the field is read`(expected: Expected) throws {
    let url = SharedData.url("spatialconnect/" + expected.file)
    let config = try WorkspaceConfig([url.path])
    #expect(config.stores.map(\.typeIdentifier) == expected.stores)
    #expect(config.forms.count == expected.forms)
    #expect((config.remote != nil) == expected.hasRemote)
    #expect(
      config.diagnostics.map { "\($0)".replacing(url.path + ":", with: "") }
        == expected.diagnostics)
    #expect(config.documents.map { Data($0.bytes) } == [try Data(contentsOf: url)])
  }

  @Test func `stores carry what their entry says`() throws {
    let url = SharedData.url("spatialconnect/ios-sdk/tests.scfg")
    let config = try WorkspaceConfig([url.path])
    let wfs = config.stores[5]
    #expect(wfs.id == "0f193979-b871-47cd-b60d-e271d6504359")
    #expect(wfs.name == "WFS Demo")
    #expect(wfs.defaultLayers == ["spatialconnect:baseball_team"])
    #expect(wfs.position == FilePosition(file: url.path, line: 38, column: 1))
    let feed = config.stores[6]
    #expect(feed.defaultLayers == [] && feed.options == nil && feed.unknown == [])
    let paint = feed.style?.elements.first?["paint"]
    #expect(paint?["fill-color"]?.text == "#ff0000")
    #expect(paint?["fill-opacity"]?.content == .number("0.5"))
  }

  @Test func `each store says why it cannot be opened`() throws {
    let config = try WorkspaceConfig([SharedData.url("spatialconnect/ios-sdk/tests.scfg").path])
    let states = config.stores.map { store -> String in
      do throws(FieldpackError) {
        return try store.localFile().lastPathComponent
      } catch {
        return "\(error.code): \(error.message)"
      }
    }
    #expect(
      states == [
        "all.geojson", "gz_2010_us_500_11_20m.json",
        "unavailable: not downloaded yet "
          + "(https://s3.amazonaws.com/test.spacon/bars.geojson)",
        "unavailable: not downloaded yet "
          + "(https://s3.amazonaws.com/test.spacon/haiti4mobile.gpkg)",
        "unavailable: not downloaded yet "
          + "(https://portal.opengeospatial.org/files/63156)",
        "unavailable: not downloaded yet "
          + "(http://efc-dev.boundlessgeo.com:8080/geoserver/wfs)",
        "unavailable: not downloaded yet "
          + "(http://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/all_hour.geojson)",
      ])
  }

  @Test func `two generations merge and the last loaded wins`() throws {
    let names = ["tests-old2.scfg", "tests.scfg"]
    let urls = names.map { SharedData.url("spatialconnect/ios-sdk/" + $0) }
    let config = try WorkspaceConfig(urls.map(\.path))
    #expect(config.stores.count == 7)
    #expect(config.stores.allSatisfy { $0.position?.file == urls[1].path })
    #expect(
      config.diagnostics.map { "\($0.line):\($0.column): \($0.severity)" }
        == ["7:1: note", "3:1: warning", "10:1: warning"])
    #expect(
      config.diagnostics[1].message
        == "store '63602599-3ad3-439f-9c49-3c8a7579933b' replaces the one of the same id at "
        + "\(urls[0].path):3:1")
  }
}
