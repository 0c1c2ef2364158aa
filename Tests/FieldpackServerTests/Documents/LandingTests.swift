import FieldpackCore
import Testing

@testable import FieldpackServer

/// Points 1 and 2 of the official tests: the landing page and the conformance declaration.
@Suite struct LandingTests {
  @Test func `landing page has the links that the official tests follow`() throws {
    let json = try SampleLayers.documents { $0.description = "Wells and islands." }.json(.landing)
    let start = "https://example.org/field/"
    let relations = "http://www.opengis.net/def/rel/ogc/1.0/"
    func link(_ rel: String, _ path: String, _ type: String, _ title: String) -> JSONValue {
      [
        "rel": .text(rel), "type": .text(type), "title": .text(title), "href": .text(start + path),
      ]
    }
    let expected: JSONValue = [
      "title": "Field", "description": "Wells and islands.",
      "links": [
        link("self", "?f=json", "application/json", "Field"),
        link("alternate", "?f=html", "text/html", "Field as a page"),
        link(
          "service-desc", "api?f=json", "application/vnd.oai.openapi+json;version=3.0",
          "The API in OpenAPI 3.0"),
        link("service-doc", "api?f=html", "text/html", "The API as a page"),
        link(
          "conformance", "conformance", "application/json",
          "The standards that this server keeps to"),
        link("data", "collections", "application/json", "The collections"),
        link(
          relations + "functions", "functions", "application/json", "The functions for conditions"),
        link(
          relations + "tiling-schemes", "tileMatrixSets", "application/json",
          "The tile matrix sets"),
      ],
    ]
    #expect(json == expected)
  }

  @Test func `landing page leads to a map only where there is one`() throws {
    let json = try SampleLayers.documents { $0.hasMap = true }.json(.landing)
    let expected: JSONValue = [
      "rel": "preview", "type": "text/html", "title": "A map",
      "href": "https://example.org/field/map",
    ]
    #expect(json["links"]?.items.last == expected)
  }

  @Test func `content types are those that links promise`() throws {
    let documents = SampleLayers.documents()
    let types = [ServerDocuments.Name.landing, .api, .schema("wells")].map {
      documents.document($0, as: .json, base: SampleLayers.base)?.contentType
    }
    #expect(
      types == [
        "application/json", "application/vnd.oai.openapi+json;version=3.0",
        "application/schema+json",
      ])
  }

  @Test func `there is no document of a layer that is not there`() {
    let documents = SampleLayers.documents()
    for name in ServerDocuments.names(of: "none") {
      #expect(documents.document(name, as: .json, base: SampleLayers.base) == nil)
    }
    #expect(documents.document(.landing, as: .tileJSON, base: SampleLayers.base) == nil)
  }

  @Test func `links begin with the base, whatever slashes end it`() throws {
    for base in ["http://127.0.0.1:8080", "http://127.0.0.1:8080//"] {
      let json = try SampleLayers.documents().json(.conformance, base: LinkBase(base))
      #expect(
        json["links"]?.items.map { $0["href"] } == [
          "http://127.0.0.1:8080/conformance?f=json", "http://127.0.0.1:8080/conformance?f=html",
        ])
    }
  }

  /// The list is what clients trust: a class is added here with the tests of what it promises.
  private static let classes = """
    ogcapi-common-1/1.0/conf/core
    ogcapi-common-1/1.0/conf/landing-page
    ogcapi-common-1/1.0/conf/json
    ogcapi-common-1/1.0/conf/html
    ogcapi-common-1/1.0/conf/oas30
    ogcapi-common-2/1.0/conf/collections
    ogcapi-features-1/1.0/conf/core
    ogcapi-features-1/1.0/conf/geojson
    ogcapi-features-1/1.0/conf/html
    ogcapi-features-1/1.0/conf/oas30
    ogcapi-features-2/1.0/conf/crs
    ogcapi-features-3/1.0/conf/queryables
    ogcapi-features-3/1.0/conf/queryables-query-parameters
    ogcapi-features-3/1.0/conf/filter
    ogcapi-features-3/1.0/conf/features-filter
    cql2/1.0/conf/cql2-text
    cql2/1.0/conf/cql2-json
    cql2/1.0/conf/basic-cql2
    cql2/1.0/conf/advanced-comparison-operators
    cql2/1.0/conf/case-insensitive-comparison
    cql2/1.0/conf/accent-insensitive-comparison
    cql2/1.0/conf/basic-spatial-functions
    cql2/1.0/conf/basic-spatial-functions-plus
    cql2/1.0/conf/basic-spatial-operators
    cql2/1.0/conf/spatial-functions
    cql2/1.0/conf/temporal-functions
    cql2/1.0/conf/array-functions
    cql2/1.0/conf/property-property
    cql2/1.0/conf/functions
    cql2/1.0/conf/arithmetic
    ogcapi-features-5/1.0/conf/schemas
    ogcapi-features-5/1.0/conf/core-roles-features
    ogcapi-features-5/1.0/conf/queryables
    ogcapi-features-5/1.0/conf/sortables
    ogcapi-features-5/1.0/conf/returnables-and-receivables
    ogcapi-common-3/1.0/conf/schemas
    ogcapi-common-3/1.0/conf/core-roles-features
    ogcapi-common-3/1.0/conf/queryables
    ogcapi-common-3/1.0/conf/sortables
    ogcapi-common-3/1.0/conf/returnables-and-receivables
    ogcapi-features-8/1.0/conf/sortables
    ogcapi-features-8/1.0/conf/sorting
    ogcapi-features-8/1.0/conf/features-sorting
    ogcapi-tiles-1/1.0/conf/core
    ogcapi-tiles-1/1.0/conf/tileset
    ogcapi-tiles-1/1.0/conf/tilesets-list
    ogcapi-tiles-1/1.0/conf/geodata-tilesets
    ogcapi-tiles-1/1.0/conf/mvt
    ogcapi-tiles-1/1.0/conf/oas30
    tms/2.0/conf/tilematrixset
    tms/2.0/conf/json-tilematrixset
    tms/2.0/conf/tilesetmetadata
    tms/2.0/conf/json-tilesetmetadata
    """

  @Test(arguments: [(false, false), (true, false), (true, true), (false, true)])
  func `conformance declares editing only where it can be done`(
    isWritable: Bool, requiresIfMatch: Bool
  ) throws {
    let json = try SampleLayers.documents {
      $0.isWritable = isWritable
      $0.requiresIfMatch = requiresIfMatch
    }.json(.conformance)
    var expected = Self.classes.split(separator: "\n").map(String.init)
    if isWritable {
      expected += ["create-replace-delete", "update", "features"].map {
        "ogcapi-features-4/1.0/conf/" + $0
      }
      if requiresIfMatch { expected.append("ogcapi-features-4/1.0/req/optimistic-locking-etags") }
    }
    #expect(
      json["conformsTo"] == JSONValue(expected.map { "http://www.opengis.net/spec/" + $0 }))
  }

  /// Every class of CQL2 is declared because conditions of it are read.
  @Test(arguments: [
    "name = 'x' AND NOT depth > 1 OR state IS NULL", "name LIKE 'x%'", "depth BETWEEN 1 AND 2",
    "state IN ('a', 'b')", "CASEI(name) = CASEI('x')", "ACCENTI(name) = ACCENTI('x')",
    "S_INTERSECTS(geom, POINT(7 50))", "S_INTERSECTS(geom, BBOX(7, 50, 8, 51))",
    "S_INTERSECTS(geom, LINESTRING(7 50, 8 51))", "S_TOUCHES(geom, POINT(7 50))",
    "T_AFTER(seen, TIMESTAMP('2024-01-31T08:00:00Z'))", "A_CONTAINS(tags, ('a', 'b'))",
    "1 < depth", "depth = visits", "S_COVERS(geom, POINT(7 50))", "depth * 2 + 1 > 3",
    #"{"op":"=","args":[{"property":"name"},"x"]}"#,
  ])
  func `conditions of each declared class of CQL2 are read`(text: String) throws {
    _ = try Filter(cql2: text)
  }
}
