import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackWFS

/// MapServer over a GeoPackage, against that GeoPackage.
@Suite(.programs, .enabled(if: Programs.mapserv != nil, "\(Programs.noMapServer)"))
struct MapServerTests {
  private static let versions: [WFSVersion] = [.wfs11, .wfs20]

  /// A run of MapServer takes a fifth of a second, so each version has half of the conditions.
  @Test(arguments: versions)
  func `finds what the GeoPackage behind it finds`(version: WFSVersion) async throws {
    let peer = try await MapServerPeer(PeerLayers.survey())
    let (truth, store) = (try await peer.truth(), try peer.store(version))
    for (index, condition) in PeerLayers.conditions.enumerated()
    where index % 2 == (version == .wfs11 ? 0 : 1) {
      let query = Query("places", where: condition)
      #expect(
        try await PeerLayers.ids(store, query) == PeerLayers.ids(truth, query), "\(condition)")
    }
    let exact = Query("places", where: Column<Int64>("visits") > 3)
    #expect(try await store.count(exact) == truth.count(exact))
  }

  @Test(arguments: versions)
  func `gives features as they are`(version: WFSVersion) async throws {
    let peer = try await MapServerPeer(PeerLayers.survey())
    let (truth, store) = (try await peer.truth(), try peer.store(version))
    for query in [
      Query("areas").transformed(to: .wgs84), Query("areas"),
      Query("places").order(by: [Order("fid", descending: true)]).limit(3),
    ].prefix(version == .wfs11 ? 1 : 3) {
      let expected = try await PeerLayers.features(truth, query)
      let found = try await PeerLayers.features(store, query)
      #expect(found.count == expected.count)
      #expect(zip(found, expected).first { $0 != $1 } == nil)
    }
    let place = try #require(try await store.feature(77, in: "places"))
    #expect(place.geometry == .point(x: 10.625, y: 50.25))
    #expect(try await store.feature(777, in: "places") == nil)
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, "\(Programs.noOGR)"))
  func `counts as GDAL counts on the same server`() async throws {
    let peer = try await MapServerPeer(PeerLayers.survey())
    let found = try await Program.run(
      "ogrinfo", ["-ro", "-so", "-al", "WFS:\(peer.address)&VERSION=2.0.0"])
    let counts = found.output.split(separator: "\n").filter { $0.hasPrefix("Feature Count") }
    let own = try await peer.store(.wfs20).layers().map {
      "Feature Count: \($0.featureCount ?? -1)"
    }
    #expect(counts.map(String.init) == own)
  }

  @Test(.enabled(if: Programs.owslibPython != nil, "\(Programs.noOWSLibPython)"))
  func `counts as OWSLib counts on the same server`() async throws {
    let python = try #require(Programs.owslibPython)
    let script = """
      import sys
      from owslib.wfs import WebFeatureService
      import xml.etree.ElementTree as E
      service = WebFeatureService(sys.argv[1], version="2.0.0")
      for name in service.contents:
          root = E.fromstring(service.getfeature(typename=[name]).read())
          print(name, root.get("numberMatched"))
      """
    let peer = try await MapServerPeer(PeerLayers.survey())
    let found = try await Program.run(python, ["-c", script, peer.address])
    let own = try await peer.store(.wfs20).layers().map { "\($0.id) \($0.featureCount ?? -1)\n" }
    #expect(found.output == own.joined(), "\(found.error)")
  }
}
