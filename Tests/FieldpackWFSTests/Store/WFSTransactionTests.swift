import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackWFS

/// Changes by transactions of version 2.0.0.
@Suite struct WFSTransactionTests {
  private static let schema = Schema(
    layer: "wells", geometry: GeometryColumn(type: .point),
    columns: [ColumnDefinition("name", .text()), ColumnDefinition("visits", .integer)])

  private static let wells = (1...3).map { number in
    Feature(
      id: .integer(Int64(number)), geometry: .point(x: Double(number), y: 50),
      attributes: ["name": "w\(number)", "visits": .integer(Int64(number))])
  }

  private func served(_ options: ServedLayers.Options = .init(takesChanges: true)) -> ServedLayers {
    var options = options
    options.prefix = "survey:"
    return ServedLayers([Self.schema], ["wells": Self.wells], options)
  }

  private func store(_ server: LoopbackServer) async throws -> WritableWFSStore {
    try WritableWFSStore(WFSStore(address: server.address + "/wfs", id: "survey"))
  }

  private func transactions(_ server: LoopbackServer) -> [String] {
    server.requests.filter { $0.method == "POST" }.map { String(decoding: $0.body, as: UTF8.self) }
  }

  @Test func `go as one request, and the service chooses the ids`() async throws {
    let server = try served().serve()
    let store = try await store(server)
    let (new, ids) = try await store.transaction { (writer) throws(FieldpackError) in
      let new = try writer.create(
        Feature(geometry: .point(x: 13.5, y: 52), attributes: ["NAME": "<&>", "visits": nil]),
        in: "wells")
      try writer.update(2, in: "wells", set: ["visits": .null], geometry: .set(.point(x: 9, y: 8)))
      try writer.update(1, in: "wells", geometry: .set(nil))
      try writer.delete(3, in: "wells")
      return new
    }
    #expect(ids == [new: 4])
    #expect(
      transactions(server) == [
        #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
          + #"<wfs:Transaction xmlns:wfs="http://www.opengis.net/wfs/2.0" "#
          + #"xmlns:fes="http://www.opengis.net/fes/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" "#
          + #"service="WFS" version="2.0.0"><wfs:Insert handle="new-1">"#
          + #"<wells xmlns="urn:survey"><geom>"#
          + #"<gml:Point gml:id="g1" srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>52 13.5</gml:pos>"#
          + #"</gml:Point></geom><name>&lt;&amp;&gt;</name></wells></wfs:Insert>"#
          + #"<wfs:Update xmlns:ns1="urn:survey" typeName="ns1:wells"><wfs:Property>"#
          + #"<wfs:ValueReference>visits</wfs:ValueReference></wfs:Property><wfs:Property>"#
          + #"<wfs:ValueReference>geom</wfs:ValueReference><wfs:Value><gml:Point gml:id="g2" "#
          + #"srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>8 9</gml:pos></gml:Point></wfs:Value>"#
          + #"</wfs:Property><fes:Filter><fes:ResourceId rid="wells.2"/></fes:Filter></wfs:Update>"#
          + #"<wfs:Update xmlns:ns1="urn:survey" typeName="ns1:wells"><wfs:Property>"#
          + #"<wfs:ValueReference>geom</wfs:ValueReference></wfs:Property><fes:Filter>"#
          + #"<fes:ResourceId rid="wells.1"/></fes:Filter></wfs:Update>"#
          + #"<wfs:Delete xmlns:ns1="urn:survey" typeName="ns1:wells"><fes:Filter>"#
          + #"<fes:ResourceId rid="wells.3"/></fes:Filter></wfs:Delete></wfs:Transaction>"#
      ])
    var features: [Feature] = []
    for try await feature in try await store.query(Query("wells")).features {
      features.append(
        Feature(id: feature.id, geometry: feature.geometry, attributes: feature.attributes))
    }
    #expect(
      features == [
        Feature(id: 1, attributes: ["name": "w1", "visits": 1]),
        Feature(
          id: 2, geometry: .point(x: 9, y: 8), attributes: ["name": "w2", "visits": .null]),
        Feature(
          id: 4, geometry: .point(x: 13.5, y: 52), attributes: ["name": "<&>", "visits": .null]),
      ])
  }

  @Test func `change a new feature before it is sent`() async throws {
    let server = try served().serve()
    let store = try await store(server)
    let (_, ids) = try await store.transaction { (writer) throws(FieldpackError) in
      let first = try writer.create(Feature(attributes: ["name": "a"]), in: "wells")
      let second = try writer.create(Feature(attributes: ["name": "b"]), in: "wells")
      try writer.delete(first, in: "wells")
      try writer.update(second, in: "wells", set: ["name": "c"], geometry: .set(.point(x: 1, y: 2)))
    }
    #expect(ids == ["new-2": 4])
    #expect(
      try await store.feature(4, in: "wells")?.attributes == ["name": "c", "visits": .null])
  }

  @Test func `send nothing where the body throws or changes nothing`() async throws {
    let server = try served().serve()
    let store = try await store(server)
    let stop = FieldpackError(.interrupted, "enough")
    await #expect(throws: FieldpackError.self) {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(1, in: "wells")
        throw stop
      }
    }
    try await store.write { (writer) throws(FieldpackError) in
      _ = try writer.feature(1, in: "wells")
    }
    #expect(transactions(server) == [])
  }

  @Test func `refuse what the service does not have or hold`() async throws {
    let server = try served().serve()
    let store = try await store(server)
    let changes:
      [(FieldpackError.Code, @Sendable (inout FeatureWriter) throws(FieldpackError) -> Void)] =
        [
          (.notFound, { (writer) throws(FieldpackError) in try writer.delete(9, in: "wells") }),
          (
            .notFound,
            { (writer) throws(FieldpackError) in
              try writer.delete(1, in: "wells")
              try writer.update(1, in: "wells", set: ["name": "x"])
            }
          ),
          (
            .notFound,
            { (writer) throws(FieldpackError) in
              try writer.create(Feature(attributes: ["depth": 1]), in: "wells")
            }
          ),
          (
            .invalidData,
            { (writer) throws(FieldpackError) in
              try writer.create(Feature(attributes: ["visits": "many"]), in: "wells")
            }
          ),
          (
            .unsupported,
            { (writer) throws(FieldpackError) in try writer.create(Feature(id: 7), in: "wells") }
          ),
          (.unsupported, { (writer) throws(FieldpackError) in try writer.removeLayer("wells") }),
        ]
    for (code, change) in changes {
      let error = await #expect(throws: FieldpackError.self) { try await store.write(change) }
      #expect(error?.code == code)
    }
    #expect(transactions(server) == [])
  }

  @Test func `have the geometry where the schema has it`() async throws {
    let served = served()
    let geometry = #"<element name="geom" minOccurs="0" type="gml:GeometryPropertyType"/>"#
    let server = try LoopbackServer { request in
      guard request.target.contains("DescribeFeatureType"),
        case .response(_, _, let body) = served.answer(request)
      else { return served.answer(request) }
      let text = String(decoding: body, as: UTF8.self).replacing(geometry, with: "")
      return .text(200, text.replacing("</sequence>", with: geometry + "</sequence>"))
    }
    let store = try await store(server)
    try await store.write { (writer) throws(FieldpackError) in
      _ = try writer.create(
        Feature(geometry: .point(x: 1, y: 2), attributes: ["name": "x"]), in: "wells")
    }
    #expect(transactions(server).first?.contains("<name>x</name><geom><gml:Point") == true)
  }

  @Test func `geometries are not sent where the layer's system is not understood`() async throws {
    let served = served()
    let server = try LoopbackServer { request in
      guard request.target.contains("GetCapabilities"),
        case .response(_, _, let body) = served.answer(request)
      else { return served.answer(request) }
      return .text(
        200,
        String(decoding: body, as: UTF8.self)
          .replacing("urn:ogc:def:crs:EPSG::4326", with: "local"))
    }
    let store = try await store(server)
    let error = await #expect(throws: FieldpackError.self) {
      try await store.write { (writer) throws(FieldpackError) in
        _ = try writer.create(Feature(geometry: .point(x: 1, y: 2)), in: "wells")
      }
    }
    #expect(error?.code == .unsupported)
    #expect(transactions(server) == [])
    let box = Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4)
    let found = try await store.explain(Query("wells", where: .intersects(box)))
    #expect(found.allSatisfy { !$0.sql.contains("bbox") && !$0.sql.contains("filter") })
    #expect(found.count == 1)
  }

  @Test func `a service that does less is an error`() async throws {
    let server = try served(.init(lie: 1, takesChanges: true)).serve()
    let store = try await store(server)
    let error = await #expect(throws: FieldpackError.self) {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(1, in: "wells", set: ["name": "x"])
      }
    }
    #expect(error?.wfsFailure == .incomplete(matched: 1, given: 0))
    #expect(
      error?.message == "the service has done 0 of 1 changes (totalUpdated): no room")
    #expect(transactions(server).count == 1)
  }

  @Test func `a failure that the totals do not show is an error`() async throws {
    let server = try served(.init(takesChanges: true, complains: true)).serve()
    let store = try await store(server)
    let error = await #expect(throws: FieldpackError.self) {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(1, in: "wells", set: ["name": "x"])
      }
    }
    #expect(error?.message == "the service has not done all changes: no room")
  }

  @Test func `a feature that an answer without new ones names is none`() async throws {
    let server = try served(.init(version: .wfs11, takesChanges: true)).serve()
    let store = try await store(server)
    let (_, ids) = try await store.transaction { (writer) throws(FieldpackError) in
      try writer.update(1, in: "wells", set: ["name": "x"])
    }
    #expect(ids == [:])
    #expect(transactions(server).count == 1)
  }

  @Test func `go in version 1,1,0 to a service that does not know 2,0,0`() async throws {
    let options = ServedLayers.Options(version: .wfs11, takesChanges: true, reversesHandles: true)
    let server = try served(options).serve()
    let store = try await store(server)
    let (new, ids) = try await store.transaction { (writer) throws(FieldpackError) in
      let new = try ["a", "b"].map { (name) throws(FieldpackError) in
        try writer.create(Feature(attributes: ["name": .text(name)]), in: "wells")
      }
      try writer.update(2, in: "wells", set: ["name": "c"], geometry: .set(.point(x: 9, y: 8)))
      try writer.delete(3, in: "wells")
      return new
    }
    #expect(ids == [new[0]: 4, new[1]: 5])
    #expect(
      transactions(server) == [
        #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
          + #"<wfs:Transaction xmlns:wfs="http://www.opengis.net/wfs" "#
          + #"xmlns:fes="http://www.opengis.net/ogc" xmlns:gml="http://www.opengis.net/gml" "#
          + #"service="WFS" version="1.1.0"><wfs:Insert handle="new-1"><wells xmlns="urn:survey">"#
          + #"<name>a</name></wells></wfs:Insert><wfs:Insert handle="new-2">"#
          + #"<wells xmlns="urn:survey"><name>b</name></wells></wfs:Insert>"#
          + #"<wfs:Update xmlns:ns1="urn:survey" typeName="ns1:wells"><wfs:Property>"#
          + #"<wfs:Name>name</wfs:Name><wfs:Value>c</wfs:Value></wfs:Property><wfs:Property>"#
          + #"<wfs:Name>geom</wfs:Name><wfs:Value>"#
          + #"<gml:Point srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>8 9</gml:pos></gml:Point>"#
          + #"</wfs:Value></wfs:Property><fes:Filter><fes:FeatureId fid="wells.2"/></fes:Filter>"#
          + #"</wfs:Update><wfs:Delete xmlns:ns1="urn:survey" typeName="ns1:wells"><fes:Filter>"#
          + #"<fes:FeatureId fid="wells.3"/></fes:Filter></wfs:Delete></wfs:Transaction>"#
      ])
    var names: [Value?] = []
    for id in 1...5 {
      let feature = try await store.feature(.integer(Int64(id)), in: "wells")
      names.append(feature?.attributes["name"])
    }
    #expect(names == ["w1", "c", nil, "a", "b"])
  }

  @Test func `are refused where the service takes none`() async throws {
    for options: ServedLayers.Options in [.init(), .init(version: .wfs11, takesChanges: true)] {
      let server = try served(options).serve()
      let reading = try WFSStore(address: server.address, id: "survey", version: options.version)
      let error = await #expect(throws: FieldpackError.self) {
        try await WritableWFSStore(reading).write { _ throws(FieldpackError) in }
      }
      #expect(error?.code == .readOnly)
    }
  }
}
