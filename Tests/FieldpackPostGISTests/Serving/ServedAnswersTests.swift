#if PostGIS && Server
  import Fieldpack
  import FieldpackCore
  import FieldpackHTTP
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS
  @testable import FieldpackServer

  /// A database answers as a GeoPackage with the same features does, byte for byte.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ServedAnswersTests {
    private static let documents = [
      "/", "/?f=html", "/conformance", "/collections", "/collections?f=html",
      "/collections/wells", "/collections/zones", "/collections/notes", "/collections/none",
      "/collections/wells/queryables", "/collections/zones/queryables",
      "/collections/wells/schema", "/collections/zones/schema", "/collections/notes/schema",
      "/collections/wells/sortables", "/collections/wells/sortables?f=html", "/functions",
      "/tileMatrixSets", "/tileMatrixSets/WebMercatorQuad", "/collections/wells/tiles",
      "/collections/wells/tiles/WebMercatorQuad",
      "/collections/zones/tiles/WebMercatorQuad?f=tilejson", "/collections/notes/tiles", "/tiles",
      "/map/layers", "/nothing", "/collections/wells/nothing", "/conformance?f=csv",
    ]

    private static let lists = [
      "", "limit=3", "limit=0", "limit=x", "limit=100000", "offset=35", "offset=50", "offset=-1",
      "limit=3&offset=2", "f=html&limit=2", "f=geojsonl", "f=csv", "f=gpx", "f=nothing",
      "f=geojsonl&limit=2&properties=name", "f=csv&properties=name,depth&sortby=-depth,name",
      "bbox=1,0,3,9", "bbox=1,0,3,9&limit=2", "bbox=1,0,0,3,9,9", "bbox=3,9,1", "bbox=19,0,-170,90",
      "bbox=170,0,2,90", "bbox=-90,-1,90,1", "bbox=1,0,3,9&f=csv",
      "bbox=0,1,9,3&bbox-crs=http://www.opengis.net/def/crs/EPSG/0/4326",
      "bbox=111319,0,333958,999999&bbox-crs=http://www.opengis.net/def/crs/EPSG/0/3857",
      "datetime=1970-01-05T00:00:02Z", "datetime=1970-01-05", "datetime=1970-01-05/1970-01-08",
      "datetime=../1970-01-03T00:00:00Z", "datetime=1970-01-30T00:00:00Z/..",
      "datetime=1970-01-05T00:00:00Z/P2D", "datetime=x",
      "filter=depth%3E3", "filter=depth%20IS%20NULL", "filter=NOT%20active",
      "filter=active%20AND%20depth%3C3", "filter=name%20LIKE%20'well%201_'",
      "filter=CASEI(name)=CASEI('WELL%207')", "filter=visits%20IN%20(0,2)&limit=4",
      "filter=depth%20BETWEEN%201%20AND%203", "filter=depth*2=6.5", "filter=fid%3C4",
      "filter=drilled%3EDATE('2022-02-01')", "filter=seen%3CTIMESTAMP('1970-01-04T00:00:00Z')",
      "filter=T_AFTER(seen,DATE('1970-02-05'))", "filter=geom%20IS%20NULL",
      "filter=S_INTERSECTS(geom,BBOX(1,0,3,9))",
      "filter=S_WITHIN(geom,POLYGON((0%200,9%200,9%209,0%200)))",
      "filter=S_DISJOINT(geom,BBOX(1,0,30,9))", "filter=nothing=1", "filter=depth%3E",
      "filter=true", "filter=false",
      "filter-lang=cql2-json&filter=%7B%22op%22:%22%3E%22,%22args%22:[%7B%22property%22:%22depth%22%7D,5]%7D",
      "filter-lang=cql2-json&filter=depth%3E3", "filter-lang=x&filter=true",
      "filter=S_INTERSECTS(geom,BBOX(0,1,9,3))&filter-crs=http://www.opengis.net/def/crs/EPSG/0/4326",
      "depth=2.25", "depth=x", "name=well%203", "active=true", "fid=7", "visits=1&limit=3",
      "nothing=1", "sortby=depth", "sortby=-depth", "sortby=-active,name", "sortby=seen&limit=5",
      "sortby=-fid&limit=5", "sortby=tags", "sortby=nothing", "sortby=drilled&limit=3",
      "properties=name", "properties=name,geom", "properties=nothing", "properties=depth&limit=2",
      "crs=http://www.opengis.net/def/crs/EPSG/0/4326&limit=2",
      "crs=http://www.opengis.net/def/crs/EPSG/0/3857&limit=2",
      "crs=http://www.opengis.net/def/crs/EPSG/0/25832&limit=2",
      "crs=http://www.opengis.net/def/crs/EPSG/0/99999", "crs=x", "after=7", "after=7&limit=3",
      "after=x", "limit=2&sortby=name&after=x",
    ]

    private static let zones = [
      "", "limit=2", "bbox=8.2,50,8.4,51", "bbox=8.33,50.0,8.34,50.2&limit=1", "f=geojsonl",
      "crs=http://www.opengis.net/def/crs/EPSG/0/25832", "filter=kind='a'", "f=csv", "f=gpx",
      "filter=S_INTERSECTS(geom,POINT(8.31%2050.1))", "sortby=-kind&limit=3",
      "crs=http://www.opengis.net/def/crs/EPSG/0/3035&limit=1",
    ]

    private static let items = [
      "wells/items/1", "wells/items/40", "wells/items/41", "wells/items/x", "wells/items/-1",
      "wells/items/1?f=html", "wells/items/1?nothing=1", "zones/items/2", "notes/items/1",
      "wells/items/3?crs=http://www.opengis.net/def/crs/EPSG/0/4326",
      "zones/items/3?crs=http://www.opengis.net/def/crs/EPSG/0/25832", "notes/items",
      "notes/items?bbox=0,0,1,1", "notes/items?f=gpx",
    ]

    private static func compare(_ paths: [String]) async throws {
      let pair = try await ServedPair()
      for path in paths {
        let (own, other) = (try await pair.answer(0, path), try await pair.answer(1, path))
        #expect(own == other, "\(path)")
      }
      await pair.close()
    }

    @Test func `documents are the same`() async throws {
      try await Self.compare(Self.documents)
    }

    @Test func `lists of features are the same`() async throws {
      try await Self.compare(
        Self.lists.map { "/collections/wells/items?\($0)" }
          + Self.zones.map { "/collections/zones/items?\($0)" })
    }

    /// The boxes of the official tests: Greenwich, the antimeridian, both polar caps, and all.
    private static let boxes = [
      "-1.5,50.0,1.5,53.0", "177,65,-177,70", "-180,85,180,90", "-180,-90,180,-85",
      "-180,-90,180,90",
    ]

    @Test func `boxes and conditions of the official tests find the same`() async throws {
      var queries = Self.boxes.map { "bbox=\($0)" }
      for (filter, _) in CQL2Predicates.wells {
        let text = PercentText.encode(filter)
        let json = PercentText.encode(try Filter(cql2: filter).cql2JSON)
        queries += [
          "filter=\(text)", "filter-lang=cql2-json&filter=\(json)",
          "bbox=1.5,0,3.5,9&filter=\(text)",
        ]
      }
      queries += CQL2Predicates.mistakes.map { "filter=\(PercentText.encode($0))" }
      try await Self.compare(queries.map { "/collections/wells/items?\($0)" })
    }

    @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
    func `countries are found as the standard's tests say`() async throws {
      let schema = try await TestSchema.make()
      let name = "ne_110m_admin_0_countries"
      try schema.run(
        "CREATE TABLE \(name) (fid int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "
          + "geom geometry(Geometry, 4326))")
      let store = schema.store()
      _ = try await StoreImport(ImportOptions(mode: .append)).run(
        [ImportSource(SharedData.url("real/gpkg/\(name)_from_shp.gpkg").path)], into: store)
      await store.close()
      try await ServedDatabaseTests.serving(schema) { ask in
        for (predicate, expected) in CQL2Predicates.countries {
          for parameters in [
            "filter=\(PercentText.encode(predicate))",
            "filter-lang=cql2-json&filter="
              + PercentText.encode(try Filter(cql2: predicate).cql2JSON),
          ] {
            let path = "/collections/\(name)/items?limit=1&\(parameters)"
            let answer = try await ask("GET", path, nil, [:])
            #expect(try answer.json["numberMatched"] == JSONValue(expected), "\(predicate)")
          }
        }
      }
    }

    @Test func `single features are the same, with their tags`() async throws {
      try await Self.compare(Self.items.map { "/collections/\($0)" })
    }

    @Test func `the pages of a list are the same to the end`() async throws {
      let pair = try await ServedPair()
      for query in ["limit=7", "limit=7&sortby=-depth", "limit=9&sortby=active,-seen&bbox=1,0,9,9"]
      {
        var path = "/collections/wells/items?\(query)"
        var pages = 0
        while pages < 20 {
          pages += 1
          let (own, other) = (try await pair.answer(0, path), try await pair.answer(1, path))
          #expect(own == other)
          let links = try JSONValueReader.read(other.body)["links"]?.items ?? []
          guard let next = links.first(where: { $0["rel"]?.string == "next" })?["href"]?.string
          else { break }
          path = String(next.dropFirst("http://host".count))
        }
        #expect((2...6).contains(pages))
      }
      await pair.close()
    }

    @Test func `vector tiles are the same`() async throws {
      let pair = try await ServedPair()
      try await pair.database.enableLogs(of: ["wells", "zones", "notes"])
      for path in [
        "/collections/wells/tiles/WebMercatorQuad/0/0/0", "/collections/wells/tiles/5/16/15.mvt",
        "/collections/zones/tiles/8/133/86.mvt", "/tiles/2/2/1.mvt?properties=name",
        "/collections/zones/tiles/12/2141/1388.mvt", "/tiles/9/0/0.mvt",
      ] {
        let (own, other) = (try await pair.ask(0, path), try await pair.ask(1, path))
        #expect(own.status == other.status && own.body == other.body, "\(path) \(other.status)")
        let tag = try #require(other.fields["ETag"])
        let again = try await pair.ask(1, path, fields: ["If-None-Match": tag])
        #expect(again.status == 304)
      }
      await pair.close()
    }

    @Test func `the document of the API has no address that only a file has`() async throws {
      let pair = try await ServedPair(isWritable: true)
      func paths(_ server: Int) async throws -> Set<String> {
        let text = try await pair.answer(server, "/api").body
        guard case .object(let members)? = try JSONValueReader.read(text)["paths"] else {
          return []
        }
        return Set(members.map(\.name))
      }
      let (own, other) = (try await paths(0), try await paths(1))
      #expect(other.isSubset(of: own))
      let missing = own.subtracting(other).map {
        $0.split(separator: "/").first.map(String.init) ?? ""
      }
      #expect(Set(missing) == ["captures", "fixes", "motion", "upload", "uploads"])
      for path in ["/captures", "/upload", "/uploads/a", "/motion", "/fixes", "/sensors"] {
        let answer = try await pair.answer(1, path)
        #expect(answer.status == 404 && answer.body.contains("This server serves a database."))
      }
      await pair.close()
    }
  }
#endif
