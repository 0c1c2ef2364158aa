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

  private static let places = Schema(
    layer: "places", geometry: GeometryColumn(type: .point),
    columns: [
      ColumnDefinition("name", .text()), ColumnDefinition("visits", .integer),
      ColumnDefinition("depth", .double),
    ])
  private static let areas = Schema(
    layer: "areas", geometry: GeometryColumn(type: .polygon, srs: SRS("EPSG", 25833)),
    columns: [ColumnDefinition("name", .text())])

  /// 130 points on a grid of eighths, so that the six digits of MapServer are all of them.
  private static func layers() -> [(Schema, [Feature])] {
    let names = ["Porto", "porto", "a%b", "Größe", "x y", "Zoo"]
    let points = (1...130).map { number in
      Feature(
        id: .integer(Int64(number)),
        geometry: .point(x: 10 + Double(number % 36) / 8, y: 50 + Double(number / 36) / 8),
        attributes: [
          "name": .text(names[number % names.count]),
          "visits": number % 7 == 0 ? .null : .integer(Int64(number % 11)),
          "depth": .real(Double(number % 13) / 10),
        ])
    }
    let squares = (1...12).map { number in
      let (x, y) = (390_000 + Double(number) * 1000, 5_820_000 + Double(number % 3) * 1000)
      let ring = [(x, y), (x + 500, y), (x + 500, y + 500), (x, y + 500), (x, y)]
      return Feature(
        id: .integer(Int64(number)),
        geometry: .polygon(
          [CoordinateSequence(ring.map { Position(x: $0.0, y: $0.1) }, dimensions: .xy)], .xy),
        attributes: ["name": .text("area \(number)")])
    }
    return [(places, points), (areas, squares)]
  }

  private static let conditions: [Filter] = [
    .all, Column<Int64>("visits") > 3, Column<Int64>("visits") != 2,
    !(Column<Int64>("visits") == 2), Column<Int64>("visits").isNull,
    !Column<Int64>("visits").isNull, Column<Double>("depth") == 0.3,
    Column<Double>("depth") < 0.3, Column<Double>("depth").between(0.1, 0.3),
    Column<String>("name") == "Porto", Column<String>("name").like("P%o"),
    Column<String>("name").like("a\\%b"), Column<String>("name").like("Gr__e"),
    Column<String>("name").isIn(["x y", "Zoo"]), Column<Int64>("visits").isIn([1, 2, 3]),
    .intersects(Envelope(minX: 11, minY: 51, maxX: 12, maxY: 52)),
    !.intersects(Envelope(minX: 11, minY: 51, maxX: 12, maxY: 52)),
    .intersects(
      Envelope(minX: 300_000, minY: 5_600_000, maxX: 400_000, maxY: 5_800_000),
      srs: SRS("EPSG", 25833)),
    .intersects(
      .polygon(
        [
          CoordinateSequence(
            [(11, 51), (13, 51), (12, 53), (11, 51)].map { Position(x: $0.0, y: $0.1) },
            dimensions: .xy)
        ], .xy)),
    .isWithin(20_000, of: .point(x: 11.5, y: 51.5)),
    .intersects(Envelope(minX: 11, minY: 51, maxX: 12, maxY: 52))
      && (Column<Int64>("visits") >= 5 || Column<String>("name") == "Zoo"),
  ]

  /// A run of MapServer takes a fifth of a second, so each version has half of the conditions.
  @Test(arguments: versions)
  func `finds what the GeoPackage behind it finds`(version: WFSVersion) async throws {
    let peer = try await MapServerPeer(Self.layers())
    let (truth, store) = (try await peer.truth(), try peer.store(version))
    for (index, condition) in Self.conditions.enumerated()
    where index % 2 == (version == .wfs11 ? 0 : 1) {
      let query = Query("places", where: condition)
      #expect(try await Self.ids(store, query) == Self.ids(truth, query), "\(condition)")
    }
    let exact = Query("places", where: Column<Int64>("visits") > 3)
    #expect(try await store.count(exact) == truth.count(exact))
  }

  @Test(arguments: versions)
  func `gives features as they are`(version: WFSVersion) async throws {
    let peer = try await MapServerPeer(Self.layers())
    let (truth, store) = (try await peer.truth(), try peer.store(version))
    for query in [
      Query("areas").transformed(to: .wgs84), Query("areas"),
      Query("places").order(by: [Order("fid", descending: true)]).limit(3),
    ].prefix(version == .wfs11 ? 1 : 3) {
      let expected = try await Self.features(truth, query)
      let found = try await Self.features(store, query)
      #expect(found.count == expected.count)
      #expect(zip(found, expected).first { $0 != $1 } == nil)
    }
    let place = try #require(try await store.feature(77, in: "places"))
    #expect(place.geometry == .point(x: 10.625, y: 50.25))
    #expect(try await store.feature(777, in: "places") == nil)
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, "\(Programs.noOGR)"))
  func `counts as GDAL counts on the same server`() async throws {
    let peer = try await MapServerPeer(Self.layers())
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
    let peer = try await MapServerPeer(Self.layers())
    let found = try await Program.run(python, ["-c", script, peer.address])
    let own = try await peer.store(.wfs20).layers().map { "\($0.id) \($0.featureCount ?? -1)\n" }
    #expect(found.output == own.joined(), "\(found.error)")
  }

  private static func ids(_ store: any Store, _ query: Query) async throws -> [FeatureID] {
    var ids: [FeatureID] = []
    for try await batch in try await store.query(query) { ids += batch.ids }
    return ids
  }

  /// The features without the names of their layers, which have a prefix in version 2.0.0.
  private static func features(_ store: any Store, _ query: Query) async throws -> [Feature] {
    var features: [Feature] = []
    for try await feature in try await store.query(query).features {
      features.append(
        Feature(id: feature.id, geometry: feature.geometry, attributes: feature.attributes))
    }
    return features
  }
}
