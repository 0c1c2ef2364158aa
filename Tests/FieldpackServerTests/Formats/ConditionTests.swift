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
      for (predicate, expected) in CQL2Predicates.countries {
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
