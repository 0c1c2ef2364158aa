import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FieldpackHTTP
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage
@testable import FieldpackServer

#if Server
  /// Conditions in CQL2 by HTTP, as text and as JSON.
  @Suite struct ConditionTests {
    // MARK: The table of all evaluators

    private static let schema = Schema(
      layer: "places", geometry: GeometryColumn(),
      columns: FilterTable.columns.map { ColumnDefinition($0.name, ColumnType(sql: $0.type)) })

    /// A server with the rows of the table.
    private func server() async throws -> TestServer {
      try await TestServer(preparing: { (writer) throws(FieldpackError) in
        try writer.createLayer(Self.schema)
        let names = ["fid", "geom"] + FilterTable.columns.map(\.name)
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        for row in FilterTable.rows {
          try writer.execute(
            "INSERT INTO places (\(names.map { quoted($0) }.joined(separator: ", "))) "
              + "VALUES (\(marks))",
            [.integer(row.id), Self.blob(row.shape)] + row.cells.map(Self.stored))
        }
      })
    }

    private static func blob(_ shape: FilterShape?) throws(FieldpackError) -> SQLiteValue {
      guard let wkb = shape?.wkb else { return .null }
      var blob: [UInt8] = []
      do {
        _ = try GeoPackageBinary.append(wkb: wkb.span.bytes, srsID: 4326, to: &blob)
      } catch { throw FieldpackError(.invalidData, "\(error)") }
      return .blob(blob)
    }

    private static func stored(_ cell: FilterTable.Cell) -> SQLiteValue {
      switch cell {
      case .null: .null
      case .integer(let value): .integer(value)
      case .real(let value): .real(value)
      case .text(let value): .text(value)
      case .blob(let value): .blob(value)
      }
    }

    @Test func `text, JSON and queries find the rows of the shared table`() async throws {
      let server = try await server()
      let items = "/collections/places/items"
      // Clients name the columns that the queryables list, and no other names of the geometry.
      let unlisted = "geometry IS NULL"
      for example in FilterTable.cases {
        let filter = try Filter(cql2: example.text)
        let text = PercentText.encode(example.text)
        let json = PercentText.encode(try filter.cql2JSON)
        let answer = try await server.get("\(items)?filter-lang=cql2-text&filter=\(text)")
        guard example.text != unlisted else {
          #expect(answer.status == 400)
          continue
        }
        #expect(try await server.ids("\(items)?filter=\(text)") == example.ids, "\(example)")
        #expect(
          try await server.ids("\(items)?filter-lang=cql2-json&filter=\(json)") == example.ids,
          "\(example)")
        var found: [FeatureID?] = []
        for try await feature in try await server.store.query(Query("places", where: filter))
          .features
        {
          found.append(feature.id)
        }
        #expect(found == example.ids.map { .integer($0) }, "\(example)")
      }
      #expect(FilterTable.cases.count > 200)
      await server.close()
    }

    // MARK: Annex A of OGC 21-065

    /// The predicates of the standard's abstract tests about countries, with how many they find.
    private static let countries: [(predicate: String, count: Int)] = [
      ("S_INTERSECTS(geom,BBOX(0,40,10,50))", 8),
      ("S_INTERSECTS(geom,BBOX(150,-90,-150,90))", 10),
      ("S_INTERSECTS(geom,POINT(7.02 49.92))", 1),
      ("\(box) and S_INTERSECTS(geom,BBOX(5,50,10,60))", 3),
      ("\(box) and not S_INTERSECTS(geom,BBOX(5,50,10,60))", 5),
      ("\(box) or S_INTERSECTS(geom,BBOX(-90,40,-60,50))", 10),
      ("S_INTERSECTS(geom,LINESTRING(-180 -45, 0 -45))", 2),
      ("S_INTERSECTS(geom,MULTILINESTRING((-180 -45, 0 -45), (0 45, 180 45)))", 14),
      ("S_INTERSECTS(geom,POLYGON(\(west)))", 8),
      ("S_INTERSECTS(geom,MULTIPOLYGON((\(west)),((0 0, 10 0, 10 10, 0 10, 0 0))))", 15),
      (
        "S_INTERSECTS(geom,GEOMETRYCOLLECTION(POINT(7.02 49.92), "
          + "POLYGON((0 0, 10 0, 10 10, 0 10, 0 0))))", 8
      ),
      (
        "S_INTERSECTS(geom,POLYGON(\(west))) "
          + "or S_INTERSECTS(geom,POLYGON((0 0, 10 0, 10 10, 0 10, 0 0)))", 15
      ),
      (
        "S_INTERSECTS(geom,POLYGON(\(west))) "
          + "and not S_INTERSECTS(geom,POLYGON((-130 0, 0 0, 0 50, -130 50, -130 0)))", 3
      ),
      ("S_INTERSECTS(geom,POLYGON((0 40,10 40,10 50,0 50,0 40)))", 8),
      ("S_INTERSECTS(geom,LINESTRING(0 40,10 50))", 4),
      ("S_DISJOINT(geom,BBOX(0,40,10,50))", 169),
      ("S_DISJOINT(geom,POLYGON((0 40,10 40,10 50,0 50,0 40)))", 169),
      ("S_DISJOINT(geom,LINESTRING(0 40,10 50))", 173),
      ("S_DISJOINT(geom,POINT(7.02 49.92))", 176),
      ("S_TOUCHES(geom,POLYGON((\(luxembourg))))", 3),
      ("S_TOUCHES(geom,POINT(6.043073357781111 50.128051662794235))", 3),
      ("S_TOUCHES(geom,POINT(6.242751092156993 49.90222565367873))", 2),
      (
        "S_TOUCHES(geom,LINESTRING(6.043073357781111 50.128051662794235,"
          + "6.242751092156993 49.90222565367873))", 3
      ),
      ("S_WITHIN(geom,BBOX(-180,-90,0,90))", 44), ("S_CONTAINS(geom,BBOX(7,50,8,51))", 1),
      ("S_CONTAINS(geom,LINESTRING(7 50,8 51))", 1), ("S_CONTAINS(geom,POINT(7.02 49.92))", 1),
      ("S_OVERLAPS(geom,BBOX(-180,-90,0,90))", 11),
    ]

    private static let box = "S_INTERSECTS(geom,BBOX(0,40,10,50))"
    private static let west =
      "(-180 -90, -90 -90, -90 90, -180 90, -180 -90), "
      + "(-120 -50, -100 -50, -100 -40, -120 -40, -120 -50)"
    private static let luxembourg =
      "6.043073357781111 50.128051662794235,6.242751092156993 49.90222565367873,"
      + "6.186320428094177 49.463802802114515,5.897759230176348 49.44266714130711,"
      + "5.674051954784829 49.529483547557504,5.782417433300907 50.09032786722122,"
      + "6.043073357781111 50.128051662794235"

    @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
    func `countries are found as the standard's tests say`() async throws {
      let folder = try TemporaryFolder()
      let path = folder.file("countries.gpkg").path
      let name = "ne_110m_admin_0_countries"
      try FileManager.default.copyItem(
        atPath: SharedData.url("real/gpkg/\(name)_from_shp.gpkg").path, toPath: path)
      let store = try await GeoPackageStore(path: path, id: "countries")
      let server = FieldServer(of: store)
      let address = "http://\(try server.listen(on: ListenAddress(port: 0)))"
      let client = try HTTPClient()
      func count(_ parameters: String) async throws -> JSONValue? {
        let response = try await client.send(
          HTTPRequest(.get, "\(address)/collections/\(name)/items?limit=1&\(parameters)"))
        let text = String(decoding: response.body, as: UTF8.self)
        return response.status == 200
          ? try JSONValueReader.read(text)["numberMatched"] : .text(text)
      }
      for (predicate, expected) in Self.countries {
        let json = try Filter(cql2: predicate).cql2JSON
        let expected = JSONValue(expected)
        #expect(
          try await count("filter=\(PercentText.encode(predicate))") == expected, "\(predicate)")
        #expect(
          try await count("filter-lang=cql2-json&filter=\(PercentText.encode(json))") == expected,
          "\(json)")
      }
      await server.close()
      await store.close()
    }
  }
#endif
