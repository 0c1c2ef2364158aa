import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackServer

/// Points 7, 9 and 10 of the official tests: collections, their extents and reference systems.
@Suite struct CollectionTests {
  private static let crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
  private static let epsg = "http://www.opengis.net/def/crs/EPSG/0/"

  @Test func `a collection has its links, extent and systems`() throws {
    let json = try SampleLayers.documents().json(.collection("wells"))
    let start = "https://example.org/field/collections/wells"
    let relations = "http://www.opengis.net/def/rel/ogc/1.0/"
    func link(_ rel: String, _ path: String, _ type: String, _ title: String) -> JSONValue {
      [
        "rel": .text(rel), "type": .text(type), "title": .text(title), "href": .text(start + path),
      ]
    }
    #expect(json["id"] == "wells" && json["title"] == "Wells" && json["itemType"] == "feature")
    #expect(json["description"] == "Wells of the district.")
    #expect(
      json["links"] == [
        link("self", "?f=json", "application/json", "Wells"),
        link("alternate", "?f=html", "text/html", "Wells as a page"),
        link("items", "/items", "application/geo+json", "The features as json"),
        link("items", "/items?f=html", "text/html", "The features as html"),
        link("items", "/items?f=geojsonl", "application/x-ndjson", "The features as geojsonl"),
        link("items", "/items?f=csv", "text/csv", "The features as csv"),
        link("items", "/items?f=gpx", "application/gpx+xml", "The features as gpx"),
        link(
          "items", "/items?f=gpkg", "application/geopackage+sqlite3", "The features as gpkg"),
        link(relations + "queryables", "/queryables", "application/schema+json", "queryables"),
        link(relations + "schema", "/schema", "application/schema+json", "schema"),
        link(relations + "sortables", "/sortables", "application/schema+json", "sortables"),
        link(relations + "tilesets-vector", "/tiles", "application/json", "The vector tiles"),
      ])
    #expect(
      json["crs"] == [
        .text(Self.crs84), .text(Self.epsg + "4326"), .text(Self.epsg + "3857"),
        .text(Self.epsg + "25832"),
      ])
    #expect(json["storageCrs"] == .text(Self.epsg + "25832"))
    #expect(
      json["extent"]?["temporal"] == [
        "interval": [["2024-01-31T08:00:00Z", .null]],
        "trs": "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian",
      ])
  }

  /// The numbers are those of `gdaltransform` for the corners.
  private static let extents: [(LayerID, [Double])] = [
    ("wells", [8.29916596906999, 50.10015031395, 8.46865470881808, 50.2179537989469]),
    ("islands", [167.96630568239, -17.7905603857947, -174.067388635219, -9.00588263507951]),
    ("places", [7, 50, 8.5, 51]),
  ]

  @Test(arguments: extents)
  func `extents are in longitude and latitude`(layer: LayerID, expected: [Double]) throws {
    let spatial = try SampleLayers.documents().json(.collection(layer))["extent"]?["spatial"]
    #expect(spatial?["crs"] == .text(Self.crs84))
    let boxes = try #require(spatial?["bbox"]?.items)
    #expect(boxes.count == 1)
    let box = boxes[0].items.compactMap(\.number)
    #expect(box.count == 4 && zip(box, expected).allSatisfy { abs($0 - $1) < 1e-9 }, "\(box)")
  }

  @Test func `collections without a place say none`() throws {
    let documents = SampleLayers.documents()
    let notes = try documents.json(.collection("notes"))
    #expect(notes["extent"] == nil && notes["crs"] == nil && notes["storageCrs"] == nil)
    let plan = try documents.json(.collection("plan"))
    #expect(plan["extent"] == nil && plan["storageCrs"] == nil)
    #expect(plan["crs"] == [.text(Self.crs84)])
    for layer: LayerID in ["notes", "plan"] {
      let relations = try documents.json(.collection(layer))["links"]?.items.map { $0["rel"] }
      #expect(
        relations?.contains("http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector") == false)
      #expect(documents.document(.tilesets(layer), as: .json, base: SampleLayers.base) == nil)
    }
  }

  @Test func `WGS 84 is stored with longitude first`() throws {
    let json = try SampleLayers.documents().json(.collection("places"))
    #expect(json["storageCrs"] == .text(Self.crs84))
    #expect(
      json["crs"] == [
        .text(Self.crs84), .text(Self.epsg + "4326"), .text(Self.epsg + "3857"),
      ])
  }

  @Test func `the list of collections names common systems once`() throws {
    let documents = SampleLayers.documents()
    let json = try documents.json(.collections)
    #expect(
      json["crs"] == [
        .text(Self.crs84), .text(Self.epsg + "4326"), .text(Self.epsg + "3857"),
      ])
    let collections = try #require(json["collections"]?.items)
    #expect(
      collections.map { $0["crs"] } == [
        ["#/crs", .text(Self.epsg + "25832")], ["#/crs", .text(Self.epsg + "3832")], ["#/crs"], nil,
        [.text(Self.crs84)],
      ])
    #expect(json["links"]?.items.map { $0["rel"] } == ["self", "alternate"])
    // All else is as in the document of the collection.
    for (listed, layer) in zip(collections, documents.layers) {
      let own = try documents.json(.collection(layer.id))
      for name in ["id", "title", "description", "extent", "storageCrs", "itemType"] {
        #expect(listed[name] == own[name])
      }
      #expect(
        listed["links"]?.items.filter { $0["rel"] != "alternate" }
          == own["links"]?.items.filter { $0["rel"] != "alternate" })
    }
  }

  @Test func `every link has a relation and a type`() throws {
    let documents = SampleLayers.documents()
    for name in documents.names where name != .api {
      guard documents.document(name, as: .json, base: SampleLayers.base) != nil else { continue }
      for link in try documents.json(name).all("links").flatMap(\.items) {
        #expect(link["rel"]?.string != nil && link["type"]?.string != nil, "\(name): \(link)")
        #expect(link["href"]?.string?.hasPrefix(SampleLayers.base.text + "/") == true)
      }
    }
  }
}
