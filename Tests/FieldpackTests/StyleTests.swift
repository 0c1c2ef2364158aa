import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

/// From a config's `paint` to the layers of its store and the batches of an answer.
@Suite struct StyleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func store(_ style: String) throws -> (StoreConfig, [String]) {
    let head = "\"id\":\"s\",\"store_type\":\"gpkg\",\"uri\":\"a\""
    let text = "{\"stores\":[{\(head),\"style\":\(style)}]}"
    let config = WorkspaceConfig(
      try ConfigDocument(Array(text.utf8), file: "a.scfg"), folder: "/data")
    return (try #require(config.stores.first), config.diagnostics.map(\.message))
  }

  private static func standard(_ change: (inout LayerStyle) -> Void) -> LayerStyle {
    var style = LayerStyle.standard
    change(&style)
    return style
  }

  static let paints: [(String, LayerStyle?, [String])] = [
    ("null", nil, []),
    ("[]", nil, []),
    ("[{\"id\":\"default\"}]", nil, []),
    ("[{\"paint\":{}}]", .standard, []),
    (
      "[{\"paint\":{\"line-color\":\"#00f\",\"line-width\":3.5,\"line-cap\":\"round\"}}]",
      standard {
        $0.strokeColor = StyleColor("#0000ff")
        $0.strokeWidth = 3.5
      }, []
    ),
    (
      "[{\"paint\":{\"fill-color\":\"lime\"}},{\"paint\":{\"icon-color\":\"teal\"}},{\"id\":\"x\"}]",
      standard { $0.iconColor = StyleColor("#008080") }, []
    ),
    (
      "[{\"paint\":{\"fill-color\":3,\"fill-opacity\":1.5,\"line-opacity\":\"1\","
        + "\"icon-color\":null,\"line-color\":\"blu\"}}]",
      .standard,
      [
        "'line-color' is a colour such as \"#34fb71\", not 'blu': the standard one holds",
        "'line-opacity' is a number from 0 to 1, not a text: the standard one holds",
        "'fill-color' is a colour such as \"#34fb71\", not a number: the standard one holds",
        "'fill-opacity' is a number from 0 to 1, not 1.5: the standard one holds",
      ]
    ),
    ("{}", nil, ["'style' is an array of Mapbox layers, not an object: left out"]),
    ("[{\"paint\":[]}]", nil, ["'paint' is an object, not an array: left out"]),
  ]

  @Test(arguments: paints)
  func `paint is read over the standard style`(
    text: String, style: LayerStyle?, messages: [String]
  ) throws {
    let (store, found) = try store(text)
    #expect(store.layerStyle == style)
    #expect(found == messages)
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `the documented values are read`() throws {
    let config = try WorkspaceConfig(
      ConfigDocument(
        Array(Data(contentsOf: SharedData.url("spatialconnect/android-sdk/config.scfg"))),
        file: "config.scfg"), folder: "/data")
    let style = config.stores.compactMap(\.layerStyle)
    #expect(
      style == [
        LayerStyle(
          strokeColor: StyleColor("#4357fb"), strokeOpacity: 1, strokeWidth: 2,
          fillColor: StyleColor("#34fb71"), fillOpacity: 0.3, iconColor: StyleColor("#3371fb"))
      ])
  }

  @Test func `layers and batches carry their store's style`() async throws {
    _ = try folder.write(
      "{\"type\":\"Point\",\"coordinates\":[13.4,52.5]}", to: "wells.geojson")
    let wells = folder.file("wells.geojson").path
    _ = try await FileImport().run([wells], into: folder.file("wells.gpkg").path)
    let paint = "\"style\":[{\"paint\":{\"icon-color\":\"#3371fb\"}}]"
    let config = try folder.write(
      """
      {"stores":[
        {"id":"a","store_type":"gpkg","uri":"wells.gpkg",\(paint)},
        {"id":"b","store_type":"geojson","uri":"wells.geojson",\(paint)},
        {"id":"c","store_type":"gpkg","uri":"wells.gpkg"}]}
      """, to: "a.scfg")
    let workspace = try await Workspace.open(
      [config.path], cache: .folder(folder.file("cache").path))
    let style = Self.standard { $0.iconColor = StyleColor("#3371fb") }
    var found: [StoreID: LayerStyle?] = [:]
    for id: StoreID in ["a", "b", "c"] {
      found[id] = try await workspace.store(id).layers().first?.style
    }
    #expect(found == ["a": style, "b": style, "c": nil])
    found = [:]
    for try await batch in try await workspace.query(Query()) {
      found[batch.store] = batch.schema.style
    }
    #expect(found == ["a": style, "b": style, "c": nil])
    await workspace.close()
  }
}
