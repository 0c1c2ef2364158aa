import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackStoreKit
import FieldpackTestSupport
import Testing

@testable import FieldpackWFS

/// QGIS Server over GeoPackages, against these. It speaks version 1.1.0.
@Suite(
  .programs, .enabled(if: Programs.qgisServer != nil, "\(Programs.noQGISServer)"), .qgisServer,
  .serialized)
struct QGISServerTests {
  private static let wells = Schema(
    layer: "wells", geometry: GeometryColumn(type: .point),
    columns: [
      ColumnDefinition("name", .text()), ColumnDefinition("visits", .integer),
      ColumnDefinition("depth", .double), ColumnDefinition("open", .boolean),
      ColumnDefinition("dug", .date),
    ])

  private static func well(_ number: Int) -> Feature {
    Feature(
      id: .integer(Int64(number)), geometry: .point(x: Double(number), y: 50),
      attributes: [
        "name": .text("w\(number)"), "visits": .integer(Int64(number)), "depth": 1.5,
        "open": true, "dug": .date(CalendarDate("2024-05-06")!),
      ])
  }

  private func project(
    _ name: String, _ layers: [(Schema, [Feature])],
    rights: [String] = ["Insert", "Update", "Delete"]
  ) async throws -> (store: WFSStore, truth: GeoPackageStore) {
    try await #require(QGISServer.peer).project(name, layers, rights: rights)
  }

  @Test func `reads as a store`() async throws {
    let layers = StoreConformance.layers.map {
      ($0, StoreConformance.features(of: $0.layer))
    }
    let (served, _) = try await project("read", layers)
    for behaviour in StoreConformance.reading {
      let store = try WFSStore(
        address: served.service.base.plainURL, id: "survey",
        client: served.service.connection.client)
      await #expect(throws: Never.self, "\(behaviour)") { try await behaviour.check(store) }
    }
  }

  @Test func `finds what the GeoPackage behind it finds`() async throws {
    let (store, truth) = try await project("found", PeerLayers.survey())
    for condition in PeerLayers.conditions {
      let query = Query("places", where: condition)
      #expect(
        try await PeerLayers.ids(store, query) == PeerLayers.ids(truth, query), "\(condition)")
    }
    for query in [Query("areas"), Query("areas").transformed(to: .wgs84)] {
      let expected = try await PeerLayers.features(truth, query)
      #expect(try await PeerLayers.features(store, query) == expected)
    }
  }

  @Test func `takes changes`() async throws {
    let (reading, truth) = try await project("changed", [(Self.wells, (1...4).map(Self.well))])
    let store = try WritableWFSStore(reading)
    let (new, ids) = try await store.transaction { (writer) throws(FieldpackError) in
      let first = try writer.create(
        Feature(geometry: .point(x: 13.125, y: 52.5), attributes: ["name": "<&> e"]), in: "wells")
      let second = try writer.create(
        Feature(attributes: ["visits": 7, "open": false, "depth": -0.25]), in: "wells")
      try writer.update(
        1, in: "wells", set: ["name": .null, "visits": 70], geometry: .set(.point(x: 9, y: 8)))
      try writer.update(2, in: "wells", set: ["dug": .date(CalendarDate("1999-12-31")!)])
      try writer.delete(3, in: "wells")
      return [first, second]
    }
    let chosen = try new.map { try #require(ids[$0]) }
    #expect(Set(chosen) == [5, 6])
    var (one, two) = (Self.well(1), Self.well(2))
    one.geometry = .point(x: 9, y: 8)
    one.attributes["name"] = .null
    one.attributes["visits"] = 70
    two.attributes["dug"] = .date(CalendarDate("1999-12-31")!)
    let added = [
      Feature(
        id: chosen[0], geometry: .point(x: 13.125, y: 52.5),
        attributes: [
          "name": "<&> e", "visits": .null, "depth": .null, "open": .null, "dug": .null,
        ]),
      Feature(
        id: chosen[1],
        attributes: [
          "name": .null, "visits": 7, "depth": -0.25, "open": false, "dug": .null,
        ]),
    ]
    let expected =
      [one, two, Self.well(4)] + added.sorted { $0.id!.description < $1.id!.description }
    #expect(try await PeerLayers.features(truth, Query("wells")) == expected)
    #expect(
      try await PeerLayers.features(store, Query("wells").order(by: [Order("fid")])) == expected)
  }

  @Test(arguments: [
    ("LINESTRING (1 2,3 4)", SRS.wgs84), ("POLYGON ((0 0,4 0,4 4,0 0),(2 1,3 1,3 2,2 1))", .wgs84),
    ("MULTIPOINT (1 2,3 4)", .wgs84), ("MULTILINESTRING ((1 2,3 4),(5 6,7 8))", .wgs84),
    ("MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))", .wgs84),
    (
      "MULTIPOLYGON (((390000 5820000,390500 5820000,390500 5820500,390000 5820000)))",
      SRS("EPSG", 25833)
    ),
  ])
  func `stores geometries as they are`(wkt: String, srs: SRS) async throws {
    let geometry = try WKT.read(wkt)
    let schema = Schema(
      layer: "shapes", geometry: GeometryColumn(type: geometry.type, srs: srs),
      columns: [ColumnDefinition("name", .text())])
    let name = "\(geometry.type.name)\(srs.code)"
    let (reading, truth) = try await project(name, [(schema, [])])
    let feature = Feature(geometry: geometry, attributes: ["name": "a"])
    try await WritableWFSStore(reading).write { (writer) throws(FieldpackError) in
      _ = try writer.create(feature, in: "shapes")
    }
    let expected = [Feature(id: 1, geometry: geometry, attributes: ["name": "a"])]
    #expect(try await PeerLayers.features(truth, Query("shapes")) == expected)
    #expect(try await PeerLayers.features(reading, Query("shapes")) == expected)
  }

  @Test func `refuses changes with its reason`() async throws {
    let delete: @Sendable (WFSStore, FeatureID) async -> FieldpackError? = { store, id in
      await #expect(throws: FieldpackError.self) {
        try await WritableWFSStore(store).write { (writer) throws(FieldpackError) in
          try writer.delete(id, in: "wells")
        }
      }
    }
    let (kept, _) = try await project("kept", [(Self.wells, [Self.well(1)])], rights: [])
    let refused = await delete(kept, 1)
    #expect(refused?.code == .permission)
    #expect(
      refused?.message
        == "the service reports Security: No permissions to do WFS changes on layer 'wells'")
    let (added, truth) = try await project(
      "added", [(Self.wells, [Self.well(1)])], rights: ["Insert"])
    let partial = await delete(added, 1)
    #expect(partial?.wfsFailure == .incomplete(matched: 1, given: 0))
    #expect(
      partial?.message == "the service has done 0 of 1 changes (totalDeleted): "
        + "No permissions to do WFS deletes on layer 'wells'")
    #expect(await delete(added, 9)?.code == .notFound)
    #expect(try await PeerLayers.features(truth, Query("wells")) == [Self.well(1)])
  }
}
