import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Metadata of every scope.
@Suite(.programs) struct MetadataTests {
  private static let iso = "http://www.isotc211.org/2005/gmd"

  static func package(_ version: GeoPackageVersion = .v14) async throws -> TestPackage {
    let package = try TestPackage(version)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(RelationTests.wells)
        for x in 1...3 {
          try writer.create(Feature(geometry: .point(x: Double(x), y: 0)), in: "wells")
        }
        let whole = try writer.addMetadata("<a/>", standard: iso, about: .geoPackage)
        try writer.addMetadata(
          "<b/>", standard: iso, scope: .featureType, about: .layer("WELLS"),
          .column("geom", of: "wells"), parent: whole)
        try writer.addMetadata(
          "{\"by\":\"me\"}", as: "application/json", standard: "urn:x", scope: .attribute,
          about: .row(2, of: "wells"), .value("Name", row: 3, of: "wells"))
        try writer.addMetadata("loose", as: "text/plain", standard: "urn:y")
      }
    }
    return package
  }

  @Test func `is read as it was written`() async throws {
    let package = try await Self.package()
    let (documents, references) = try await package.withStore { try await $0.metadata() }
    #expect(
      documents == [
        Metadata(
          id: 1, scope: .dataset, standardURI: Self.iso, mediaType: "text/xml", content: "<a/>"),
        Metadata(
          id: 2, scope: .featureType, standardURI: Self.iso, mediaType: "text/xml",
          content: "<b/>"),
        Metadata(
          id: 3, scope: .attribute, standardURI: "urn:x", mediaType: "application/json",
          content: "{\"by\":\"me\"}"),
        Metadata(
          id: 4, scope: .dataset, standardURI: "urn:y", mediaType: "text/plain", content: "loose"),
      ])
    #expect(references.map(\.metadata) == [1, 2, 2, 3, 3])
    #expect(references.map(\.parent) == [nil, 1, 1, nil, nil])
    #expect(
      references.map(\.subject) == [
        .geoPackage, .layer("wells"), .column("geom", of: "wells"), .row(2, of: "wells"),
        .value("name", row: 3, of: "wells"),
      ])
    #expect(references.allSatisfy { $0.date != nil })
  }

  @Test func `is attached once, detached, changed and removed`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let detached = try await store.write { (writer) throws(FieldpackError) in
        try writer.attachMetadata(4, to: .geoPackage)
        try writer.attachMetadata(4, to: .geoPackage, parent: 1)
        try writer.updateMetadata(4, content: "tight")
        let detached = [
          try writer.detachMetadata(2, from: .layer("Wells")),
          try writer.detachMetadata(2, from: .layer("wells")),
        ]
        try writer.removeMetadata(1)
        return detached
      }
      #expect(detached == [true, false])
      let (documents, references) = try await store.metadata()
      #expect(documents.map(\.content) == ["<b/>", "{\"by\":\"me\"}", "tight"])
      #expect(references.map(\.metadata) == [2, 3, 3, 4])
      #expect(references.map(\.parent) == [nil, nil, nil, nil])
      try await store.write { (writer) throws(FieldpackError) in
        for id in 2...4 { try writer.removeMetadata(Int64(id)) }
      }
    }
    #expect(
      try package.rows(
        "SELECT name FROM sqlite_master WHERE name LIKE 'gpkg_metadata%' UNION ALL "
          + "SELECT extension_name FROM gpkg_extensions WHERE extension_name = 'gpkg_metadata'")
        == [])
  }

  @Test func `goes with the row and the layer that alone it was about`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(2, in: "wells")
        try writer.delete(1, in: "wells")
      }
      #expect(try await store.metadata().references.map(\.metadata) == [1, 2, 2, 3])
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(3, in: "wells")
      }
      #expect(try await store.metadata().documents.map(\.id) == [1, 2, 4])
      try await store.write { (writer) throws(FieldpackError) in
        try writer.removeLayer("wells")
      }
      let (documents, references) = try await store.metadata()
      #expect(documents.map(\.id) == [1, 4])
      #expect(references.map(\.subject) == [.geoPackage])
    }
    #expect(try package.faults() == [])
  }

  @Test func `follows a layer's new name`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.renameLayer("wells", to: "springs")
      }
      #expect(try await store.metadata().references[1].subject == .layer("springs"))
    }
  }

  @Test(
    arguments: [
      .layer("nix"), .column("nix", of: "wells"), .row(9, of: "wells"), .row("a", of: "wells"),
      .value("name", row: 9, of: "wells"), .value("nix", row: 1, of: "wells"),
    ] as [MetadataSubject])
  func `is about what is there`(subject: MetadataSubject) async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let error = await thrown {
        _ = try await store.write { (writer) throws(FieldpackError) in
          try writer.addMetadata("", standard: "urn:z", about: subject)
        }
      }
      #expect(error?.code == .notFound)
      let documents = try await store.metadata().documents
      #expect(documents.count == 4)
    }
  }

  @Test func `has a scope of the standard and a parent that is another document`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let scope = await thrown {
        _ = try await store.write { (writer) throws(FieldpackError) in
          try writer.addMetadata("", standard: "urn:z", scope: .init(rawValue: "thing"))
        }
      }
      #expect(scope?.code == .invalidArgument)
      let itself = await thrown {
        _ = try await store.write { (writer) throws(FieldpackError) in
          try writer.attachMetadata(1, to: .geoPackage, parent: 1)
        }
      }
      #expect(itself?.code == .invalidArgument)
      for id in [7, 1] as [Int64] {
        let missing = await thrown {
          _ = try await store.write { (writer) throws(FieldpackError) in
            try writer.attachMetadata(id, to: .geoPackage, parent: 8)
          }
        }
        #expect(missing?.code == .notFound)
      }
    }
  }

  // MARK: Peers

  @Test(
    .enabled(if: !Programs.validators.isEmpty, Comment(rawValue: Programs.noValidator)),
    arguments: GeoPackageVersion.allCases)
  func `passes GDAL's validator`(version: GeoPackageVersion) async throws {
    try await GDALChecks.expectValid(try await Self.package(version), version)
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `is metadata in GDAL`() async throws {
    let package = try await Self.package(.v13)
    let lines = try await GDALChecks.python(
      """
      ds = gdal.OpenEx(path, gdal.OF_VECTOR)
      print(ds.GetMetadata('xml:gmd') or ds.GetMetadata_Dict())
      print(ds.GetLayer(0).GetMetadata_Dict())
      """, package)
    #expect(lines.count == 2)
    #expect(lines.first?.contains("<a/>") == true)
    #expect(lines.last?.contains("<b/>") == true)
  }

  // MARK: Real files

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `of another program's file is read`() async throws {
    let package = try TestPackage(copying: SharedData.url("real/gpkg/import_db.gpkg"))
    let (documents, references) = try await package.withStore { try await $0.metadata() }
    #expect(documents.map(\.scope) == [.dataset, .featureType, .tile])
    #expect(documents.map(\.standardURI) == ["TEST_URI_1", "TEST_URI_2", "TEST_URI_3"])
    #expect(
      references.map(\.subject) == [
        .geoPackage, .layer("point1_tiles"), .value("geometry", row: 1, of: "point1"),
      ])
    #expect(references.map(\.parent) == [nil, 1, nil])
  }
}
