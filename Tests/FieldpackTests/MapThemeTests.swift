import FieldpackCore
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// Labels, colours and sizes of maps by the values of their features.
@Suite struct MapThemeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Twelve wells with depths and kinds, two of them without.
  private func workspace() async throws -> Workspace {
    let wells = (0..<12).map { index in
      let values =
        index < 10
        ? "\"depth\":\(index * index),\"kind\":\"\(["dug", "drilled", "a<b"][index % 3])\"" : ""
      return
        "{\"type\":\"Feature\",\"properties\":{\"name\":\"W\(index)\"\(values.isEmpty ? "" : ",")"
        + "\(values)},\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(13 + Double(index) / 10),51]}}"
    }.joined(separator: "\n")
    let file = try folder.write(wells, to: "wells.geojsonl")
    let target = folder.file("field.gpkg")
    _ = try await FileImport().run([file.path], into: target.path)
    return try await Workspace.open(file: target.path)
  }

  private func svg(
    _ workspace: Workspace, query: Query = Query(), _ change: (inout MapOptions) -> Void
  ) async throws -> (text: String, notes: [String]) {
    var options = ExportOptions()
    change(&options.map)
    let output = ByteOutput()
    let report = try await workspace.exportFeatures(query, to: output, as: .svg, options: options)
    return (String(decoding: output.buffer, as: UTF8.self), report.notes.map(\.text))
  }

  private func legend(of svg: String) -> [String] {
    svg.matches(of: #/<text [^>]*font-size="13"[^>]*>([^<]*)</#).map { String($0.1) }
  }

  @Test func `numbers have classes and words a colour each, whatever is selected`() async throws {
    let workspace = try await workspace()
    let numbers = try await svg(workspace, query: Query().select("name")) {
      $0.color = "depth"
      $0.classes = 3
      $0.method = .equal
    }
    #expect(
      legend(of: numbers.text) == ["wells: depth", "0 – 27", "27 – 54", "54 – 81", "no value"])
    let words = try await svg(workspace) { $0.color = "kind" }
    #expect(legend(of: words.text) == ["wells: kind", "a&lt;b", "drilled", "dug", "no value"])
    #expect(words.text.matches(of: #/<circle cx/#).count == 12)
    await workspace.close()
  }

  @Test func `features are drawn in the colours that their columns name`() async throws {
    let marks = ["ff0000", "00aa00", "ff0000"].map { "\"marker-color\":\"#\($0)\"" } + ["\"n\":1"]
    let lines = marks.enumerated().map { index, mark in
      "{\"type\":\"Feature\",\"properties\":{\(mark)},"
        + "\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(index),51]}}"
    }
    let file = try folder.write(lines.joined(separator: "\n"), to: "pins.geojsonl")
    let target = folder.file("pins.gpkg")
    _ = try await FileImport().run([file.path], into: target.path)
    let workspace = try await Workspace.open(file: target.path)
    let map = try await svg(workspace, query: Query().select("n")) { _ in }
    #expect(legend(of: map.text) == ["pins: #ff0000", "pins: #00aa00", "pins"])
    await workspace.close()
  }

  @Test func `labels and sizes are those of the features`() async throws {
    let workspace = try await workspace()
    let map = try await svg(workspace) {
      $0.label = "NAME"
      $0.size = "depth"
    }
    #expect(map.text.matches(of: #/>W[0-9]+</#).count == 12)
    #expect(legend(of: map.text) == ["wells", "wells: size by depth", "0", "40.5", "81"])
    let flat = try await svg(workspace) { $0.size = "name" }
    #expect(flat.notes == ["column 'name' has no numbers, so that all sizes are the same"])
    let ids = try await svg(workspace) { $0.label = "fid" }
    #expect(ids.text.contains(#/>12</#))
    let error = await #expect(throws: FieldpackError.self) {
      try await svg(workspace) { $0.color = "dept" }
    }
    #expect(error?.code == .notFound && error?.message.contains("depth") == true)
    await workspace.close()
  }

  @Test func `what QGIS stored in the file is drawn`() async throws {
    let workspace = try await workspace()
    let store = try #require(workspace.members.first?.store?.geoPackage)
    func symbol(_ name: Int, _ color: String) -> String {
      "<symbol name=\"\(name)\" type=\"marker\" alpha=\"1\"><layer class=\"SimpleMarker\">"
        + "<Option type=\"Map\"><Option name=\"color\" value=\"\(color)\"/></Option></layer></symbol>"
    }
    let qml =
      "<qgis><renderer-v2 type=\"categorizedSymbol\" attr=\"kind\"><categories>"
      + "<category symbol=\"0\" value=\"dug\" label=\"Dug wells\"/>"
      + "<category symbol=\"1\" value=\"drilled\" label=\"Drilled &amp; deep\"/></categories>"
      + "<symbols>\(symbol(0, "255,0,0,255"))\(symbol(1, "0,0,255,255"))</symbols>"
      + "</renderer-v2></qgis>"
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.execute(
        "CREATE TABLE layer_styles (id INTEGER PRIMARY KEY, f_table_name TEXT, styleName TEXT, "
          + "styleQML TEXT, useAsDefault BOOLEAN)")
      try writer.execute(
        "INSERT INTO layer_styles VALUES (1, 'wells', 's', '\(qml)', 1), (2, 'wells', 't', 'x', 0)")
    }
    let map = try await svg(workspace) { _ in }
    #expect(
      legend(of: map.text) == ["wells: kind", "Dug wells", "Drilled &amp; deep", "wells"])
    let colors = map.text.matches(of: ##/<g class="p h" fill="(#[0-9a-fA-F]+)"/##).map { $0.1 }
    #expect(colors == ["#ff0000", "#0000ff", "#888888"])
    let other = try await svg(workspace) { $0.color = "depth" }
    #expect(legend(of: other.text).first == "wells: depth")
    await workspace.close()
  }

  @Test func `several devices have a colour each, the same for tracks and points`() async throws {
    func feature(_ device: String, _ geometry: String) -> String {
      "{\"type\":\"Feature\",\"properties\":{\"device\":\"\(device)\"},\"geometry\":\(geometry)}\n"
    }
    let points = (0..<600).map { index in
      feature(
        index % 2 == 0 ? "a" : "b",
        "{\"type\":\"Point\",\"coordinates\":[\(13 + Double(index) / 6000),\(51 + index % 2)]}")
    }.joined()
    _ = try folder.write(points, to: "track_point.geojsonl")
    _ = try folder.write(
      ["a", "b"].enumerated().map { index, device in
        feature(
          device,
          "{\"type\":\"LineString\",\"coordinates\":[[13,\(51 + index)],[13.1,\(51 + index)]]}")
      }.joined(), to: "track.geojsonl")
    let target = folder.file("walk.gpkg")
    _ = try await FileImport().run(
      [folder.file("track.geojsonl").path, folder.file("track_point.geojsonl").path],
      into: target.path)
    let workspace = try await Workspace.open(file: target.path)
    let map = try await svg(workspace) { _ in }
    #expect(
      legend(of: map.text) == ["track: device", "a", "b", "track_point: device", "a", "b"])
    let lines = map.text.matches(of: ##/class="l" fill="none" stroke="(#[0-9A-F]+)"/##)
    let dots = map.text.matches(of: ##/<g class="p h" fill="(#[0-9A-F]+)"/##)
    #expect(lines.map { $0.1 } == dots.map { $0.1 } && Set(lines.map { $0.1 }).count == 2)
    // Points so close that they hide each other are left to the line.
    let shown = map.text.matches(of: #/<circle /#).count
    #expect(shown > 8 && shown < 300, "\(shown)")
    await workspace.close()
  }
}
