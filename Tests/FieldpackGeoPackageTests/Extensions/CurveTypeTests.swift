import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// The nonlinear types that a file registers for a geometry column.
@Suite struct CurveTypeTests {
  private static func arcs() throws -> [Geometry] {
    try [
      "CIRCULARSTRING(0 0, 1 1, 2 0)",
      "CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(0 0, 1 1, 2 0), (2 0, 0 0)))",
      "GEOMETRYCOLLECTION(POINT(1 1), MULTISURFACE(((0 0, 1 0, 1 1, 0 0))))",
    ].map { try WKT.read($0) }
  }

  private static let expected = [
    "any|geom|gpkg_geom_CIRCULARSTRING|read-write", "any|geom|gpkg_geom_COMPOUNDCURVE|read-write",
    "any|geom|gpkg_geom_CURVEPOLYGON|read-write", "any|geom|gpkg_geom_MULTISURFACE|read-write",
  ]

  private func registered(_ package: TestPackage) throws -> [String] {
    try package.rows(
      "SELECT table_name, column_name, extension_name, scope FROM gpkg_extensions "
        + "WHERE extension_name LIKE 'gpkg_geom%' ORDER BY extension_name")
  }

  @Test func `are registered when a curve is stored`() async throws {
    let package = try TestPackage()
    let arcs = try Self.arcs()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "any", geometry: GeometryColumn()))
        try writer.create(Feature(geometry: .point(x: 1, y: 1)), in: "any")
        try writer.create(
          Feature(geometry: .geometryCollection([.point(x: 1, y: 1)], .xy)), in: "any")
      }
      #expect(try registered(package) == [])
      try await store.write { (writer) throws(FieldpackError) in
        for arc in arcs.dropLast() { try writer.create(Feature(geometry: arc), in: "any") }
        try writer.update(1, in: "any", geometry: .set(arcs[2]))
      }
    }
    #expect(try registered(package) == Self.expected)
  }

  @Test(arguments: [false, true])
  func `are registered by a load`(clusters: Bool) throws {
    let package = try TestPackage()
    let writer = try GeoPackageBulkWriter(changing: package.path, store: "survey")
    let schema = Schema(layer: "any", geometry: GeometryColumn())
    try writer.create(schema, clusters: clusters)
    try writer.loader.begin(schema)
    for arc in try Self.arcs() {
      try writer.loader.feature(ValueRow(wkb: WKB.bytes(of: arc)))
      try writer.loader.feature(
        ValueRow(wkb: WKB.bytes(of: arc), envelope: arc.envelope))
    }
    _ = try writer.commit()
    #expect(try registered(package) == Self.expected)
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `of another program's file stay curves when edited`() async throws {
    let package = try TestPackage(copying: SharedData.url("real/gpkg/curve.gpkg"))
    try await package.withStore { store in
      let layer = try await store.schemas()[0].layer
      let curve = try #require(try await store.features(Query(layer)).first?.geometry)
      #expect(curve.type.isCurved)
      _ = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(geometry: curve), in: layer)
      }
      #expect(try await store.features(Query(layer)).map(\.geometry).last == curve)
    }
  }
}
