import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// The files of the page with the map, and what the page gets of layers.
  @Suite struct MapPageTests {
    private func page(
      _ path: String..., base: String = "http://localhost", leaflet: String? = nil,
      method: String = "GET", fields: HTTPFields = [:]
    ) async throws -> ServerResponse {
      let survey = try await MapSurvey()
      let router = ServerRouter(
        PublishedStore(survey.store, .init(title: "field")) { .zero }, publicBase: LinkBase(base),
        hosts: nil, logger: .silent,
        mapPage: leaflet.map { MapPage(leaflet: $0) } ?? MapPage())
      let response = await router.answer(ServerRequest(method, ["map"] + path, fields: fields))
      await survey.close()
      return response
    }

    private func text(_ response: ServerResponse) -> String {
      guard case .bytes(let bytes) = response.body else { return "a stream" }
      return String(decoding: bytes, as: UTF8.self)
    }

    private func folder() throws -> TemporaryFolder {
      let folder = try TemporaryFolder()
      _ = try folder.write("export const version = 1", to: "leaflet.esm.min.js")
      _ = try folder.write("secret", to: "secret.js")
      return folder
    }

    @Test func `the page finds its files below the path that clients know`() async throws {
      let leaflet = try folder()
      let response = try await page(
        base: "https://fields.example/a&b/", leaflet: leaflet.url.path)
      #expect(response.status == 200)
      #expect(response.fields["Content-Type"] == "text/html; charset=utf-8")
      #expect(response.fields["Content-Security-Policy"] == MapPage.policy)
      #expect(text(response).contains(#"src="/a&amp;b/map/start.js""#))
      #expect(!text(response).contains("{base}"))
    }

    @Test(arguments: [
      ("start.js", "text/javascript; charset=utf-8"), ("map.css", "text/css; charset=utf-8"),
    ])
    func `files have their types and tags`(name: String, type: String) async throws {
      let response = try await page(name)
      #expect(response.status == 200)
      #expect(response.fields["Content-Type"] == type)
      let again = try await page(
        name, fields: ["If-None-Match": response.fields["ETag"] ?? ""])
      #expect(again.status == 304)
      #expect(text(again).isEmpty)
    }

    @Test func `Leaflet comes from its folder, and nothing else of that does`() async throws {
      let folder = try folder()
      let leaflet = folder.url.path
      let own = try await page("leaflet", "leaflet.esm.min.js", leaflet: leaflet)
      #expect(text(own) == "export const version = 1")
      for path in [["secret.js"], ["..", "secret.js"], ["images", "../secret.js"], []] {
        let survey = try await MapSurvey()
        let router = ServerRouter(
          PublishedStore(survey.store, .init(title: "field")) { .zero }, publicBase: nil,
          hosts: nil,
          logger: .silent, mapPage: MapPage(leaflet: leaflet))
        let response = await router.answer(ServerRequest("GET", ["map", "leaflet"] + path))
        #expect(response.status == 404, "\(path)")
        await survey.close()
      }
    }

    @Test func `without Leaflet the page says what is missing`() async throws {
      let response = try await page(leaflet: "/nowhere")
      #expect(response.status == 503)
      #expect(text(response).contains("install Debian's package libjs-leaflet"))
      #expect(!text(response).contains("/nowhere"))
    }

    @Test func `the page is only read`() async throws {
      let response = try await page("layers", method: "POST")
      #expect(response.status == 405)
      #expect(response.fields["Allow"] == "GET, HEAD, OPTIONS")
      #expect(try await page("none.js").status == 404)
    }

    /// A file that is missing in the list would not be served, and a file that the list has but the folder
    /// does not would not compile.
    @Test func `every file of the page is served, and small enough to be read`() throws {
      let folder = Checkout.file("Sources/FieldpackServer/Page").path
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(MapPage.files.map(\.name) == names.filter { !$0.hasSuffix(".html") }.sorted())
      for (name, bytes) in MapPage.files {
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 300)
        #expect(!text.contains("innerHTML") && !text.contains("outerHTML"), "\(name)")
      }
    }

    @Test func `the layers are told with their symbols`() async throws {
      let told = try JSONValueReader.read(text(try await page("layers")))
      func symbol(_ label: JSONValue, _ value: JSONValue, _ color: JSONValue) -> JSONValue {
        [
          "label": label, "value": value, "stroke": color, "strokeOpacity": 1, "width": 2,
          "fill": "#ff0000", "fillOpacity": 0.5, "point": color,
        ]
      }
      #expect(
        told == [
          "title": "field",
          "layers": [
            [
              "id": "wells", "name": "wells", "title": "wells", "description": "",
              "geometry": "POINT", "hasTiles": true, "hasID": true, "bbox": [0, 0, 19, 9.5],
              "label": "name",
              "style": [
                "attribute": "use",
                "symbols": [
                  symbol("Drinking water", "drinking", "#1f78b4"),
                  symbol("Fire water", "fire", "#e31a1c"),
                ],
              ],
            ],
            [
              "id": "zones", "name": "zones", "title": "zones", "description": "",
              "geometry": "POLYGON", "hasTiles": true, "hasID": true,
              "bbox": [0.5, 0.5, 1.5, 1.5], "label": "name",
            ],
            [
              "id": "motion", "name": "motion", "title": "motion", "description": "",
              "geometry": "POINT", "hasTiles": true, "hasID": true, "bbox": [6, 0, 6.4, 0],
              "instant": "time", "radius": "radius_m",
            ],
          ],
        ])
    }

    @Test func `pictures are told with the zoom levels of their pixels`() async throws {
      let survey = try await MapSurvey(pictures: true)
      let told = try await survey.get("/map/layers").json
      #expect(
        told["pictures"] == [
          [
            "id": "ortho", "title": "Orange",
            "description": "© <a href='https://example.org'>Survey</a>",
            "bbox": [-180, -90, 180, 90], "zooms": [1, 2],
          ]
        ])
      await survey.close()
    }

    @Test(arguments: [
      (SRS("EPSG", 3857), Envelope(minX: -20_037_508.34, minY: 0, maxX: 0, maxY: 20_037_508.34), 1),
      (.wgs84, Envelope(minX: 7, minY: 50, maxX: 7.703125, maxY: 50.703125), 9),
      // 256 pixels of 2,000 m, which are 2,000 m / cos(51°) on the grid of web maps.
      (SRS("EPSG", 25832), Envelope(minX: 4e5, minY: 5.4e6, maxX: 9.12e5, maxY: 5.912e6), 6),
    ])
    func `pixels of all systems have a zoom level of web maps`(
      srs: SRS, bounds: Envelope, zoom: Int
    ) throws {
      let pyramid = TilePyramid("x", srs: srs, bounds: bounds, zooms: 0...0)
      #expect(try #require(ServedPyramid(pyramid)).webZooms == zoom...zoom)
    }

    @Test func `the landing page leads to the map`() async throws {
      let survey = try await MapSurvey()
      let landing = try await survey.get("/?f=html")
      #expect(landing.text.contains("<a href=\"\(survey.address)/map\">A map</a>"))
      await survey.close()
    }
  }
#endif
