import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Curves, Z and M of geometries that are edited.
@Suite(.programs) struct GeometryEditTests {
  static let shapes = [
    "POINT EMPTY", "POINT(1 2)", "POINT Z(1 2 3)", "POINT M(1 2 4)", "POINT ZM(1 2 3 4)",
    "LINESTRING M(0 0 10,5 5 20)", "LINESTRING ZM(0 0 1 10,5 5 2 20)", "LINESTRING M EMPTY",
    "POLYGON ZM((0 0 1 1,4 0 1 2,4 4 1 3,0 0 1 1),(1 0.5 1 1,2 0.5 1 2,2 1 1 3,1 0.5 1 1))",
    "MULTIPOINT M((1 2 3),(4 5 6))", "MULTILINESTRING ZM((0 0 1 1,2 2 2 2),(3 3 3 3,4 4 4 4))",
    "MULTIPOLYGON M(((0 0 1,1 0 2,1 1 3,0 0 1)))", "CIRCULARSTRING(0 0,1 1,2 0)",
    "CIRCULARSTRING ZM(0 0 1 5,1 1 2 6,2 0 3 7)",
    "COMPOUNDCURVE M(CIRCULARSTRING M(0 0 1,1 1 2,2 0 3),(2 0 3,3 0 4))",
    "CURVEPOLYGON Z(CIRCULARSTRING Z(0 0 1,2 0 1,2 1 1,2 3 1,0 0 1))",
    "MULTICURVE M((0 0 1,1 1 2),CIRCULARSTRING M(0 0 1,1 1 2,2 0 3))",
    "MULTISURFACE(CURVEPOLYGON(CIRCULARSTRING(0 0,2 0,2 1,2 3,0 0)),((9 9,10 9,10 10,9 9)))",
    "GEOMETRYCOLLECTION ZM(POINT ZM(1 2 3 4),CIRCULARSTRING ZM(0 0 1 5,1 1 2 6,2 0 3 7))",
  ]

  private static let any = Schema(
    layer: "any", geometry: GeometryColumn(z: .optional, m: .optional),
    columns: [ColumnDefinition("n", .integer)])

  private func shapes() throws -> [Geometry] { try Self.shapes.map { try WKT.read($0) } }

  private func package(_ geometries: [Geometry], _ schema: Schema = any) async throws -> TestPackage
  {
    let package = try TestPackage(.v13)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(schema)
        for geometry in geometries {
          try writer.create(Feature(geometry: geometry), in: schema.layer)
        }
      }
    }
    return package
  }

  private func blobs(_ package: TestPackage) throws -> [String] {
    try package.rows("SELECT hex(geom) FROM any ORDER BY fid")
  }

  @Test func `come back as they were stored`() async throws {
    let shapes = try shapes()
    let package = try await package(shapes)
    let found = try await package.withStore { try await $0.features(Query("any")) }
    #expect(found.map(\.geometry) == shapes)
    #expect(try package.faults() == [])
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `are seen by GDAL, created, updated and upserted`() async throws {
    // The validator takes another bit for the one that flags empty geometries.
    let shapes = try shapes().filter { !$0.isEmpty }
    let package = try await package(shapes.reversed())
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        for (index, shape) in shapes.enumerated() {
          let id = FeatureID.integer(Int64(index + 1))
          if index % 2 == 0 {
            try writer.update(id, in: "any", geometry: .set(shape))
          } else {
            try writer.upsert(Feature(id: id, geometry: shape), in: "any")
          }
        }
      }
    }
    let lines = try await GDALChecks.python(
      """
      file = ogr.Open(path)
      for f in file.GetLayer(0): print(f.GetGeometryRef().ExportToIsoWkt())
      """, package)
    let seen = try lines.map { try WKT.read($0) }
    #expect(seen == shapes)
    try await GDALChecks.expectValid(package, .v13)
  }

  @Test func `stay byte for byte when attributes change`() async throws {
    let shapes = try shapes()
    let package = try await package(shapes)
    // As others write them: big-endian, and with envelopes of all ordinates.
    for (index, shape) in shapes.enumerated() where index > 0 {
      var blob: [UInt8] = []
      GeoPackageBinary.append(shape, srsID: 4326, to: &blob, policy: .fixed(.xyzm))
      if index == 1 {
        blob = [0x47, 0x50, 0, 0, 0, 0, 0x10, 0xE6, 0, 0, 0, 0, 1]
        blob += [0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0]
      }
      try package.run("UPDATE any SET geom = x'\(blob.hex)' WHERE fid = \(index + 1)")
    }
    let before = try blobs(package)
    try await package.withStore { store in
      let features = try await store.features(Query("any"))
      try await store.write { (writer) throws(FieldpackError) in
        for feature in features {
          guard let id = feature.id else { continue }
          try writer.update(id, in: "any", set: ["n": 1])
          try writer.update(id, in: "any", set: ["n": 2], geometry: .set(feature.geometry))
          try writer.upsert(
            Feature(id: id, geometry: feature.geometry, attributes: ["n": 3]), in: "any")
        }
      }
    }
    #expect(try blobs(package) == before)
    #expect(try package.rows("SELECT DISTINCT n FROM any") == ["3"])
  }

  @Test func `a blob with a wrong header is written anew`() async throws {
    let package = try await package([.point(x: 1, y: 2)])
    let right = try blobs(package)
    // Of another SRS, flagged as empty, and with an envelope that is elsewhere.
    for wrong in ["4750000100000000", "47500011E6100000", "47500003E6100000" + zeros(32)] {
      try package.run(
        "UPDATE any SET geom = x'\(wrong)' || substr(geom, -21) WHERE fid = 1")
      try await package.withStore { store in
        try await store.write { (writer) throws(FieldpackError) in
          try writer.update(1, in: "any", geometry: .set(.point(x: 1, y: 2)))
        }
      }
      #expect(try blobs(package) == right, "\(wrong)")
    }
  }

  private func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }

  private static let rules: [(OrdinateRule, allowed: Bool, required: Bool)] = [
    (.prohibited, false, false), (.mandatory, true, true), (.optional, true, false),
  ]

  /// What a column with that rule for Z and M says of geometries of some dimensions.
  private static let cases = rules.flatMap { z in
    rules.flatMap { m in
      Dimensions.allCases.map { given in
        let fits =
          (given.hasZ ? z.allowed : !z.required) && (given.hasM ? m.allowed : !m.required)
        return (z.0, m.0, given, fits)
      }
    }
  }

  @Test(arguments: cases)
  func `flags of the column hold on every write`(
    z: OrdinateRule, m: OrdinateRule, given: Dimensions, fits: Bool
  ) async throws {
    let schema = Schema(layer: "any", geometry: GeometryColumn(z: z, m: m))
    let point = Geometry.point(x: 1, y: 2).converted(to: given, z: 3, m: 4)
    let held = Dimensions(hasZ: z == .mandatory, hasM: m == .mandatory)
    let package = try await package([Geometry.point(x: 0, y: 0).converted(to: held)], schema)
    try await package.withStore { store in
      for write in ["create", "update", "upsert"] {
        let error = await thrown {
          try await store.write { (writer) throws(FieldpackError) in
            if write == "update" {
              try writer.update(1, in: "any", geometry: .set(point))
            } else {
              let id: FeatureID? = write == "create" ? nil : 1
              try writer.upsert(Feature(id: id, geometry: point), in: "any")
            }
          }
        }
        #expect(error?.code == (fits ? nil : .invalidData))
      }
    }
    let error = await thrown { try append(point, schema, to: package) }
    #expect(error?.code == (fits ? nil : .invalidData))
    #expect(try package.rows("SELECT count(*) FROM any") == [fits ? "3" : "1"])
  }

  private func append(_ geometry: Geometry, _ schema: Schema, to package: TestPackage) throws {
    let writer = try GeoPackageBulkWriter(changing: package.path, store: "survey")
    try writer.append(schema, to: "any")
    try writer.loader.begin(schema)
    try writer.loader.feature(ValueRow(wkb: WKB.bytes(of: geometry)))
    _ = try writer.commit()
  }
}
