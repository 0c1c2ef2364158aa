import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// Counts that GDAL and envelope arithmetic gave on SpatialConnect's own files.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct SpatialConnectDataTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ path: String) async throws -> Workspace {
    var options = SourceOptions()
    options.file.cache = .folder(folder.file("cache").path)
    return try await Workspace.open(
      source: SharedData.url("spatialconnect/" + path).path, options: options)
  }

  @Test(arguments: [
    ("ios-sdk/gz_2010_us_500_11_20m.json", EnvelopeRelation.within, [-80.0, 24, -66, 45], 97),
    ("ios-sdk/gz_2010_us_500_11_20m.json", .intersects, [-80, 24, -66, 45], 120),
    ("ios-sdk/gz_2010_us_500_11_20m.json", .disjoint, [-80, 24, -66, 45], 437 - 120),
    (
      "android-sdk/nola_polling_places.json", .intersects, [-90.08, 29.94, -90.04, 29.98], 27
    ),
    (
      "android-sdk/nola_polling_places-2space.json", .within, [-90.08, 29.94, -90.04, 29.98], 27
    ),
  ])
  func `boxes give the known counts`(
    file: String, relation: EnvelopeRelation, box: [Double], expected: Int
  ) async throws {
    let workspace = try await open(file)
    let envelope = Envelope(minX: box[0], minY: box[1], maxX: box[2], maxY: box[3])
    let query = Query("default", where: .envelope(relation, envelope, srs: .wgs84))
    #expect(try await workspace.count(query) == expected)
    await workspace.close()
  }

  /// By envelope arithmetic and vertex by vertex with shapely, in the order standard, memory, WFS.
  @Test(arguments: [
    ("haiti4mobile_syncable.gpkg", "linear_features", "-73, 18.5, -72.3, 19", [208, 244, 245]),
    ("haiti4mobile_syncable.gpkg", "polygon_features", "-73, 18.5, -72.3, 19", [538, 548, 548]),
    ("haiti4mobile_syncable.gpkg", "point_features", "-73, 18.5, -72.3, 19", [0, 0, 0]),
    ("haiti4mobile_syncable.gpkg", "linear_features", "-72.5, 18.4, -72.2, 18.7", [671, 689, 689]),
    (
      "haiti4mobile_syncable.gpkg", "polygon_features", "-72.5, 18.4, -72.2, 18.7", [780, 782, 782]
    ),
    ("gz_2010_us_500_11_20m.json", "default", "-80, 24, -66, 45", [97, 120, 120]),
    (
      "../android-sdk/nola_polling_places.json", "default", "-90.08, 29.94, -90.04, 29.98",
      [27, 27, 27]
    ),
  ])
  func `boxes of legacy filters give the counts of each meaning`(
    file: String, layer: String, box: String, counts: [Int]
  ) async throws {
    let workspace = try await open("ios-sdk/" + file)
    let json = #"{"$geocontains": [\#(box)], "layerIds": ["\#(layer)"], "limit": 1000}"#
    for (meaning, count) in zip(LegacyFilter.Meaning.allCases, counts) {
      let query = try LegacyFilter(json: json, meaning: meaning).query
      #expect(try await workspace.count(query) == count, "\(meaning)")
    }
    await workspace.close()
  }

  @Test(arguments: [
    ("ios-sdk/all.geojson", 7), ("examples/all-14-features.geojson", 14),
    ("ios-sdk/feature.json", 4), ("ios-sdk/simple.json", 1),
    ("ios-sdk/gz_2010_us_500_11_20m.json", 437), ("android-sdk/nola_polling_places.json", 128),
  ])
  func `files have their features, with keys that hold`(file: String, count: Int) async throws {
    var keys: [[KeyTuple?]] = []
    for _ in 0..<2 {
      let workspace = try await open(file)
      var found: [KeyTuple?] = []
      for try await feature in try await workspace.query(Query()).features {
        found.append(feature.key)
      }
      keys.append(found)
      await workspace.close()
    }
    #expect(keys[0].count == count)
    #expect(Set(keys[0]).count == count)
    #expect(keys[0] == keys[1])
  }

  @Test func `a wrong bbox member is not believed`() async throws {
    let workspace = try await open("ios-sdk/all.geojson")
    let envelope = Envelope(minX: 46, minY: 45, maxX: 47, maxY: 46)
    #expect(try await workspace.count(Query(where: .intersects(envelope))) >= 1)
    await workspace.close()
  }

  /// The stores of each config in order, and whether each one opens.
  @Test(arguments: [
    ("ios-sdk/tests.scfg", 7), ("ios-sdk/remote.scfg", 0), ("ios-sdk/tests-old1.scfg", 6),
    ("ios-sdk/tests-old2.scfg", 2), ("ios-sdk/remote-string-url.scfg", 0),
    ("android-sdk/config.scfg", 3), ("android-sdk/remote.scfg", 3),
    ("android-sdk/scconfig_local.json", 4), ("android-sdk/exchange_remote.json", 0),
    ("android-sdk/scconfig-old.json", 2), ("examples/tests.scfg", 3),
    ("mobile/remote-full.scfg", 7),
  ])
  func `every config opens, whatever its stores do`(file: String, stores: Int) async throws {
    let workspace = try await open(file)
    #expect(workspace.members.count == stores)
    for member in workspace.members {
      guard case .failed(let error) = member.state else { continue }
      #expect(error.location.store == member.id)
      #expect(
        [.unavailable, .configuration, .notFound, .permission].contains(error.code),
        "\(member.id): \(error)")
    }
    await workspace.close()
  }
}
