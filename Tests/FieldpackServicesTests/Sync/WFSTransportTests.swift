import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct WFSTransportTests {
  private static let edit = OutgoingEdit(
    id: "E1", store: "survey", layer: "wells", operation: .insert,
    feature: Feature(
      key: KeyTuple(store: "survey", layer: "wells", feature: 42),
      geometry: .point(x: 13.5, y: 52), attributes: ["name": "<&>"]))

  private static let inserted = """
    <wfs:TransactionResponse xmlns:wfs="http://www.opengis.net/wfs/2.0"
     xmlns:fes="http://www.opengis.net/fes/2.0" version="2.0.0"><wfs:TransactionSummary>
    <wfs:totalInserted>1</wfs:totalInserted></wfs:TransactionSummary><wfs:InsertResults>
    <wfs:Feature><fes:ResourceId rid="wells.9"/></wfs:Feature></wfs:InsertResults>
    </wfs:TransactionResponse>
    """

  private static func report(_ code: String) -> String {
    """
    <ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1" version="2.0.0">
    <ows:Exception exceptionCode="\(code)"><ows:ExceptionText>no depth</ows:ExceptionText>
    </ows:Exception></ows:ExceptionReport>
    """
  }

  /// - Parameter answer: to transactions.
  private func server(
    _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Reply
  ) throws -> LoopbackServer {
    try LoopbackServer { request in
      if request["Authorization"] == "Bearer old" { return .text(401, "") }
      if request.method == "POST" { return answer(request) }
      let target = request.target.lowercased()
      if target.contains("getcapabilities") { return .text(200, Self.capabilities) }
      if target.contains("describefeaturetype") { return .text(200, Self.description) }
      return .text(
        200,
        """
        <wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0"
         xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:s="urn:s" numberMatched="1"
         numberReturned="1"><wfs:member><s:wells gml:id="wells.9"><s:name>a</s:name></s:wells>
        </wfs:member></wfs:FeatureCollection>
        """)
    }
  }

  private static let capabilities = """
    <wfs:WFS_Capabilities xmlns="http://www.opengis.net/wfs/2.0"
     xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:ows="http://www.opengis.net/ows/1.1"
     version="2.0.0"><ows:OperationsMetadata><ows:Operation name="Transaction"/>
    </ows:OperationsMetadata><FeatureTypeList><FeatureType xmlns:s="urn:s"><Name>s:wells</Name>
    <DefaultCRS>urn:ogc:def:crs:EPSG::4326</DefaultCRS></FeatureType></FeatureTypeList>
    </wfs:WFS_Capabilities>
    """

  private static let description = """
    <schema xmlns="http://www.w3.org/2001/XMLSchema" xmlns:s="urn:s"
     xmlns:gml="http://www.opengis.net/gml/3.2" targetNamespace="urn:s">
    <complexType name="wellsType"><complexContent>
    <extension base="gml:AbstractFeatureType"><sequence>
    <element name="name" minOccurs="0" type="string"/>
    <element name="geom" minOccurs="0" type="gml:PointPropertyType"/>
    </sequence></extension></complexContent></complexType>
    <element name="wells" type="s:wellsType" substitutionGroup="gml:AbstractFeature"/></schema>
    """

  private func transport(
    _ server: LoopbackServer, _ signedIn: any SignedIn = SignedInFake("hush")
  ) throws -> WFSTransport {
    try WFSTransport(url: server.address + "/wfs", signedIn: signedIn)
  }

  private func transactions(_ server: LoopbackServer) -> [String] {
    server.requests.filter { $0.method == "POST" }.map { String(decoding: $0.body, as: UTF8.self) }
  }

  @Test func `a new feature is inserted, and the service gives its id`() async throws {
    let server = try server { _ in .text(200, Self.inserted) }
    let transport = try transport(server, SignedInFake("old", "hush"))
    #expect(
      await transport.send([Self.edit, Self.edit]).map(\.line) == ["accepted 9", "accepted 9"])
    let sent = transactions(server)
    #expect(sent.count == 2 && sent[0] == sent[1])
    #expect(sent[0].contains("<name>&lt;&amp;&gt;</name>"))
    #expect(sent[0].contains("<gml:pos>52 13.5</gml:pos>"))
    #expect(server.requests.dropFirst().allSatisfy { $0["Authorization"] == "Bearer hush" })
    var shown = "\(transport)"
    dump(transport, to: &shown)
    #expect(!shown.contains("hush"))
  }

  @Test func `changes and deletions name the id that the service gave`() async throws {
    let server = try server { request in
      let name =
        String(decoding: request.body, as: UTF8.self).contains("<wfs:Update")
        ? "totalUpdated" : "totalDeleted"
      return .text(
        200,
        """
        <wfs:TransactionResponse xmlns:wfs="http://www.opengis.net/wfs/2.0" version="2.0.0">
        <wfs:TransactionSummary><wfs:\(name)>1</wfs:\(name)></wfs:TransactionSummary>
        </wfs:TransactionResponse>
        """)
    }
    var (update, deletion) = (Self.edit, Self.edit)
    (update.operation, deletion.operation) = (.update, .delete)
    (update.serverID, deletion.serverID) = ("9", "9")
    let transport = try transport(server)
    #expect(
      await transport.send([update, deletion]).map(\.line) == ["accepted -", "accepted -"])
    // What is deleted already needs no request.
    (update.serverID, deletion.serverID) = ("10", "10")
    #expect(await transport.send([deletion]).map(\.line) == ["accepted -"])
    #expect(
      await transport.send([update]).map(\.line)
        == ["refused unsupported: layer 'wells' of store 'wfs' has no feature 10"])
    #expect(transactions(server).count == 2)
    #expect(transactions(server).allSatisfy { $0.contains(#"rid="wells.9""#) })
    update.serverID = nil
    #expect(
      await transport.send([update]).map(\.line)
        == ["refused unsupported: the id that 127.0.0.1 gave to the feature is not known"])
  }

  private static let answers: [(Int, String, String)] = [
    (200, report("NoApplicableCode"), "refused"), (400, report("InvalidValue"), "refused"),
    (400, "", "refused"), (403, "", "refused"), (401, "", "later"), (408, "", "later"),
    (429, "", "later"), (500, "", "later"), (503, "<html", "later"),
    (200, "<html>Sign in to this network", "later"), (200, "<html/>", "later"),
    (200, inserted.replacing(">1<", with: ">0<"), "refused"),
    (
      200,
      inserted.replacing("<wfs:Feature>", with: "<!--").replacing("</wfs:Feature>", with: "-->"),
      "refused"
    ),
  ]

  @Test(arguments: answers)
  func `each answer says what becomes of the edit`(
    status: Int, body: String, answer: String
  ) async throws {
    let server = try server { _ in .text(status, body) }
    let answers = try await transport(server).send([Self.edit])
    #expect(answers.map { $0.line.prefix { $0 != " " } } == [Substring(answer)], "\(answers)")
    #expect(answers.first?.error?.location.feature == 42)
    #expect(!"\(answers)".contains("hush"))
  }

  @Test func `a feature that the layer cannot hold is refused, others go on`() async throws {
    let server = try server { _ in .text(200, Self.inserted) }
    var (column, line, layer) = (Self.edit, Self.edit, Self.edit)
    column.feature.attributes["depth"] = 3
    line.feature.geometry = try Geometry(
      geoJSON: #"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#)
    layer.layer = "roads"
    let answers = try await transport(server).send([column, line, layer, Self.edit])
    #expect(
      answers.map(\.line).suffix(2) == [
        "refused unsupported: 127.0.0.1 has no layer 'roads'", "accepted 9",
      ])
    #expect(answers.prefix(2).allSatisfy { $0.line.hasPrefix("refused unsupported: ") })
    #expect(transactions(server).count == 1)
  }

  @Test func `a service that does not answer at all is asked later`() async throws {
    let server = try LoopbackServer { _ in .text(404, "") }
    let answers = try await transport(server).send([Self.edit, Self.edit])
    #expect(answers.map { $0.line.prefix { $0 != " " } } == ["later"], "\(answers)")
  }
}
