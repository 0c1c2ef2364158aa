import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct WFSFeedTests {
  private let folder: StoreFolder
  private let clock = TestClock()
  /// What the service holds: ids and depths.
  private let wells = Locked<[(id: Int?, depth: Int)]>([(1, 3), (2, 4), (3, 5)])
  private let isDown = Locked(false)

  init() throws { folder = try StoreFolder() }

  private func server() throws -> LoopbackServer {
    try LoopbackServer { [wells, isDown] request in
      if isDown.withLock({ $0 }) { return .text(404, "") }
      let target = request.target.lowercased()
      if target.contains("getcapabilities") { return Self.xml(Self.capabilities) }
      if target.contains("describefeaturetype") { return Self.xml(Self.description) }
      let features = wells.withLock { $0 }.map { id, depth in
        let name = id.map { " gml:id=\"wells.\($0)\"" } ?? ""
        return "<wfs:member><s:wells\(name)><s:depth>\(depth)</s:depth></s:wells></wfs:member>"
      }
      return Self.xml(
        """
        <wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0"
         xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:s="urn:s"
         numberMatched="\(features.count)" numberReturned="\(features.count)">
        \(features.joined())</wfs:FeatureCollection>
        """)
    }
  }

  private static func xml(_ text: String) -> LoopbackServer.Reply {
    .text(200, text, fields: [["Content-Type", "text/xml"]])
  }

  private static let capabilities = """
    <wfs:WFS_Capabilities xmlns="http://www.opengis.net/wfs/2.0"
     xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:ows="http://www.opengis.net/ows/1.1"
     version="2.0.0"><FeatureTypeList><FeatureType><Name>wells</Name><NoCRS/></FeatureType>
    </FeatureTypeList></wfs:WFS_Capabilities>
    """

  private static let description = """
    <schema xmlns="http://www.w3.org/2001/XMLSchema" xmlns:s="urn:s"
     xmlns:gml="http://www.opengis.net/gml/3.2" targetNamespace="urn:s">
    <complexType name="wellsType"><complexContent>
    <extension base="gml:AbstractFeatureType"><sequence>
    <element name="depth" minOccurs="0" type="long"/>
    </sequence></extension></complexContent></complexType>
    <element name="wells" type="s:wellsType"/></schema>
    """

  private func store(at server: LoopbackServer) throws -> StoreConfig {
    var store = try folder.store("a", "wfs", at: server.address, options: #"{"polling": 5}"#)
    store.version = "2.0.0"
    return store
  }

  private func depths(_ data: DataService) async throws -> [String] {
    var depths: [String] = []
    for try await feature in try await data.workspace.query(Query("wells")).features {
      guard case .integer(let depth)? = feature.attributes["depth"] else { continue }
      depths.append("\(feature.id!): \(depth)")
    }
    return depths
  }

  @Test func `a service is copied, and copied again`() async throws {
    let server = try server()
    let data = DataService(context: folder.context, clock: clock.clock)
    try await data.registerAndStart(store(at: server))
    #expect(folder.names == ["a.gpkg"])
    #expect(try await depths(data) == ["1: 3", "2: 4", "3: 5"])
    #expect(try await data.poll("a") == nil)
    wells.withLock { $0 = [(4, 6), (2, 7), (3, 5)] }
    let before = try await data.workspace.store("a").query(Query("wells"))
    let found = try await data.poll("a")
    #expect(found?.created.map { "\($0.layer) \($0.feature)" } == ["wells 4"])
    #expect(found?.updated.map { "\($0.layer) \($0.feature)" } == ["wells 2"])
    #expect(found?.deleted.map { "\($0.layer) \($0.feature)" } == ["wells 1"])
    #expect(try await depths(data) == ["2: 7", "3: 5", "4: 6"])
    var old = 0
    for try await batch in before { old += batch.count }
    #expect(old == 3)
    let well = try await data.workspace.feature(
      KeyTuple(store: "a", layer: "wells", feature: 2))
    #expect(well?.attributes["depth"] == .integer(7))
    // Without its service it opens from the copy, and a poll leaves that as it is.
    try await data.stop("a")
    isDown.withLock { $0 = true }
    try await data.start("a")
    let error = await #expect(throws: FieldpackError.self) { try await data.poll("a") }
    #expect(error?.code == .notFound)
    #expect(try await depths(data) == ["2: 7", "3: 5", "4: 6"] && folder.names == ["a.gpkg"])
    await data.close()
  }

  @Test func `features without ids are known by their contents`() async throws {
    wells.withLock { $0 = [(nil, 3), (nil, 4), (nil, 4)] }
    let server = try server()
    let data = DataService(context: folder.context, clock: clock.clock)
    try await data.registerAndStart(store(at: server))
    wells.withLock { $0 = [(nil, 9), (nil, 4), (nil, 4)] }
    let found = try await data.poll("a")
    #expect(found?.created.count == 1 && found?.deleted.count == 1 && found?.updated == [])
    await data.close()
  }
}
