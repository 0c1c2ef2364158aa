import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackWFS

@Suite struct WFSInsertTests {
  @Test func `writes values escaped, and longitude first`() {
    let insert = WFSInsert(
      layer: "baseball_team", namespace: "http://www.geonode.org/",
      geometry: .point(x: -90.5, y: 38.25),
      attributes: ["name": "<A & B>", "wins": 3, "lost": .null])
    #expect(
      String(decoding: insert.document, as: UTF8.self)
        == #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
        + #"<wfs:Transaction xmlns:wfs="http://www.opengis.net/wfs" "#
        + #"xmlns:gml="http://www.opengis.net/gml" xmlns:layer="http://www.geonode.org/" "#
        + #"service="WFS" version="1.0.0"><wfs:Insert><layer:baseball_team>"#
        + #"<layer:wkb_geometry><gml:Point srsName="http://www.opengis.net/gml/srs/epsg.xml#4326">"#
        + #"<gml:coordinates decimal="." cs="," ts=" ">-90.5,38.25</gml:coordinates></gml:Point>"#
        + #"</layer:wkb_geometry><layer:name>&lt;A &amp; B&gt;</layer:name>"#
        + #"<layer:wins>3</layer:wins></layer:baseball_team></wfs:Insert></wfs:Transaction>"#)
  }

  private static func answer(_ inner: String) -> [UInt8] {
    Array(
      """
      <wfs:WFS_TransactionResponse version="1.0.0" xmlns:wfs="http://www.opengis.net/wfs"
       xmlns:ogc="http://www.opengis.net/ogc">\(inner)</wfs:WFS_TransactionResponse>
      """.utf8)
  }

  @Test func `reads the id of the new feature`() throws {
    let answer = Self.answer(
      """
      <wfs:InsertResult><ogc:FeatureId fid="team.v1.7"/></wfs:InsertResult><wfs:TransactionResult>
      <wfs:Status><wfs:SUCCESS/></wfs:Status></wfs:TransactionResult>
      """)
    #expect(try WFSInsert.id(in: answer) == "team.v1.7")
  }

  @Test func `tells why the service took nothing`() {
    let failed = Self.answer(
      """
      <wfs:TransactionResult><wfs:Status><wfs:FAILED/></wfs:Status><wfs:Locator>a</wfs:Locator>
      <wfs:Message>no  such\n column</wfs:Message></wfs:TransactionResult>
      """)
    let error = #expect(throws: FieldpackError.self) { try WFSInsert.id(in: failed) }
    #expect(
      error?.wfsFailure == .exception(code: "FAILED", locator: "a", text: "no such column"))
    let report = Array(
      """
      <ServiceExceptionReport xmlns="http://www.opengis.net/ogc"><ServiceException code="X"
       locator="y">bad</ServiceException></ServiceExceptionReport>
      """.utf8)
    let second = #expect(throws: FieldpackError.self) { try WFSInsert.id(in: report) }
    #expect(second?.wfsFailure == .exception(code: "X", locator: "y", text: "bad"))
    #expect(throws: FieldpackError.self) { try WFSInsert.id(in: Self.answer("")) }
    #expect(throws: FieldpackError.self) { try WFSInsert.id(in: Array("<html/>".utf8)) }
  }
}
