import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct MQTTTransportTests {
  private func edit(
    _ number: Int, store: StoreID = "wells", form: Int64? = nil,
    _ operation: OutgoingEdit.Operation = .insert
  ) -> OutgoingEdit {
    let feature = Feature(
      key: KeyTuple(store: store, layer: "well", feature: .integer(Int64(number))),
      geometry: .point(x: 7.5, y: 46.25),
      attributes: ["depth": 0.1, "dry": true, "name": "ä", "note": nil])
    return OutgoingEdit(
      id: "E\(number)", store: store, layer: "well", operation: operation, feature: feature,
      time: Instant("2026-07-01T10:00:00Z"), author: "ann", device: "D1", form: form)
  }

  /// A backend that is ready, and answers edits with these payloads in turn; `nil` is no answer.
  private func ready(
    _ replies: [String?]
  ) async throws -> (BackendFolder, FakeBroker, BackendService) {
    let device = try await BackendFolder()
    let left = Locked(replies)
    let broker = FakeBroker { topic, message in
      if message.action == .configFull { return [message.reply("{}")] }
      guard topic.hasPrefix("/store/"),
        let reply = left.withLock({ $0.isEmpty ? nil : $0.removeFirst() })
      else { return [] }
      return [message.reply(reply)]
    }
    let backend = try device.backend(broker)
    try await backend.start()
    for await isReady in backend.isReady where isReady { break }
    return (device, broker, backend)
  }

  private static let accepted = #"{"result":true,"error":null}"#

  @Test func `an edit is SpatialConnect's GeoJSON with its id`() async throws {
    let (device, broker, backend) = try await ready([Self.accepted, Self.accepted, Self.accepted])
    let answers = await backend.transport.send([
      edit(1, store: FormStore.id, form: 4), edit(2, .update), edit(3, .delete),
    ])
    #expect(answers.map(\.line) == ["accepted -", "accepted -", "accepted -"])
    #expect(
      broker.lines.dropFirst(2) == [
        "/store/form DATASERVICE_CREATEFEATURE", "/store/wells DATASERVICE_UPDATEFEATURE",
        "/store/wells DATASERVICE_DELETEFEATURE",
      ])
    let feature =
      #"{"type":"Feature","id":"1","properties":{"depth":0.1,"dry":true,"name":"ä","note":null},"#
      + #""metadata":{"created_at":"2026-07-01 10:00:00 GMT","client":"D1","storeId":"FORM_STORE","#
      + #""layerId":"well","edit_id":"E1","author":"ann"},"#
      + #""geometry":{"type":"Point","coordinates":[7.5,46.25]},"bbox":[7.5,46.25,7.5,46.25],"#
      + #""crs":{"type":"name","properties":{"name":"EPSG:4326"}}}"#
    #expect(broker.sent[2].message.payload == #"{"form_id":4,"feature":\#(feature)}"#)
    await backend.stop()
    await device.data.close()
  }

  @Test func `each reply is an answer, and what is unclear is sent later`() async throws {
    let (device, broker, backend) = try await ready([
      #"{"result":{"id":"s1"},"error":null}"#, #"{"result":5}"#, #"{"result":null,"error":"no"}"#,
      #"{"error":{"message":"full"}}"#, #"{"result":false}"#, #"{"re"#,
    ])
    let events = BackendEvents(backend)
    let answers = await backend.transport.send((1...8).map { edit($0) })
    #expect(
      answers.map(\.line) == [
        "accepted s1", "accepted 5", "refused constraint: the backend refused the edit: no",
        "refused constraint: the backend refused the edit: full",
        "refused constraint: the backend refused the edit without a reason",
        "later invalidData: the backend's reply to the edit E6 is no JSON object",
      ])
    // Nothing was sent behind the sixth.
    #expect(broker.sent.count == 8)
    #expect(
      await events.until(4).last
        == "failed: the backend's reply to the edit E6 is no JSON object")
    await backend.stop()
    await device.data.close()
  }

  @Test func `no reply in 30 s, and a lost connection, mean later`() async throws {
    let (device, broker, backend) = try await ready([])
    async let late = backend.transport.send([edit(1), edit(2)])
    await broker.untilSent(3)
    await device.clock.untilAsleep(1)
    device.clock.advance(by: .seconds(30))
    #expect(
      (await late).map(\.line) == [
        "later unavailable: the backend gave no reply to DATASERVICE_CREATEFEATURE within 30 s"
      ])
    async let lost = backend.transport.send([edit(1)])
    await broker.untilSent(4)
    broker.give(.disconnected(FieldpackError(.unavailable, "gone")))
    #expect((await lost).map(\.line) == ["later unavailable: gone"])
    #expect(
      (await backend.transport.send([edit(1)])).map(\.line) == [
        "later unavailable: there is no connection to the backend"
      ])
    await backend.stop()
    await device.data.close()
  }

  @Test func `a store whose id is no level of a topic is refused before it is sent`() async throws {
    let (device, broker, backend) = try await ready([])
    for id in ["form", "tracking", "a/b", "#", "a+", "x\u{0}"] {
      let answers = await backend.transport.send([edit(1, store: StoreID(id))])
      #expect(answers.map(\.line).first?.hasPrefix("refused invalidArgument: ") == true)
    }
    #expect(broker.sent.count == 2)
    #expect(try BackendTopics.edits(of: edit(1, store: LocationStore.id)) == "/store/tracking")
    await backend.stop()
    await device.data.close()
  }
}
