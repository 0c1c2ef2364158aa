import FieldpackCore
import Testing

@testable import FieldpackServer

/// Section 3.5: the documents of OGC API Tiles.
@Suite struct TileDocumentTests {
  /// The numbers are those of the OGC's register of tile matrix sets.
  @Test func `the matrix set is WebMercatorQuad`() throws {
    let json = try SampleLayers.documents().json(.tileMatrixSet)
    let uri = "http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad"
    #expect(json["id"] == "WebMercatorQuad" && json["uri"] == .text(uri))
    #expect(json["crs"] == "http://www.opengis.net/def/crs/EPSG/0/3857")
    let matrices = try #require(json["tileMatrices"]?.items)
    #expect(matrices.map { $0["id"]?.string } == (0...22).map(String.init))
    let published: [(Int, scale: Double, cell: Double)] = [
      (0, 559082264.028717, 156543.033928041), (12, 136494.693366386, 38.2185141425881),
      (22, 133.295598990612, 0.037322767717371),
    ]
    for (zoom, scale, cell) in published {
      let matrix = matrices[zoom]
      let found = (
        try #require(matrix["scaleDenominator"]?.number), try #require(matrix["cellSize"]?.number)
      )
      #expect(abs(found.0 / scale - 1) < 1e-12 && abs(found.1 / cell - 1) < 1e-12)
      let count: JSONValue = .integer(1 << Int64(zoom))
      #expect(matrix["matrixWidth"] == count && matrix["matrixHeight"] == count)
      #expect(matrix["tileWidth"] == 256 && matrix["tileHeight"] == 256)
      let origin = matrix["pointOfOrigin"]?.items.compactMap(\.number) ?? []
      #expect(origin.count == 2 && abs(origin[0] + 20037508.3427892) < 1e-7)
      #expect(abs(origin[1] - 20037508.3427892) < 1e-7)
    }
  }

  @Test func `the list of matrix sets leads to it`() throws {
    let sets = try SampleLayers.documents().json(.tileMatrixSets)["tileMatrixSets"]?.items
    #expect(sets?.count == 1)
    #expect(
      sets?[0]["links"] == [
        [
          "rel": "self", "type": "application/json", "title": "WebMercatorQuad",
          "href": "https://example.org/field/tileMatrixSets/WebMercatorQuad",
        ]
      ])
  }

  @Test func `tilesets of a collection lead to tiles, the row before the column`() throws {
    let documents = SampleLayers.documents()
    let set = try #require(documents.json(.tilesets("wells"))["tilesets"]?.items.first)
    let tileset = try documents.json(.tileset("wells"))
    let tile: JSONValue = [
      "rel": "item", "type": "application/vnd.mapbox-vector-tile", "title": "A tile",
      "href": .text(
        "https://example.org/field/collections/wells/tiles/WebMercatorQuad/"
          + "{tileMatrix}/{tileRow}/{tileCol}"), "templated": true,
    ]
    for json in [set, tileset] {
      #expect(json["dataType"] == "vector")
      #expect(json["crs"] == "http://www.opengis.net/def/crs/EPSG/0/3857")
      #expect(json["links"]?.items.filter { $0["rel"] == "item" } == [tile])
      #expect(json["links"]?.items.contains { $0["rel"] == "self" } == true)
      #expect(
        json["links"]?.items.contains {
          $0["rel"] == "http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme"
        } == true)
    }
    #expect(
      set["links"]?.items.first?["href"]
        == "https://example.org/field/collections/wells/tiles/WebMercatorQuad")
    #expect(tileset["boundingBox"]?["lowerLeft"]?.items.count == 2)
    #expect(try documents.json(.tileset("islands"))["boundingBox"] == nil)
  }

  @Test func `TileJSON 3 has the layer and its fields`() throws {
    let json = try SampleLayers.documents().json(.tileset("wells"), as: .tileJSON)
    #expect(json["tilejson"] == "3.0.0" && json["minzoom"] == 0 && json["maxzoom"] == 22)
    #expect(
      json["tiles"] == [
        "https://example.org/field/collections/wells/tiles/WebMercatorQuad/{z}/{y}/{x}"
      ])
    #expect(
      json["vector_layers"] == [
        [
          "id": "wells", "description": "Wells of the district.",
          "fields": [
            "name": "String", "depth": "Number", "state": "String", "visits": "Number",
            "grade": "Number", "dry": "Boolean", "drilled": "String", "seen": "String",
            "tags": "String", "label": "String", "price": "String",
          ], "minzoom": 0, "maxzoom": 22,
        ]
      ])
    let bounds = json["bounds"]?.items.compactMap(\.number) ?? []
    let expected = [8.29916596906999, 50.10015031395, 8.46865470881808, 50.2179537989469]
    #expect(bounds.count == 4 && zip(bounds, expected).allSatisfy { abs($0 - $1) < 1e-9 })
    // Bounds cannot cross the antimeridian.
    let islands = try SampleLayers.documents().json(.tileset("islands"), as: .tileJSON)
    let whole = islands["bounds"]?.items.compactMap(\.number) ?? []
    #expect(whole.first == -180 && whole.dropFirst(2).first == 180)
  }
}
