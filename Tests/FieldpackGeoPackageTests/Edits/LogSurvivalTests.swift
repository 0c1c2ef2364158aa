import FieldpackCheck
import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// A change log survives what happens to its layer and its file, and stays what the standard allows.
@Suite(.programs) struct LogSurvivalTests {
  /// What is done to a file with the logged layer `points`, and the layer's name afterwards.
  private struct Event: Sendable {
    var name: String
    var layer: LayerID = "points"
    var body: @Sendable (TestPackage) async throws -> Void

    static func writing(
      _ name: String, _ layer: LayerID = "points",
      _ body: @escaping @Sendable (GeoPackageWriter) throws(FieldpackError) -> Void
    ) -> Event {
      Event(name: name, layer: layer) { package in
        try await package.withStore { store in try await store.write(body) }
      }
    }
  }

  private static let events: [Event] = [
    .writing("nothing") { (_) throws(FieldpackError) in },
    .writing("rename, also in case alone", "Wells") { (writer) throws(FieldpackError) in
      try writer.renameLayer("points", to: "wells")
      try writer.renameLayer("wells", to: "Wells")
    },
    .writing("change columns, one of an own name") { (writer) throws(FieldpackError) in
      let columns = ["depth", "device", "old"].map { ColumnDefinition($0, .double) }
      try writer.addColumns(columns, to: "points")
      try writer.removeColumn("old", from: "points")
      try writer.renameColumn("depth", to: "old", in: "points")
      try writer.renameColumn("old", to: "deep", in: "points")
      try writer.retypeColumn("deep", as: .integer, in: "points")
    },
    .writing("another layer is removed") { (writer) throws(FieldpackError) in
      try writer.createLayer(Schema(layer: "other"))
      try writer.logEdits(of: "other")
      try writer.removeLayer("other")
    },
    Event(name: "optimize") { package in
      var options = OptimizeOptions()
      options.layers = ["points"]
      _ = try GeoPackageOptimizer(path: package.path, store: "survey", options: options).run()
    },
    Event(name: "append") { package in
      let writer = try GeoPackageBulkWriter(changing: package.path, store: "survey")
      try writer.append(try Self.schema(package), to: "points")
      _ = try writer.commit()
    },
    Event(name: "replace") { package in
      let schema = try Self.schema(package)
      let writer = try GeoPackageBulkWriter(changing: package.path, store: "survey")
      try writer.remove("points", isReplaced: true)
      try writer.create(schema)
      _ = try writer.commit()
      try package.run("INSERT INTO points (fid, name) VALUES (1, 'new'), (2, 'newer')")
    },
    Event(name: "repair") { package in
      try package.run("DROP TRIGGER points_audit_update; DROP INDEX points_audit_pending")
      var options = CheckOptions()
      #expect(try Self.check(package, options) == ["warning points true"])
      options.repairs = true
      #expect(try Self.check(package, options) == [])
    },
    Event(name: "another program adds a column") { package in
      try package.run("ALTER TABLE points ADD COLUMN depth REAL")
      #expect(try Self.check(package, CheckOptions()) == ["warning points true"])
      try await package.withStore { store in
        try await store.write { (writer) throws(FieldpackError) in
          #expect(try writer.staleLogs() == [], "a change mends the log first")
        }
      }
    },
  ]

  private static func schema(_ package: TestPackage) throws -> Schema {
    try package.withSession { try #require(try $0.catalogue().layer("points")).schema }
  }

  private static func check(_ package: TestPackage, _ options: CheckOptions) throws -> [String] {
    let report = try GeoPackageChecker(path: package.path, store: "survey", options: options).run()
    return report.groups.map { "\($0.level) \($0.table ?? "") \($0.findings[0].isMendable)" }
  }

  @Test func `the log goes on, and the file is valid`() async throws {
    var packages: [TestPackage] = []
    for event in Self.events {
      let package = try await EditLogTests.package()
      try package.run("UPDATE points SET name = 'a' WHERE fid = 1")
      try await event.body(package)
      let layer = quoted(event.layer.rawValue)
      try package.run("UPDATE \(layer) SET name = 'b' WHERE fid = 1")
      let log = quoted("\(event.layer)_audit")
      let edits = try package.rows(
        "SELECT audit_op || ' ' || name FROM \(log) WHERE fid = 1 ORDER BY audit_id")
      let between = event.name == "replace" ? ["3 a", "1 new"] : []
      #expect(edits == ["0 one", "2 a"] + between + ["2 b"], "\(event.name)")
      #expect(try Self.check(package, CheckOptions()) == [], "\(event.name)")
      #expect(try package.faults() == [], "\(event.name)")
      packages.append(package)
    }
    for validator in Programs.validators where validator.knowsVersion14 {
      let verdicts = try await GDALChecks.verdicts(on: packages, by: validator)
      for (event, verdict) in zip(Self.events, verdicts) {
        #expect(verdict.lines == [], "\(event.name)")
      }
    }
    guard Programs.gdalPython != nil else { return }
    for (event, package) in zip(Self.events, packages).prefix(2) {
      let layers = try await GDALChecks.python(
        """
        gdal.PushErrorHandler('CPLQuietErrorHandler')
        file = ogr.Open(path)
        for layer in file: print(layer.GetName())
        """, package)
      #expect(layers == [event.layer.rawValue])
    }
  }

  @Test func `the log of a file of version 1_2 is valid, and upgraded with the file`() async throws
  {
    let package = try TestPackage(
      .v12, [Schema(layer: "points", geometry: GeometryColumn(type: .point))])
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in try writer.enableLog(of: "points")
      }
    }
    try await GDALChecks.expectValid(package, .v12)
    var options = CheckOptions()
    options.upgrade = .v14
    #expect(try Self.check(package, options) == [])
    try package.run("INSERT INTO points DEFAULT VALUES")
    #expect(try package.rows("SELECT audit_op FROM points_audit") == ["1"])
    try await GDALChecks.expectValid(package, .v14)
  }

  @Test func `a logged layer keeps its order`() async throws {
    let package = try await EditLogTests.package()
    var options = OptimizeOptions()
    (options.layers, options.clusters) = (["points"], true)
    let error = await thrown {
      _ = try GeoPackageOptimizer(path: package.path, store: "survey", options: options).run()
    }
    #expect(error?.code == .constraint)
    #expect(
      error?.message
        == "layer 'points' keeps its order: its edits are logged by the ids of features")
  }

  @Test func `undoing a deletion twice deletes the feature again`() async throws {
    let package = try await EditLogTests.package()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        let log = try writer.logEdits(of: "points")
        let identity = try log.identity(of: 1)
        try writer.delete(.integer(1), in: "points")
        #expect(try writer.undo(1, in: log) == 1)
        #expect(try log.identity(of: 1) == identity, "it is the same feature")
        #expect(try writer.undo(1, in: log) == nil)
        #expect(try log.history(of: 1).map(\.operation) == [.delete, .update, .delete])
      }
    }
    #expect(try package.rows("SELECT fid FROM points") == ["2"])
  }
}
