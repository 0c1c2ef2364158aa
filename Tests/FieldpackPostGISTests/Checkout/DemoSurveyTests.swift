#if PostGIS
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// The demo's survey in a database: its commands, and what they print and write.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct DemoSurveyTests {
    /// Two folders with the demo's files and a config of the same name, one for a GeoPackage and one for a
    /// database.
    private struct Survey {
      let schema: TestSchema
      let file = try? TemporaryFolder()
      let database = try? TemporaryFolder()

      init() async throws {
        schema = try await TestSchema.make()
        let changes = [
          "postgresql:///survey": schema.cluster.uri(), "\"public\"": "\"\(schema.name)\"",
        ]
        try await fill(#require(file), "survey", [:], "demo/field.gpkg")
        try await fill(#require(database), "team-postgis", changes, "demo/survey.scfg:field")
      }

      private func fill(
        _ folder: TemporaryFolder, _ config: String, _ changes: [String: String], _ target: String
      ) async throws {
        try FileManager.default.createDirectory(
          at: folder.file("demo"), withIntermediateDirectories: true)
        let files = ["wells.geojson", "zones.geojson", "samples.csv", "walk.gpx"]
        for name in files {
          try FileManager.default.copyItem(
            at: Checkout.file("TestData/demo/\(name)"), to: folder.file("demo/\(name)"))
        }
        var text = try String(contentsOf: Checkout.file("Configs/\(config).scfg"), encoding: .utf8)
        for (old, new) in changes { text = text.replacing(old, with: new) }
        text = text.replacing("../TestData/demo/", with: "").replacing("../demo/", with: "")
        _ = try folder.write(text, to: "demo/survey.scfg")
        let made = try await Tool.run(
          [
            "import", "demo/wells.geojson", "demo/zones.geojson", "demo/walk.gpx", "--into", target,
          ],
          folder: folder.url)
        try #require(made.status == 0, "\(made.error)")
      }

      /// What a line of a shell prints, and the file that it writes, in each of the two.
      func runs(_ line: String) async throws -> [(output: String, file: Data?)] {
        var found: [(String, Data?)] = []
        for folder in [file, database] {
          let folder = try #require(folder)
          let script = "run() { \"$@\"; }; fieldpack() { \"$0\" \"$@\"; }; \(line)"
          let run = try await Program.run("bash", ["-c", script, Tool.path], folder: folder.url)
          #expect(run.status == 0, "\(line): \(run.error)")
          let words = line.split(separator: " ")
          let place = words.firstIndex(of: "--output").map { words[$0 + 1] }
          found.append(
            (run.output, place.flatMap { try? Data(contentsOf: folder.file(String($0))) }))
        }
        return found
      }
    }

    /// The commands of the demo that ask the config, in its own words.
    private static func demoCommands() throws -> [String] {
      let script = try String(contentsOf: Checkout.file("Scripts/demo"), encoding: .utf8)
      return script.replacing("\\\n", with: " ").split(separator: "\n").map(String.init)
        .filter { $0.hasPrefix("run fieldpack") && $0.contains("demo/survey.scfg") }
    }

    @Test func `the demo's commands print and write the same from a database`() async throws {
      let survey = try await Survey()
      let commands = try Self.demoCommands()
      #expect(commands.count == 3)
      // What the demo asks of the files directly, and other formats.
      let source = "fieldpack export demo/survey.scfg"
      let more = [
        "\(source) zones tracks wells --store field --output demo/map.svg",
        "\(source) zones tracks wells --store field --output demo/map.html",
        "\(source) tracks track_points waypoints --store field --output demo/walk-back.gpx",
        "\(source) wells --store field --srs EPSG:25833 --output demo/wells.csv",
        "\(source) track_points --store field --output demo/points.geojsonl",
        "\(source) zones --store field --bbox 13.8,51.9,13.9,52 --output demo/near.geojson",
        "fieldpack query demo/survey.scfg wells --count",
        "fieldpack query demo/survey.scfg --store field --count --json",
        "fieldpack query demo/survey.scfg wells --store field --format geojson --keys --limit 5",
        "fieldpack query demo/survey.scfg track_points --store field --sort -time --limit 4",
        "fieldpack query demo/survey.scfg wells --where \"use LIKE '%water' OR depth IS NULL\"",
        "fieldpack query demo/survey.scfg wells --sort visits,-name --select visits,name,measured",
        "fieldpack get demo/survey.scfg $(printf field | base64).$(printf wells | base64).$(printf 101 "
          + "| base64)",
      ]
      for line in commands + more {
        let runs = try await survey.runs(line)
        #expect(runs[0].output == runs[1].output, "\(line)")
        #expect(runs[0].file == runs[1].file, "\(line)")
        #expect((runs[0].file == nil) == !line.contains("--output"), "\(line)")
        #expect(!runs[0].output.isEmpty || runs[0].file != nil, "\(line)")
      }
    }
  }
#endif
