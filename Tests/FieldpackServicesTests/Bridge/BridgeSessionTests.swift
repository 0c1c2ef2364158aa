import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct BridgeSessionTests {
  @Test func `what pages get unasked`() async throws {
    let folder = try await BridgeFolder()
    try await folder.bridge.authentication?.signIn(user: "me", password: "right")
    try await folder.bridge.location?.enable()
    let session = folder.session()
    await session.start()
    #expect(try await folder.told(1) == [#"{"event":"303","data":{"type":"303","payload":1}}"#])
    await folder.bridge.location?.start()
    let place = #"{"latitude":52.123456789,"longitude":13.4,"altitude":34}"#
    #expect(
      try await folder.told(1) == [
        #"{"event":"lastKnownLocation","data":{"type":"lastKnownLocation","payload":\#(place)}}"#
      ])
    try await folder.bridge.backend?.start()
    await folder.broker.untilSent(2)
    folder.broker.give(nil, #"{"to":"D1","title":"T","body":"B"}"#, to: "/notify/D1")
    #expect(
      try await folder.told(1) == [
        #"{"event":"notification","data":{"to":"D1","priority":"info","body":"B","title":"T","#
          + #""payload":null}}"#
      ])
    // Nobody asked, so nothing is completed.
    await session.finish()
    #expect(try await folder.told(0) == [])
    await folder.close()
  }

  @Test func `a page that may only read changes nothing`() async throws {
    let folder = try await BridgeFolder()
    let session = folder.session(writes: false)
    let writing = BridgeAction.allCases.filter(\.writes)
    #expect(writing.map(\.rawValue) == [114, 115, 116, 401, 502, 503, 504, 506, 507, 508, -3, -4])
    for action in writing {
      let type = "v1/" + action.names[0]
      await session.receive(#"{"type":"\#(type)","payload":{"storeId":"wells"}}"#)
      let code = max(action.rawValue, 0)
      #expect(
        try await folder.told(1) == [
          #"{"event":"\#(type)_error","data":{"domain":"SCJavascriptBridgeErrorDomain","#
            + #""code":\#(code),"message":"this bridge only reads"}}"#
        ])
    }
    await folder.close()
  }

  @Test func `each number and each name is one action`() {
    var names: Set<String> = []
    for action in BridgeAction.allCases {
      for name in action.names {
        #expect(names.insert(name).inserted)
        #expect(BridgeAction(type: "v1/" + name) == action)
      }
      if action.rawValue >= 0 { #expect(BridgeAction(type: "\(action.rawValue)") == action) }
    }
  }

  @Test func `a page has so many answers that go on, and no more`() async throws {
    let folder = try await BridgeFolder()
    let session = folder.session()
    for number in 0..<64 { await session.receive(#"{"type":303,"responseId":"\#(number)"}"#) }
    _ = try await folder.told(64)
    await session.receive(#"{"type":303,"responseId":"64"}"#)
    #expect(
      try await folder.told(1) == [
        #"{"event":"64_error","data":{"domain":"SCJavascriptBridgeErrorDomain","code":303,"#
          + #""message":"too many answers of this page go on"}}"#
      ])
    // One that goes on may begin again.
    await session.receive(#"{"type":303,"responseId":"63"}"#)
    #expect(try await folder.told(1) == [#"{"event":"63","data":{"type":303,"payload":0}}"#])
    await session.cancel()
    await session.receive(#"{"type":303}"#)
    #expect(try await folder.told(0) == [])
    await folder.close()
  }

  @Test func `errors are told in the words that the host wants`() async throws {
    let folder = try await BridgeFolder()
    let told = Locked<[String]>([])
    let session = BridgeSession(
      of: folder.bridge, words: { "\($0.code)" },
      reply: { reply in told.withLock { $0.append(reply.text) } })
    await session.receive(#"{"type":101,"payload":{"storeId":"none"}}"#)
    #expect(told.withLock { $0 }.first?.contains(#""message":"notFound""#) == true)
    await folder.close()
  }
}
