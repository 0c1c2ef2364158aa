import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack services`.
@Suite(.programs) struct ServicesCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  private static let services = """
    SC_SENSOR_SERVICE: running
    SC_DATA_SERVICE: running
    SC_CONFIG_SERVICE: running

    """
  private static let stops = """
    SC_CONFIG_SERVICE: stopped
    SC_DATA_SERVICE: stopped
    SC_SENSOR_SERVICE: stopped

    """

  @Test func `each store is told with its state and reason`() async throws {
    let server = try LoopbackServer { _ in .text(200, SurveyFolder.wells) }
    let config = """
      {"stores":[
        {"id":"sights","store_type":"geojson","uri":"sights.geojson"},
        {"id":"far","store_type":"geojson","uri":"\(server.address)/wells.geojson"}]}
      """
    _ = try survey.folder.write(config, to: "far.scfg")
    let far = try await survey.run("services", "far.scfg")
    #expect(
      far.output == Self.services + """
        sights: running (geojson.1, sights.geojson)
        far: running (geojson.1, \(server.address)/wells.geojson)

        """)
    #expect([far.error, "\(far.status)"] == ["", "0"])
    let some = try await survey.run("services", "survey.scfg", "--quiet")
    #expect(
      some.output == Self.services + """
        wells: running (geojson.1, wells.geojson)
        sights: running (geojson.1, sights.geojson)
        gone: failed (gpkg.1, gone.gpkg)
          'gone.gpkg' is not there (looked for \(survey.real("gone.gpkg")))

        """)
    #expect(some.status == 1)
  }

  @Test func `forms have a store of their own, where one can be made`() async throws {
    let config = """
      {"forms":[{"id":7,"form_key":"test","form_label":"Test","version":2,"fields":[
        {"field_key":"test","field_label":"Test","type":"string"}]}]}
      """
    _ = try survey.folder.write(config, to: "forms.scfg")
    let forms = try await survey.run("services", "forms.scfg")
    #expect(
      forms.output
        == Self.services + "FORM_STORE: running (gpkg.1, forms.stores/FORM_STORE.gpkg)\n")
    #expect([forms.error, "\(forms.status)"] == ["", "0"])
    let layers = try await survey.run("layer", "list", "forms.stores/FORM_STORE.gpkg")
    #expect(layers.output.contains("test"))
    _ = try survey.folder.write("", to: "file")
    let none = try await survey.run("services", "forms.scfg", "--store-folder", "file", "--quiet")
    #expect(none.output.contains("FORM_STORE: failed (gpkg.1, file/FORM_STORE.gpkg)\n  "))
    #expect(none.status == 1)
  }

  @Test func `a config that cannot be read fails its service`() async throws {
    _ = try survey.folder.write("{", to: "broken.scfg")
    let broken = try await survey.run("services", "broken.scfg", "--quiet")
    #expect(broken.output.contains("SC_DATA_SERVICE: running\nSC_CONFIG_SERVICE: failed\n  "))
    #expect(broken.status == 1)
    let missing = try await survey.run("services", "missing.scfg")
    #expect(missing.status == 1)
  }

  @Test func `what happens is told until an interruption, which stops dependents first`()
    async throws
  {
    _ = try await survey.run("export", "wells.geojson", "-o", "wells.gpkg")
    let config = #"{"stores":[{"id":"wells","store_type":"gpkg","uri":"wells.gpkg"}]}"#
    _ = try survey.folder.write(config, to: "wells.scfg")
    let program = try Tool.start(["services", "wells.scfg", "--follow"], folder: survey.folder.url)
    let state = Self.services + "wells: running (gpkg.1, wells.gpkg)\n"
    try await program.wait(for: "the states") { program.outputSoFar == state }
    _ = try await survey.run("delete", "wells.gpkg:wells", "--all")
    let change = "wells: changed by another program, or opened anew\n"
    try await program.wait(for: "the change") { program.outputSoFar == state + change }
    program.send(SIGINT)
    let result = try await program.result()
    #expect(result.output == state + change + Self.stops)
    #expect([result.error, "\(result.status)"] == ["", "0"])
  }

  @Test func `a config with a broker is connected to its backend, which stops first`()
    async throws
  {
    let config = #"{"remote":{"auth":"no-auth","mqtt_host":"127.0.0.1","mqtt_port":9}}"#
    _ = try survey.folder.write(config, to: "team.scfg")
    let shown = try await survey.run("services", "team.scfg", "--quiet")
    #expect(!shown.output.contains("SC_BACKEND_SERVICE"))
    let program = try Tool.start(["services", "team.scfg", "--follow"], folder: survey.folder.url)
    try await program.wait(for: "the state") {
      program.outputSoFar.contains("\nSC_BACKEND_SERVICE: running (broker 127.0.0.1:9)\n")
    }
    program.send(SIGINT)
    let result = try await program.result()
    let stops = "SC_BACKEND_SERVICE: stopped\nSC_AUTH_SERVICE: stopped\n" + Self.stops
    #expect(result.output.hasSuffix(stops))
    #expect([result.error, "\(result.status)"] == ["", "0"])
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `configs of SpatialConnect tell why their stores do not answer`() async throws {
    let source = SharedData.url("spatialconnect/mobile/remote-full.scfg")
    // No name of another host resolves.
    let text = try String(contentsOf: source, encoding: .utf8)
      .replacing(#/(https?://)[^"\/]+/#) { "\($0.output.1)nowhere.invalid" }
    _ = try survey.folder.write(text, to: "full.scfg")
    let info = try await survey.run("info", "full.scfg", "--quiet")
    #expect(info.status == 0)
    let heads = info.output.split(separator: "\n").filter { $0.contains(".1") && $0.contains(": ") }
    #expect(
      heads.contains { $0.hasPrefix("0f193979-b871-47cd-b60d-e271d6504359: not reachable (") })
    #expect(
      heads.contains { $0.hasPrefix("f6dcc750-1349-46b9-a324-0223764d46d1: not downloaded (") })
    #expect(heads.contains { $0.hasPrefix("63602599-3ad3-439f-9c49-3c8a7579933b: failed (") })
  }
}
