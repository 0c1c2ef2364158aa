import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Related tables (OGC 18-000).
@Suite(.programs) struct RelationTests {
  static let wells = Schema(
    layer: "wells", geometry: GeometryColumn(type: .point),
    columns: [ColumnDefinition("name", .text())])
  static let notes = Schema(
    layer: "no\"tes", idColumn: "key",
    columns: [ColumnDefinition("text", .text(), isNullable: false)])
  static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + Array(repeating: 7, count: 100)

  /// Three wells, two pictures and two notes, with a relation of each to the wells.
  static func package(_ version: GeoPackageVersion = .v14) async throws -> TestPackage {
    let package = try TestPackage(version)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(wells)
        try writer.createLayer(notes)
        try writer.createMediaLayer("photos", columns: [ColumnDefinition("taken", .dateTime)])
        for id in 1...3 {
          try writer.create(
            Feature(id: .integer(Int64(id) * 10), geometry: .point(x: Double(id), y: 0)),
            in: "wells")
        }
        let photos = try writer.createRelation(
          from: "wells", to: "photos", as: .media,
          columns: [ColumnDefinition("rank", .integer), ColumnDefinition("why", .text())])
        try writer.addMedia(jpeg, as: "image/jpeg", to: "photos", relatedTo: 10, by: photos)
        try writer.addMedia(
          [1, 2, 3], as: "application/x", attributes: ["taken": "2024-05-01T10:00:00Z"],
          to: "PHOTOS", relatedTo: 20, by: photos)
        try writer.link(20, to: 1, by: photos, attributes: ["rank": 2, "why": "near"])
        let noted = try writer.createRelation(
          from: "wells", to: "no\"tes", as: .simpleAttributes, mapping: "well notes")
        for text in ["dry", "deep"] {
          let id = try writer.create(Feature(attributes: ["text": .text(text)]), in: "no\"tes")
          try writer.link(30, to: id, by: noted)
        }
      }
    }
    return package
  }

  @Test func `are walked both ways`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let relations = try await store.relations()
      #expect(relations.map(\.mapping) == ["wells_photos", "well notes"])
      #expect(relations.map(\.kind) == [.media, .simpleAttributes])
      #expect(relations.map(\.baseColumn) == ["fid", "fid"])
      #expect(relations.map(\.relatedColumn) == ["id", "key"])
      try await store.read { (snapshot) throws(FieldpackError) in
        let (photos, notes) = (relations[0], relations[1])
        #expect(try snapshot.related(to: 10, by: photos) == [1])
        #expect(try snapshot.related(to: 20, by: photos) == [2, 1])
        #expect(try snapshot.related(to: 30, by: photos) == [])
        #expect(try snapshot.related(to: 99, by: photos) == [])
        #expect(try snapshot.bases(relatedTo: 1, by: photos) == [10, 20])
        #expect(try snapshot.related(to: 30, by: notes) == [1, 2])
        #expect(try snapshot.bases(relatedTo: 2, by: notes) == [30])
        #expect(
          try snapshot.links(by: photos, of: 20) == [
            RelationLink(base: 20, related: 2, attributes: ["rank": .null, "why": .null]),
            RelationLink(base: 20, related: 1, attributes: ["rank": 2, "why": "near"]),
          ])
        #expect(try snapshot.links(by: photos).count == 3)
      }
    }
    #expect(
      try package.rows(
        "SELECT table_name, column_name, scope FROM gpkg_extensions "
          + "WHERE extension_name = 'gpkg_related_tables'") == [
          "gpkgext_relations|NULL|read-write", "wells_photos|NULL|read-write",
          "well notes|NULL|read-write",
        ])
  }

  @Test func `lend the bytes of media`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      try await store.read { (snapshot) throws(FieldpackError) in
        let found = try snapshot.withMedia(1, in: "photos") {
          (bytes, type) throws(FieldpackError) in
          bytes.withUnsafeBytes { Array($0) } == Self.jpeg ? type : "other bytes"
        }
        #expect(found == "image/jpeg")
        let missing = try snapshot.withMedia(9, in: "photos") {
          (_, type) throws(FieldpackError) in type
        }
        #expect(missing == nil)
      }
      let taken = try await store.features(Query("photos").select("taken")).map(\.attributes)
      #expect(taken.map { $0["taken"] } == [.null, .dateTime(Instant("2024-05-01T10:00:00Z")!)])
    }
  }

  @Test func `link once, and only rows that are there`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let photos = try await store.relations()[0]
      try await store.write { (writer) throws(FieldpackError) in
        try writer.link(10, to: 1, by: photos)
        try writer.link(10, to: 1, by: photos, attributes: ["why": "again"])
      }
      #expect(
        try package.rows("SELECT * FROM wells_photos WHERE base_id = 10") == ["1|10|1|NULL|again"])
      for (base, related) in [(11, 1), (10, 9)] as [(FeatureID, FeatureID)] {
        let error = await thrown {
          _ = try await store.write { (writer) throws(FieldpackError) in
            try writer.link(base, to: related, by: photos)
          }
        }
        #expect(error?.code == .notFound)
      }
      let wrong = await thrown {
        _ = try await store.write { (writer) throws(FieldpackError) in
          try writer.link(10, to: 2, by: photos, attributes: ["rank": "first"])
        }
      }
      #expect(wrong?.code == .invalidData)
      let gone = try await store.write { (writer) throws(FieldpackError) in
        [try writer.unlink(10, from: 1, by: photos), try writer.unlink(10, from: 1, by: photos)]
      }
      #expect(gone == [true, false])
      #expect(try package.rows("SELECT count(*) FROM wells_photos") == ["2"])
    }
  }

  @Test func `lose the links of a feature that is deleted, on either side`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(20, in: "wells")
        try writer.delete(1, in: "no\"tes")
      }
    }
    #expect(try package.rows("SELECT base_id, related_id FROM wells_photos") == ["10|1"])
    #expect(try package.rows("SELECT base_id, related_id FROM \"well notes\"") == ["30|2"])
    #expect(try package.rows("SELECT count(*) FROM photos") == ["2"])
  }

  @Test func `follow a layer's new name`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.renameLayer("wells", to: "springs")
        try writer.renameLayer("photos", to: "pictures")
      }
      let photos = try await store.relations()[0]
      #expect(photos.base == "springs" && photos.related == "pictures")
      let related = try await store.read { (snapshot) throws(FieldpackError) in
        try snapshot.related(to: 20, by: photos)
      }
      #expect(related == [2, 1])
    }
  }

  @Test(arguments: ["relation by relation", "with the base", "with the related"])
  func `go without leftovers`(way: String) async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let relations = try await store.relations()
      try await store.write { (writer) throws(FieldpackError) in
        switch way {
        case "relation by relation":
          for relation in relations { try writer.removeRelation(relation) }
        case "with the base": try writer.removeLayer("wells")
        default:
          for layer in ["photos", "no\"tes"] as [LayerID] { try writer.removeLayer(layer) }
        }
      }
      #expect(try await store.relations() == [])
    }
    #expect(
      try package.rows(
        "SELECT name FROM sqlite_master WHERE name LIKE 'gpkgext%' OR name LIKE 'well%notes%' "
          + "OR name LIKE 'wells_photos%' UNION ALL SELECT extension_name FROM gpkg_extensions "
          + "WHERE extension_name LIKE '%related%'") == [])
    #expect(try package.faults() == [])
  }

  @Test(arguments: [
    // Links in a view.
    """
    ALTER TABLE wells_photos RENAME TO links;
    CREATE VIEW wells_photos AS SELECT * FROM links;
    """,
    "UPDATE gpkgext_relations SET base_primary_column = 'id'",
    "ALTER TABLE wells_photos RENAME COLUMN base_id TO from_id",
    "DROP TABLE wells_photos",
  ])
  func `of other programs do not keep a feature from going`(change: String) async throws {
    let package = try await Self.package()
    try package.run(change)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(20, in: "wells")
        try writer.delete(1, in: "no\"tes")
      }
    }
    #expect(try package.rows("SELECT fid FROM wells") == ["10", "30"])
    #expect(try package.rows("SELECT base_id, related_id FROM \"well notes\"") == ["30|2"])
  }

  @Test(arguments: [1, 300])
  func `whose links are an end of others go with them`(length: Int) async throws {
    let package = try await Self.package()
    let rows = (1...length).map { number in
      "('wells', '\(number == 1 ? "wells_photos" : "chain\(number - 1)")', 'x', 'chain\(number)')"
    }
    let tables = (1...length).map { "CREATE TABLE chain\($0) (base_id, related_id)" }
    try package.run(
      tables.joined(separator: ";\n")
        + ";\nINSERT INTO gpkgext_relations (base_table_name, related_table_name, relation_name, "
        + "mapping_table_name) VALUES " + rows.joined(separator: ", "))
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.removeLayer("wells")
      }
      #expect(try await store.relations() == [])
      #expect(try await store.schemas().map(\.layer) == ["no\"tes", "photos"])
    }
    #expect(
      try package.rows("SELECT name FROM sqlite_master WHERE name LIKE 'chain%'") == [])
    #expect(try package.faults() == [])
  }

  @Test func `store no file whose link fails`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let photos = try await store.relations()[0]
      try await store.write { (writer) throws(FieldpackError) in
        let cases: [(FeatureID?, Relation?, FieldpackError.Code)] = [
          (99, photos, .notFound), (10, nil, .invalidArgument), (nil, photos, .invalidArgument),
        ]
        for (base, relation, code) in cases {
          do throws(FieldpackError) {
            try writer.addMedia(
              Self.jpeg, as: "image/jpeg", to: "photos", relatedTo: base, by: relation)
            Issue.record("nothing was thrown")
          } catch {
            #expect(error.code == code)
          }
        }
      }
    }
    #expect(try package.rows("SELECT count(*) FROM photos") == ["2"])
  }

  @Test func `lend large files that the same store has just stored`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      #expect(try await store.count(Query("photos")) == 2)
      let large = [UInt8](repeating: 7, count: 20 << 20)
      for round in 1...2 {
        let id = try await store.write { (writer) throws(FieldpackError) in
          try writer.addMedia(large, as: "video/mp4", to: "photos")
        }
        let size = try await store.read { (snapshot) throws(FieldpackError) in
          try snapshot.withMedia(id, in: "photos") { (bytes, _) throws(FieldpackError) in
            bytes.byteCount
          }
        }
        #expect(size == large.count, "\(round)")
      }
    }
  }

  @Test func `need what their kind asks of the related layer`() async throws {
    let package = try await Self.package()
    let cases: [(LayerID, LayerID, Relation.Kind, String?, FieldpackError.Code)] = [
      ("nix", "photos", .media, nil, .notFound), ("wells", "nix", .features, nil, .notFound),
      ("wells", "no\"tes", .media, nil, .invalidArgument),
      ("wells", "photos", .simpleAttributes, nil, .invalidArgument),
      ("wells", "photos", .features, nil, .invalidArgument),
      ("wells", "wells", .attributes, nil, .invalidArgument),
      ("wells", "photos", .media, "wells", .cannotCreate),
      ("wells", "photos", .media, "gpkg_mine", .invalidArgument),
      ("wells", "wells", .tiles, nil, .notFound),
    ]
    try await package.withStore { store in
      for (base, related, kind, mapping, code) in cases {
        let error = await thrown {
          _ = try await store.write { (writer) throws(FieldpackError) in
            try writer.createRelation(from: base, to: related, as: kind, mapping: mapping)
          }
        }
        #expect(error?.code == code, "\(related) \(kind) \(mapping ?? "")")
      }
      let names = try await store.write { (writer) throws(FieldpackError) in
        [
          try writer.createRelation(from: "wells", to: "photos", as: .media).mapping,
          try writer.createRelation(from: "wells", to: "wells", as: .features).mapping,
          try writer.createRelation(from: "photos", to: "no\"tes", as: .attributes).mapping,
        ]
      }
      #expect(names == ["wells_photos_2", "wells_wells", "photos_no\"tes"])
    }
    #expect(try package.faults() == [])
  }

  @Test func `keep the order of a layer that they refer to`() async throws {
    let package = try await Self.package()
    var options = OptimizeOptions()
    options.clusters = true
    let before = try package.rows("SELECT * FROM wells_photos")
    let report = try GeoPackageOptimizer(path: package.path, store: "survey", options: options)
      .run()
    #expect(report.layers.map(\.renumbered) == [nil, nil, nil])
    #expect(try package.rows("SELECT * FROM wells_photos") == before)
  }

  // MARK: Peers

  @Test(
    .enabled(if: !Programs.validators.isEmpty, Comment(rawValue: Programs.noValidator)),
    arguments: GeoPackageVersion.allCases)
  func `pass GDAL's validator`(version: GeoPackageVersion) async throws {
    try await GDALChecks.expectValid(try await Self.package(version), version)
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `are relationships in GDAL`() async throws {
    let package = try await Self.package(.v13)
    let lines = try await GDALChecks.python(
      """
      ds = gdal.OpenEx(path, gdal.OF_VECTOR)
      for name in sorted(ds.GetRelationshipNames()):
          r = ds.GetRelationship(name)
          print(r.GetLeftTableName(), r.GetRightTableName(), r.GetMappingTableName(),
                r.GetLeftTableFields(), r.GetRightTableFields(), r.GetRelatedTableType(),
                r.GetCardinality() == gdal.GRC_MANY_TO_MANY)
      """, package)
    #expect(
      lines == [
        "wells no\"tes well notes ['fid'] ['key'] simple_attributes True",
        "wells photos wells_photos ['fid'] ['id'] media True",
      ])
  }

  // MARK: Real files

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `of other programs' files are read`() async throws {
    let related = try TestPackage(copying: SharedData.url("real/gpkg/gdal_related.gpkg"))
    try await related.withStore { store in
      let relation = try #require(try await store.relations().first)
      #expect(relation.base == "sites" && relation.related == "notes")
      try await store.read { (snapshot) throws(FieldpackError) in
        #expect(try snapshot.related(to: 1, by: relation) == [1, 2])
        #expect(try snapshot.bases(relatedTo: 3, by: relation) == [2])
      }
    }
    let large = try TestPackage(copying: SharedData.url("real/gpkg/import_db.gpkg"))
    try await large.withStore { store in
      let relations = try await store.relations()
      #expect(relations.count == 11)
      let photos = try #require(relations.first { $0.mapping == "geometry1_media" })
      let features = try #require(relations.first { $0.mapping == "point1_polygon1" })
      let styles = try #require(relations.first { $0.mapping == "nga_style_default_geometry1" })
      let bytes = try await store.read { (snapshot) throws(FieldpackError) in
        #expect(try snapshot.related(to: 8, by: photos) == [1])
        #expect(try snapshot.bases(relatedTo: 1, by: photos) == [1, 8, 9])
        #expect(try snapshot.related(to: 1, by: features) == [1])
        #expect(try snapshot.links(by: styles).count > 0)
        #expect(
          try snapshot.links(by: photos, of: 8)[0].attributes["source"] == "http://www.bit-sys.com")
        return try snapshot.withMedia(3, in: "media") { (bytes, type) throws(FieldpackError) in
          "\(type) \(bytes.byteCount)"
        }
      }
      #expect(bytes == "image/jpeg 92345")
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(8, in: "geometry1")
        try writer.removeLayer("media")
      }
      #expect(try await store.relations().count == 9)
    }
    #expect(
      try large.rows("SELECT count(*) FROM sqlite_master WHERE name = 'geometry1_media'") == ["0"])
  }
}
