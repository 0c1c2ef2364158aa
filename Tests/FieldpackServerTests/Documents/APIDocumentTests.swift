import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

/// Points 2, 3 and 4 of the official tests, and what those of tiles look for in the API document.
@Suite(.programs) struct APIDocumentTests {
  private static func api(
    _ layers: [ServedLayer] = SampleLayers.all,
    change: (inout ServerDocuments.Options) -> Void = { _ in }
  ) throws -> JSONValue {
    try SampleLayers.documents(layers, change: change).json(.api)
  }

  private static let kinds:
    [(name: String, change: @Sendable (inout ServerDocuments.Options) -> Void)] = [
      ("read only", { _ in }), ("writable", { $0.isWritable = true }),
      (
        "with If-Match",
        {
          $0.isWritable = true
          $0.requiresIfMatch = true
        }
      ),
      (
        "with all",
        {
          $0.isWritable = true
          ($0.hasMap, $0.hasTokens, $0.isOpen, $0.hasHealth) = (true, true, true, true)
          ($0.hasApps, $0.hasBundles, $0.hasSensors) = (true, true, true)
        }
      ),
    ]

  @Test(
    .enabled(if: Programs.openAPIPython != nil, Comment(rawValue: Programs.noOpenAPIPython)))
  func `a strict reader of OpenAPI takes the document`() async throws {
    let hostile = SampleLayers.hostile.map { name in
      ServedLayer(Layer(schema: Schema(layer: LayerID(name)), kind: .attributes))
    }
    var lines: [String] = []
    for kind in Self.kinds {
      lines.append(try Self.api(change: kind.change).text)
      lines.append(try Self.api([], change: kind.change).text)
      lines.append(try Self.api(hostile, change: kind.change).text)
    }
    let python = try #require(Programs.openAPIPython)
    let script = """
      import json, sys
      from openapi_spec_validator import validate
      lines = sys.stdin.read().split("\\n")
      for line in lines: validate(json.loads(line))
      print(len(lines))
      """
    let result = try await Program.run(
      python, ["-c", script], input: Data(lines.joined(separator: "\n").utf8))
    #expect(result.status == 0 && result.output == "\(lines.count)\n", "\(result)")
  }

  @Test func `version, server and texts are such as strict readers want`() throws {
    let api = try Self.api()
    #expect(api["openapi"] == "3.0.3")
    #expect(api["servers"] == [["url": "https://example.org/field"]])
    #expect(api["info"]?["contact"] == nil)
    // OpenAPI 3.0 has no type `null`.
    #expect(!api.all("type").contains { $0 == "null" || $0 == .null || !$0.items.isEmpty })
  }

  @Test(arguments: kinds.map(\.name))
  func `every reference is found in the document`(kind: String) throws {
    let change = try #require(Self.kinds.first { $0.name == kind }?.change)
    let api = try Self.api(change: change)
    let references = api.all("$ref").compactMap(\.string)
    #expect(references.count > 50)
    for reference in references {
      let parts = reference.split(separator: "/").map(String.init)
      try #require(parts.count == 4 && parts[0] == "#")
      #expect(api[parts[1]]?[parts[2]]?[parts[3]] != nil, "\(reference)")
    }
    // And nothing stands there that is not used.
    for kind in api["components"]?.members ?? []
    where !["schemas", "securitySchemes"].contains(kind.name) {
      for member in kind.value.members {
        let reference = "#/components/\(kind.name)/\(member.name)"
        let isOfEdits = ["401", "403", "405", "409", "412", "413", "415", "422", "428"]
          .contains(member.name)
        #expect(references.contains(reference) || isOfEdits, "\(reference)")
      }
    }
  }

  @Test func `paths are templates, and editing is there only where it can be done`() throws {
    func operations(_ api: JSONValue) -> [String] {
      (api["paths"]?.members ?? []).map { path in
        path.name + " " + path.value.members.map(\.name).joined(separator: " ")
      }
    }
    let collection = "/collections/{collectionId}"
    let tiles = collection + "/tiles/{tileMatrixSetId}"
    var standard = [
      "/ get", "/conformance get", "/api get", "/collections get", collection + " get",
      collection + "/queryables get", collection + "/schema get", collection + "/sortables get",
      collection + "/items get", collection + "/items/{featureId} get", "/functions get",
      "/tileMatrixSets get", "/tileMatrixSets/{tileMatrixSetId} get", collection + "/tiles get",
      tiles + " get", tiles + "/{tileMatrix}/{tileRow}/{tileCol} get",
    ]
    var own = [
      "/events get", collection + "/events get", "/tiles get", "/tiles/{z}/{x}/{y}.mvt get",
      collection + "/tiles/{z}/{x}/{y}.mvt get", "/sync/layers get", "/sync/edits get",
      "/sync/edit get",
    ]
    #expect(operations(try Self.api()) == standard + own)
    #expect(operations(try Self.api { $0.hasMap = true }).contains("/map get"))
    standard[8] += " post"
    standard[9] += " put patch delete"
    own[6] += " post"
    own += [
      "/fixes post", "/motion post", "/upload post", "/uploads/{uploadId} get put delete",
      "/captures get", "/captures/{captureToken} get",
      "/captures/{captureToken}/{capturePart} get",
    ]
    #expect(operations(try Self.api { $0.isWritable = true }) == standard + own)
  }

  @Test func `the captures of a file that is only read are there, where it has some`() throws {
    let captures = ServedLayer(Layer(schema: Schema(layer: "capture"), kind: .attributes))
    let paths = try Self.api([captures])["paths"]
    #expect(paths?["/captures"] != nil && paths?["/upload"] == nil)
  }

  @Test func `signing in, apps and health are there only where the server has them`() throws {
    func has(_ path: String, _ change: (inout ServerDocuments.Options) -> Void) throws -> Bool {
      let isThere = try Self.api(change: change)["paths"]?[path] != nil
      #expect(try Self.api()["paths"]?[path] == nil, "\(path)")
      return isThere
    }
    #expect(try has("/login") { $0.hasTokens = true })
    #expect(try has("/bridge") { $0.hasApps = true })
    #expect(try has("/api/forms/{formKey}/results") { $0.hasApps = true })
    #expect(try has("/bundles/{bundleName}") { $0.hasBundles = true })
    #expect(try has("/metrics") { $0.hasHealth = true })
    #expect(try has("/sensors") { $0.hasSensors = true })
    let item = "/sensors/items/{itemId}"
    #expect(try has(item) { ($0.hasSensors, $0.isWritable) = (true, true) })
    let reading = try Self.api(change: { $0.hasSensors = true })
    #expect(reading["paths"]?[item] == nil)
    let writing = try Self.api(change: { ($0.hasTokens, $0.isWritable) = (true, true) })
    #expect(writing["paths"]?["/fixes"]?.members.map(\.name) == ["post", "get"])
    func security(_ change: (inout ServerDocuments.Options) -> Void) throws -> String? {
      try Self.api(change: change)["security"]?.text
    }
    #expect(try security { _ in } == nil)
    #expect(try security { $0.hasTokens = true } == #"[{"bearer":[]},{"basic":[]}]"#)
    #expect(
      try security { ($0.hasTokens, $0.isOpen) = (true, true) }
        == #"[{"bearer":[]},{"basic":[]},{}]"#)
  }

  @Test func `every operation has an id of its own`() throws {
    let kind = try #require(Self.kinds.last)
    let ids = try Self.api(change: kind.change).all("operationId").compactMap(\.string)
    #expect(ids.count >= 70)
    #expect(Set(ids).count == ids.count)
  }

  @Test func `every path declares what it gives`() throws {
    let api = try Self.api()
    func types(_ path: String) -> [String]? {
      api["paths"]?[path]?["get"]?["responses"]?["200"]?["content"]?.members.map(\.name)
    }
    let documents = ["application/json", "text/html"]
    #expect(types("/") == documents && types("/conformance") == documents)
    #expect(types("/collections") == documents)
    #expect(types("/collections/{collectionId}") == documents)
    #expect(types("/api") == ["application/vnd.oai.openapi+json;version=3.0", "text/html"])
    #expect(
      types("/collections/{collectionId}/items") == [
        "application/geo+json", "text/html", "application/x-ndjson", "text/csv",
        "application/gpx+xml", "application/geopackage+sqlite3",
      ])
    #expect(
      types("/collections/{collectionId}/items/{featureId}") == [
        "application/geo+json", "text/html",
      ])
    for path in api["paths"]?.members ?? [] {
      #expect(path.value["get"]?["responses"]?["200"] != nil, "\(path.name)")
      // The addresses beside those of the standards have one answer for all mistakes.
      guard path.value["get"]?["responses"]?["default"] == nil else { continue }
      #expect(path.value["get"]?["responses"]?["400"] != nil, "\(path.name)")
      #expect((path.value["get"]?["responses"]?["404"] != nil) == path.name.contains("{"))
    }
  }

  @Test func `bbox, limit and datetime are declared as the standard demands`() throws {
    let api = try Self.api()
    let listed = api["paths"]?["/collections/{collectionId}/items"]?["get"]?["parameters"]?.items
    let names = listed?.compactMap { $0["$ref"]?.string?.split(separator: "/").last }
    #expect(
      names == [
        "collectionId", "limit", "offset", "after", "bbox", "bbox-crs", "crs", "datetime", "filter",
        "filter-lang", "filter-crs", "sortby", "properties",
        "f-json-html-geojsonl-csv-gpx-gpkg",
      ])
    let parameters = try #require(api["components"]?["parameters"])
    func plain(_ name: String) -> String? {
      parameters[name].map { parameter in
        JSONValue.object(parameter.members.filter { $0.name != "description" }).text
      }
    }
    #expect(
      plain("bbox") == #"{"name":"bbox","in":"query","required":false,"schema":{"type":"array","#
        + #""minItems":4,"maxItems":6,"items":{"type":"number"}},"style":"form","explode":false}"#)
    #expect(
      plain("limit")
        == #"{"name":"limit","in":"query","required":false,"schema":{"type":"integer","#
        + #""minimum":1,"maximum":10000,"default":100},"style":"form","explode":false}"#)
    #expect(
      plain("datetime") == #"{"name":"datetime","in":"query","required":false,"#
        + #""schema":{"type":"string"},"style":"form","explode":false}"#)
    #expect(
      plain("collectionId") == #"{"name":"collectionId","in":"path","required":true,"#
        + #""schema":{"type":"string","enum":["wells","islands","places","notes","plan"]}}"#)
  }

  @Test func `tiles have the names that the official tests look for`() throws {
    let api = try Self.api()
    let tile = api["paths"]?[ServerOperation.getTile.path]?["get"]
    #expect(tile?["operationId"]?.string?.contains(".getTile") == true)
    let names = tile?["parameters"]?.items.compactMap {
      $0["$ref"]?.string?.split(separator: "/").last
    }
    #expect(
      names == [
        "collectionId", "tileMatrixSetId", "tileMatrix", "tileRow", "tileCol", "properties",
        "f-mvt",
      ])
  }

  @Test func `If-Match is demanded only where the server demands it`() throws {
    for kind in Self.kinds {
      let api = try Self.api(change: kind.change)
      let field = api["components"]?["parameters"]?["If-Match"]
      let put = api["paths"]?["/collections/{collectionId}/items/{featureId}"]?["put"]
      #expect((field != nil) == (kind.name != "read only"))
      #expect((field?["required"] == true) == (kind.name == "with If-Match"))
      #expect((put?["responses"]?["428"] != nil) == (kind.name == "with If-Match"))
    }
  }

  @Test func `the number of layers does not change the paths`() throws {
    let many = (0..<500).map { index in
      ServedLayer(Layer(schema: Schema(layer: LayerID("layer \(index)")), kind: .attributes))
    }
    #expect(try Self.api(many)["paths"] == Self.api()["paths"])
  }
}
