#if PostGIS
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// The tool with the demo's survey in a database, through `Configs/team-postgis.scfg`.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct CheckoutCommandTests {
    /// The demo's files beside two configs, whose stores `field` have the same features.
    private static func survey(_ schema: TestSchema) async throws -> TemporaryFolder {
      let folder = try TemporaryFolder()
      for name in ["wells.geojson", "zones.geojson", "samples.csv", "walk.gpx"] {
        try FileManager.default.copyItem(
          at: Checkout.file("TestData/demo/\(name)"), to: folder.file(name))
      }
      for (config, changes) in [
        ("survey", ["../demo/": ""]),
        (
          "team-postgis",
          ["postgresql:///survey": schema.cluster.uri(), "\"public\"": "\"\(schema.name)\""]
        ),
      ] {
        var text = try String(contentsOf: Checkout.file("Configs/\(config).scfg"), encoding: .utf8)
        for (old, new) in changes { text = text.replacing(old, with: new) }
        text = text.replacing("../TestData/demo/", with: "")
        _ = try folder.write(text, to: "\(config).scfg")
      }
      for target in ["field.gpkg", "team-postgis.scfg:field"] {
        let made = try await Tool.run(
          ["import", "wells.geojson", "--into", target], folder: folder.url)
        #expect(made.status == 0, "\(made.error)")
      }
      return folder
    }

    @Test(arguments: [
      ["info", "wells"], ["query", "wells", "--bbox", "13.87,51.94,13.90,51.96", "--sort", "name"],
      ["query", "wells", "--where", "depth > 50 AND active", "--sort", "-depth", "--limit", "5"],
      ["query", "wells", "--format", "geojson"], ["query", "wells", "--count"],
      ["query", "wells", "--srs", "EPSG:25833", "--format", "csv"],
      ["query", "samples", "--limit", "3"],
    ])
    func `the survey answers as from the GeoPackage`(command: [String]) async throws {
      let schema = try await TestSchema.make()
      let folder = try await Self.survey(schema)
      var outputs: [String] = []
      for config in ["survey.scfg", "team-postgis.scfg"] {
        let run = try await Tool.run(
          [command[0], config] + command.dropFirst(), folder: folder.url)
        #expect(run.status == 0, "\(run.error)")
        outputs.append(run.output)
      }
      if command[0] != "info" { #expect(outputs[0] == outputs[1]) }
    }

    @Test func `a field copy goes out and comes back`() async throws {
      let schema = try await TestSchema.make()
      let folder = try await Self.survey(schema)
      func run(_ words: String...) async throws -> RunResult {
        try await Tool.run(words, folder: folder.url)
      }
      let out = try await run(
        "checkout", "team-postgis.scfg:field", "wells", "--where", "depth > 50", "--into", "a.gpkg",
        "--json")
      #expect(out.status == 0, "\(out.error)")
      let count = try await run("query", "a.gpkg", "wells", "--count")
      #expect(out.output.contains("\"feature_count\":\(count.output.trimmed)"))
      let ids = try await run("query", "a.gpkg", "wells", "--select", "name", "--format", "csv")
      let line = try #require(ids.output.split(whereSeparator: \.isNewline).dropFirst().first)
      let name = try #require(line.split(separator: ",").dropFirst().first)
      let change = try await run(
        "update", "a.gpkg:wells", "--where", "name = '\(name)'", "--set", "use=none")
      #expect(change.status == 0, "\(change.error)")
      let plan = try await run("checkin", "a.gpkg", "--dry-run")
      #expect(plan.output.contains("update"), "\(plan.error)")
      let back = try await run("checkin", "a.gpkg")
      #expect(back.status == 0, "\(back.error)")
      let there = try await run(
        "query", "team-postgis.scfg", "wells", "--where", "use = 'none'", "--count")
      #expect(there.output.trimmed == "1")
      let again = try await run("checkout", "team-postgis.scfg:field", "--into", "a.gpkg")
      #expect(again.status == 73)
      let file = try await run("checkout", "survey.scfg:field", "--into", "b.gpkg")
      #expect(file.status == 1 && file.error.contains("is no store on PostgreSQL"))
      let plain = try await run("checkin", "field.gpkg")
      #expect(plain.status == 1 && plain.error.contains("is no field copy"))
    }
  }

  extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
  }
#else
  import Testing

  @Suite(.disabled("built without the trait PostGIS"))
  struct CheckoutCommandTests {
    @Test func `the commands of field copies`() {}
  }
#endif
