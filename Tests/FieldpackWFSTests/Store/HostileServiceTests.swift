import FieldpackCore
import FieldpackGeometry
import FieldpackHTTP
import FieldpackStoreKit
import FieldpackTestSupport
import Testing

@testable import FieldpackWFS

/// Services that lie, refuse or never end.
@Suite struct HostileServiceTests {
  private static let schema = Schema(
    layer: "wells", geometry: GeometryColumn(type: .point),
    columns: [ColumnDefinition("name", .text()), ColumnDefinition("visits", .integer)])

  private static func wells(_ count: Int) -> [Feature] {
    (1...count).map { number in
      Feature(
        id: .integer(Int64(number)), geometry: .point(x: Double(number), y: 50),
        attributes: ["name": "w\(number)", "visits": .integer(Int64(number))])
    }
  }

  private func served(_ options: ServedLayers.Options, count: Int = 5) -> ServedLayers {
    ServedLayers([Self.schema], ["wells": Self.wells(count)], options)
  }

  private func ids(_ store: any Store, _ query: Query) async throws -> [FeatureID] {
    var ids: [FeatureID] = []
    for try await batch in try await store.query(query) { ids += batch.ids }
    return ids
  }

  private func failure(
    _ reply: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Reply,
    _ query: Query = Query("wells")
  ) async throws -> FieldpackError? {
    let server = try LoopbackServer(reply)
    let store = try WFSStore(address: server.address + "/wfs", id: "survey")
    do {
      _ = try await ids(store, query)
    } catch let error as FieldpackError { return error }
    return nil
  }

  @Test func `pages that come again end the query`() async throws {
    let served = served(.init(cap: 2, ignoresStart: true, hidesMatched: true))
    let error = try await failure(served.answer)
    #expect(error?.wfsFailure == .repeatedPage)
    #expect(error?.code == .invalidData)
  }

  @Test func `pages go on until one is empty where the service tells nothing`() async throws {
    let server = try served(.init(cap: 2, hidesMatched: true, hidesNext: true)).serve()
    let store = try WFSStore(address: server.address, id: "survey")
    #expect(try await ids(store, Query("wells")) == [1, 2, 3, 4, 5])
  }

  @Test func `fewer features than promised are an error`() async throws {
    let error = try await failure(served(.init(lie: 4)).answer)
    #expect(error?.wfsFailure == .incomplete(matched: 9, given: 5))
    #expect(error?.message == "the service says that 9 features match, and gives 5")
  }

  @Test func `a service of version 1,1,0 that gives a part is found out`() async throws {
    let served = served(.init(version: .wfs11, pages: false, cap: 2, ignoresStart: true))
    let server = try served.serve()
    let store = try WFSStore(address: server.address, id: "survey", version: .wfs11)
    let error = await #expect(throws: FieldpackError.self) {
      _ = try await ids(store, Query("wells"))
    }
    #expect(error?.wfsFailure == .incomplete(matched: 5, given: 2))
  }

  @Test func `pages go on in version 1,1,0 where the service can`() async throws {
    let server = try served(.init(version: .wfs11, pages: false, cap: 2)).serve()
    let store = try WFSStore(address: server.address, id: "survey", version: .wfs11)
    #expect(try await ids(store, Query("wells")) == [1, 2, 3, 4, 5])
  }

  @Test func `an exception with status 200 is an error with code and place`() async throws {
    let served = served(.init())
    let error = try await failure { request in
      guard request.target.contains("GetFeature") else { return served.answer(request) }
      return served.report("InvalidParameterValue", "typeName", "no such\n layer")
    }
    #expect(
      error?.wfsFailure
        == .exception(code: "InvalidParameterValue", locator: "typeName", text: "no such layer"))
    #expect(error?.code == .notFound)
  }

  @Test func `an exception after the first features is no end`() async throws {
    let served = served(.init())
    let error = try await failure { request in
      guard request.target.contains("GetFeature"),
        case .response(_, let fields, let body) = served.answer(request)
      else { return served.answer(request) }
      let text = String(decoding: body, as: UTF8.self).replacing(
        "</wfs:FeatureCollection>",
        with: """
          <ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1"><ows:Exception
          exceptionCode="NoApplicableCode"/></ows:ExceptionReport></wfs:FeatureCollection>
          """)
      return .response(200, fields: fields, body: Array(text.utf8))
    }
    #expect(error?.wfsFailure == .exception(code: "NoApplicableCode", locator: nil, text: ""))
  }

  @Test(arguments: [
    "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
    "<!DOCTYPE a [<!ENTITY x \"y\"><!ENTITY z \"&x;&x;\">]><a>&z;</a>",
    String(repeating: "<a>", count: 300),
    "<wfs:FeatureCollection xmlns:wfs=\"http://www.opengis.net/wfs/2.0\">",
    "<html><body>sign in</body></html>", "", "{\"type\":\"FeatureCollection\",\"features\":[",
    "{\"type\":\"Topology\",\"features\":[]}",
  ])
  func `what is no answer is an error`(body: String) async throws {
    let served = served(.init())
    let error = try await failure { request in
      request.target.contains("GetFeature") ? .text(200, body) : served.answer(request)
    }
    #expect(error?.code == .invalidData)
    let early = try await failure { _ in .text(200, body) }
    #expect(early?.code == .invalidData)
  }

  @Test func `an answer without an end and without features is cut off`() async throws {
    let served = served(.init())
    let junk = String(repeating: "<wfs:x/>", count: 260_000)
    let error = try await failure { request in
      guard request.target.contains("GetFeature") else { return served.answer(request) }
      return .text(
        200, "<wfs:FeatureCollection xmlns:wfs=\"http://www.opengis.net/wfs/2.0\">" + junk)
    }
    #expect(error?.message.contains("more than 250000 elements") == true)
  }

  @Test func `addresses of other servers are not asked`() async throws {
    let served = served(.init())
    let server = try LoopbackServer { request in
      guard request.target.contains("GetCapabilities"),
        case .response(_, _, let body) = served.answer(request)
      else { return served.answer(request) }
      return .text(
        200,
        String(decoding: body, as: UTF8.self).replacing(
          "<ows:Operation name=\"GetFeature\">",
          with: """
            <ows:Operation name="GetFeature"><ows:DCP><ows:HTTP><ows:Get
             xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="http://127.0.0.1:1/evil"/>
            </ows:HTTP></ows:DCP>
            """))
    }
    let store = try WFSStore(
      address: server.address + "/wfs?map=a%20b&", id: "survey",
      fields: ["Authorization": "Bearer x"])
    #expect(try await ids(store, Query("wells")) == [1, 2, 3, 4, 5])
    #expect(server.requests.allSatisfy { $0.target.hasPrefix("/wfs?map=a%20b&service=WFS&") })
    #expect(server.requests.allSatisfy { $0["Authorization"] == "Bearer x" })
  }

  @Test func `a long condition goes in a document`() async throws {
    let server = try served(.init()).serve()
    let store = try WFSStore(address: server.address, id: "survey")
    let filter = Column<Int64>("visits").isIn((3...90).map { Int64($0) })
    #expect(try await ids(store, Query("wells", where: filter)) == [3, 4, 5])
    let last = try #require(server.requests.last)
    #expect(last.method == "POST")
    #expect(last["Content-Type"] == "text/xml; charset=UTF-8")
  }

  @Test func `a box goes in the order of the system's axes`() async throws {
    let server = try served(.init()).serve()
    let store = try WFSStore(address: server.address, id: "survey")
    let box = Envelope(minX: 1.1, minY: 49.123456789012, maxX: 3, maxY: 51)
    #expect(try await ids(store, Query("wells", where: .intersects(box))) == [2, 3])
    let target = try #require(server.requests.last?.target)
    #expect(
      target.contains("&bbox=49.123456789012,1.1,51,3,urn:ogc:def:crs:EPSG::4326"), "\(target)")
  }

  @Test func `explains what is tested where`() async throws {
    let server = try served(.init()).serve()
    let store = try WFSStore(address: server.address + "/wfs", id: "survey")
    let filter = Column<Int64>("visits") > 2 && Column<String>("name").like("w_")
    let found = try await store.explain(Query("wells", where: filter).order(by: [Order("name")]))
    #expect(found.count == 1)
    #expect(
      found[0].plan == [
        "the service tests a part of the condition: "
          + "<fes:Filter xmlns:fes=\"http://www.opengis.net/fes/2.0\" "
          + "xmlns:gml=\"http://www.opengis.net/gml/3.2\"><fes:And><fes:PropertyIsGreaterThan>"
          + "<fes:ValueReference>visits</fes:ValueReference><fes:Literal>2</fes:Literal>"
          + "</fes:PropertyIsGreaterThan><fes:PropertyIsLike wildCard=\"%\" singleChar=\"_\" "
          + "escapeChar=\"\\\"><fes:ValueReference>name</fes:ValueReference>"
          + "<fes:Literal>w%</fes:Literal></fes:PropertyIsLike></fes:And></fes:Filter>",
        "tested here: visits > 2 AND name LIKE 'w_'",
        "gathered in a temporary file: features are sorted here", "in pages of 1000 features",
        "as GML",
      ])
    #expect(found[0].sql.hasPrefix("GET \(server.address)/wfs?service=WFS&version=2.0.0&"))
  }

  @Test func `sorted features are found by ids that are texts`() async throws {
    let wells = ["a", "b"].map { Feature(id: .text($0), attributes: ["name": .text("w" + $0)]) }
    let server = try ServedLayers([Self.schema], ["wells": wells], .init()).serve()
    let store = try WFSStore(address: server.address, id: "survey")
    let query = Query("wells", where: Column<String>("fid") == "b").order(by: [Order("name")])
    #expect(try await ids(store, query) == ["b"])
    #expect(try await ids(store, Query("wells").order(by: [Order("name")])) == ["a", "b"])
    let away = Filter.spatial(
      .intersects, .geometry(.point(x: 1, y: 2)), .geometry(.point(x: 1, y: 2)))
    #expect(try await ids(store, query.where(query.filter && away)) == ["b"])
  }

  @Test func `the layers are described by one request`() async throws {
    let schemas = (1...30).map { number in
      Schema(layer: LayerID("l\(number)"), columns: [ColumnDefinition("c\(number)", .integer)])
    }
    let server = try ServedLayers(schemas, [:], .init(prefix: "survey:")).serve()
    let store = try WFSStore(address: server.address, id: "survey")
    let found = try await store.schemas()
    #expect(found.map { $0.columns.map(\.name) } == (1...30).map { ["c\($0)"] })
    #expect(found.map(\.layer.rawValue) == (1...30).map { "survey:l\($0)" })
    _ = try await store.layers()
    #expect(server.requests.count { $0.target.contains("DescribeFeatureType") } == 2)
  }

  @Test func `layers that are not described together are described one by one`() async throws {
    let schemas = ["a", "b"].map { Schema(layer: $0, columns: [ColumnDefinition("c", .integer)]) }
    let served = ServedLayers(schemas, [:], .init())
    let server = try LoopbackServer { request in
      request.target.contains("typeNames=a,b")
        ? served.report("InvalidParameterValue", "typeName", "one only") : served.answer(request)
    }
    let store = try WFSStore(address: server.address, id: "survey")
    #expect(try await store.schemas().map(\.layer) == ["a", "b"])
  }

  @Test func `default layers answer queries without layers`() async throws {
    let other = Schema(layer: "other", columns: [ColumnDefinition("name", .text())])
    let served = ServedLayers(
      [Self.schema, other], ["wells": Self.wells(2), "other": []], .init(prefix: "survey:"))
    let server = try served.serve()
    let store = try WFSStore(address: server.address, id: "survey", defaultLayers: ["wells"])
    #expect(try await store.layers().map(\.id) == ["survey:wells", "survey:other"])
    #expect(try await store.having(["WELLS", "wells", "nix"]) == ["wells"])
    #expect(try await ids(store, Query()) == [1, 2])
    #expect(try await ids(store, Query("survey:other")) == [])
  }
}
