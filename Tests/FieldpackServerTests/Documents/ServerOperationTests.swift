import FieldpackCore
import Testing

@testable import FieldpackServer

/// Point 5 of the official tests: an unknown parameter is refused.
@Suite struct ServerOperationTests {
  @Test(arguments: [
    (
      ServerOperation.getItems, ["bbox", "limit", "f", "filter-lang", "depth", "DEPTH", "fid"], nil
    ),
    (.getItems, ["bbox", "depht", "x"], "depht"), (.getItems, ["photo"], "photo"),
    (.getItems, ["tags"], "tags"), (.getItems, ["geom"], "geom"), (.getItems, ["BBOX"], "BBOX"),
    (.getItem, ["crs", "f"], nil), (.getItem, ["bbox"], "bbox"), (.getItem, ["name"], "name"),
    (.getLandingPage, ["f"], nil), (.getLandingPage, ["limit"], "limit"),
    (.getTile, ["properties", "f"], nil), (.getTile, ["name"], "name"),
    (.deleteItem, ["f"], "f"),
  ])
  func `unknown parameters are found`(
    operation: ServerOperation, names: [String], unknown: String?
  ) {
    #expect(operation.firstUnknown(of: names, in: SampleLayers.wells) == unknown)
  }

  @Test func `the error suggests what may have been meant`() {
    let error = #expect(throws: FieldpackError.self) {
      try ServerOperation.getItems.check(
        [.init("limit", "1"), .init("depht", "1")], in: SampleLayers.wells)
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == "there is no parameter 'depht' here, did you mean 'depth'?")
  }

  @Test func `a parameter of every layer comes before a column of its name`() {
    let layer = ServedLayer(
      Layer(
        schema: Schema(
          layer: "x",
          columns: [ColumnDefinition("limit", .text()), ColumnDefinition("Crs", .text())]),
        kind: .attributes))
    #expect(layer.parameterColumns == ["fid", "Crs"])
    #expect(layer.parameterColumn("limit") == nil && layer.parameterColumn("Crs") == "Crs")
  }

  @Test func `paths, methods and ids are all different`() {
    let all = ServerOperation.allCases
    #expect(Set(all.map { $0.method + $0.path }).count == all.count)
    #expect(all.allSatisfy { ($0.formats.isEmpty) == $0.isEdit })
  }

  @Test func `documents lie at the paths of their operations`() {
    for name in SampleLayers.documents().names {
      let pattern = name.operation.path.split(separator: "/")
      #expect(pattern.count == name.path.count)
      for (part, own) in zip(pattern, name.path) where part.first != "{" { #expect(part == own) }
    }
  }
}
