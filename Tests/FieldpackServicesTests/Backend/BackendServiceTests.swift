import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct BackendServiceTests {
  /// A backend that gives this config.
  private func broker(
    _ config: String?, as generation: WireGeneration = .numbered
  ) -> FakeBroker {
    FakeBroker { _, message in
      message.action == .configFull ? [message.reply(config, as: generation)] : []
    }
  }

  @Test func `a device registers, gets the config, and follows its changes`() async throws {
    let device = try await BackendFolder()
    let text = BackendFolder.config("a", more: #", "mine": null, "remote": {"auth": null}"#)
    let broker = broker(text)
    let backend = try device.backend(broker)
    let events = BackendEvents(backend)
    try await backend.start()
    #expect(await events.until(3) == ["connected", "registered", "config of backend"])
    #expect(await device.known == ["a", "visit"])
    // Whatever the config holds is kept byte for byte.
    #expect(device.keptText == text)

    broker.give(.addStore, BackendFolder.store("b"), to: "/config/update")
    broker.give(.addStore, BackendFolder.store("b"), to: "/config/update")
    broker.give(.updateStore, BackendFolder.store("c"), to: "/config/update", as: .named)
    broker.give(.removeStore, #"{"id": "a"}"#, to: "/config/update")
    broker.give(.removeForm, #"{"form_key": "visit"}"#, to: "/config/update")
    broker.give(.removeForm, #"{"form_key": "visit"}"#, to: "/config/update")
    #expect(
      await events.until(9).dropFirst(3) == [
        "CONFIG_ADD_STORE b", "CONFIG_ADD_STORE b", "CONFIG_UPDATE_STORE c",
        "CONFIG_REMOVE_STORE a", "CONFIG_REMOVE_FORM visit", "CONFIG_REMOVE_FORM visit",
      ])
    #expect(await device.known == ["b", "c"])
    let kept = try ConfigDocument(contentsOf: device.kept.path)
    #expect(kept.value(at: ["stores"])?.elements.map { $0["id"]?.text } == ["b", "c"])
    #expect(kept.value(at: ["forms"])?.elements == [])
    #expect(kept.value(at: ["mine"])?.isNull == true)
    // The user's own config is none of the backend's.
    let own = try String(contentsOf: device.folder.file("own.scfg"), encoding: .utf8)
    #expect(own == #"{"stores": []}"#)
    await backend.stop()
    await device.data.close()
  }

  @Test func `what the backend gets is what SpatialConnect sends`() async throws {
    let device = try await BackendFolder()
    let broker = broker("{}")
    let backend = try device.backend(broker)
    try await backend.start()
    for await isReady in backend.isReady where isReady { break }
    #expect(broker.lines == ["/config/register CONFIG_REGISTER_DEVICE", "/config CONFIG_FULL"])
    let (register, request) = (broker.sent[0], broker.sent[1])
    #expect(
      register.message.payload
        == #"{"identifier":"D1","device_info":{"os":"linux"},"name":"mobile:me"}"#)
    #expect(register.message.token == "j.w.t")
    #expect(register.generation == .numbered)
    #expect(request.message.replyTo == "/device/D1-replyTo")
    #expect(request.message.correlation != nil)
    let session = try #require(broker.session)
    #expect(session.clientID == "D1")
    #expect(session.will?.topic == "/device/D1-will")
    #expect(session.will?.bytes == Array("offline".utf8))
    #expect(session.topics == ["/device/D1-replyTo", "/config/update", "/notify", "/notify/D1"])
    #expect(try await session.credentials() == .init(user: "j.w.t", password: "anypass"))

    try await backend.ping()
    try await backend.update(notificationToken: "push")
    #expect(broker.lines.dropFirst(2) == ["/ping -", "/device/info -"])
    #expect(
      broker.sent[3].message.payload
        == #"{"identifier":"D1","device_info":{"os":"linux","token":"push"},"name":"mobile:me"}"#)
    await backend.stop()
    #expect(broker.isConnected == false)
    await device.data.close()
  }

  @Test func `without a network the config of the last time is there`() async throws {
    let device = try await BackendFolder(.none)
    try device.keep(BackendFolder.config("a", more: #", "remote": {"auth": null}"#))
    let broker = broker(BackendFolder.config("b"))
    let backend = try device.backend(broker)
    let events = BackendEvents(backend)
    try await backend.start()
    #expect(await events.until(2) == ["config of cache", "offline"])
    #expect(await device.known == ["a", "visit"])
    #expect(broker.session == nil)

    device.network.set(.wifi)
    #expect(
      await events.until(5).dropFirst(2) == ["connected", "registered", "config of backend"])
    #expect(await device.known == ["b", "visit"])
    device.network.set(.none)
    #expect(await events.until(6).last == "offline")
    await backend.stop()
    await device.data.close()
  }

  @Test func `a service that stops and starts again has the same config`() async throws {
    let device = try await BackendFolder()
    let backend = try device.backend(broker(BackendFolder.config("a")))
    let events = BackendEvents(backend)
    try await backend.start()
    _ = await events.until(3)
    await backend.stop()
    try await backend.start()
    #expect(
      await events.until(7).dropFirst(3) == [
        "config of cache", "connected", "registered", "config of backend",
      ])
    #expect(await device.known == ["a", "visit"])
    await backend.pause()
    await backend.resume()
    #expect(await events.until(10).last == "config of backend")
    await backend.stop()
    await device.data.close()
  }

  @Test func `nobody signed in is told, and the kept config holds`() async throws {
    let device = try await BackendFolder()
    try device.keep(BackendFolder.config("a"))
    let nobody = SignedInFake(
      nil, failure: FieldpackError(.permission, "nobody is signed in"))
    let backend = try device.backend(broker("{}"), signedIn: nobody)
    let events = BackendEvents(backend)
    try await backend.start()
    #expect(await events.until(2) == ["config of cache", "disconnected: nobody is signed in"])
    await backend.stop()
    await device.data.close()
  }

  @Test func `a backend of the other messages is asked in those`() async throws {
    let device = try await BackendFolder()
    // It reads `Msg` alone, and does not answer what it cannot read.
    let broker = FakeBroker { _, message in
      message.action == .configFull && message.time == nil
        ? [message.reply("{}", as: .named)] : []
    }
    let backend = try device.backend(broker)
    let events = BackendEvents(backend)
    try await backend.start()
    await broker.untilSent(2)
    device.clock.advance(by: .seconds(30))
    await device.clock.untilAsleep(1)
    _ = await events.until(3)
    device.clock.advance(by: .seconds(1))
    #expect(
      await events.until(5) == [
        "connected", "registered",
        "failed: the backend gave no reply to CONFIG_FULL within 30 s", "registered",
        "config of backend",
      ])
    #expect(broker.sent.map(\.generation) == [.numbered, .numbered, .named, .named])
    await backend.stop()
    await device.data.close()
  }

  @Test func `replies that are late, double or wrong are told, and nothing else`() async throws {
    let device = try await BackendFolder()
    let broker = FakeBroker { _, message in
      guard message.action == .configFull else { return [] }
      return [
        message.reply("{}", number: 1), message.reply("{}"), message.reply("{}"),
        BrokerMessage(topic: "/device/D1-replyTo", bytes: [0x08]),
        BackendMessage(replyTo: "/device/D1-replyTo").reply("{}"),
      ]
    }
    let backend = try device.backend(broker)
    let events = BackendEvents(backend)
    try await backend.start()
    let lines = await events.until(7)
    let number = try #require(broker.sent[1].message.correlation)
    let unasked = "failed: a reply of the backend came late, twice or unasked (it has "
    #expect(
      Set(lines) == [
        "connected", "registered", "config of backend", unasked + "number 1)",
        unasked + "number \(number))", unasked + "no number)",
        "failed: the message is no protobuf: it ends in a number",
      ])
    await backend.stop()
    await device.data.close()
  }

  @Test(arguments: [
    ("[1]", "a config is a JSON object, '{' expected"),
    ("{", "a string expected, not the end of the text"),
    (nil, "the backend gave an empty config"),
  ])
  func `a reply that is no config changes nothing`(config: String?, reason: String) async throws {
    let device = try await BackendFolder()
    try device.keep(BackendFolder.config("a"))
    let backend = try device.backend(broker(config))
    let events = BackendEvents(backend)
    try await backend.start()
    #expect(
      await events.until(4) == [
        "config of cache", "connected", "registered", "failed: \(reason)",
      ])
    #expect(device.keptText == BackendFolder.config("a"))
    await backend.stop()
    await device.data.close()
  }

  @Test func `changes that are none are told, and the next one is made`() async throws {
    let device = try await BackendFolder()
    let broker = broker("{}")
    let backend = try device.backend(broker)
    let events = BackendEvents(backend)
    try await backend.start()
    _ = await events.until(3)
    broker.give(BackendAction(number: 999), "{}", to: "/config/update")
    broker.give(nil, "{}", to: "/config/update")
    broker.give(.addStore, #"{"name": "no id"}"#, to: "/config/update")
    broker.give(.addForm, #"{"form_key": "x"}"#, to: "/config/update")
    broker.give(.addStore, "[", to: "/config/update")
    broker.give(.addForm, BackendFolder.form, to: "/config/update")
    let lines = await events.until(9).dropFirst(3)
    #expect(lines.count { $0.hasPrefix("failed: ") } == 5)
    #expect(lines.contains("failed: the action 999 changes no config"))
    #expect(lines.contains("failed: a store is an object with a member 'id'"))
    #expect(lines.contains("failed: a change of the config has no action"))
    #expect(lines.contains("CONFIG_ADD_FORM visit"))
    #expect(device.keptText?.contains(#""form_key": "x""#) == false)
    #expect(await device.known == ["visit"])
    await backend.stop()
    await device.data.close()
  }

  @Test func `notifications reach all who take them`() async throws {
    let device = try await BackendFolder()
    let broker = broker("{}")
    let backend = try device.backend(broker)
    try await backend.start()
    for await isReady in backend.isReady where isReady { break }
    var notifications = backend.notifications.makeAsyncIterator()
    broker.give(
      .notifications,
      #"{"to":"D1","priority":"alert","title":"T","body":"B","payload":{"a":1}}"#,
      to: "/notify/D1")
    broker.give(.notifications, "7", to: "/notify")
    broker.give(.notifications, #"{"priority":"loud","title":"U"}"#, to: "/notify")
    #expect(
      await notifications.next(isolation: nil)
        == BackendNotification(
          to: "D1", priority: .alert, title: "T", body: "B", payload: #"{"a":1}"#))
    #expect(await notifications.next(isolation: nil) == BackendNotification(title: "U"))
    await backend.stop()
    await device.data.close()
  }

  @Test func `dropped messages have the config asked for again`() async throws {
    let device = try await BackendFolder()
    let broker = broker("{}")
    let backend = try device.backend(broker)
    let events = BackendEvents(backend)
    try await backend.start()
    _ = await events.until(3)
    broker.give(.missed(7))
    #expect(
      await events.until(6).dropFirst(3) == [
        "failed: 7 messages of the backend came too fast and were dropped", "registered",
        "config of backend",
      ])
    await backend.stop()
    await device.data.close()
  }

  @Test func `a config without a broker, and ids that name other topics, are refused`() async throws
  {
    let device = try await BackendFolder()
    for id in ["a/b", "+", "#", "a\u{0}", ""] {
      #expect(throws: FieldpackError.self) { try BackendTopics(device: id) }
    }
    let error = #expect(throws: FieldpackError.self) {
      try BackendService(
        RemoteConfig(uri: "http://localhost"), broker: broker(nil), signedIn: SignedInFake(nil),
        configs: device.configs, reachability: device.network, folder: device.kept.path,
        device: "D1")
    }
    #expect(error?.code == .configuration)
    await device.data.close()
  }

  @Test func `credentials for a broker are not shown`() {
    let credentials = BrokerCredentials(user: "secret", password: "secret")
    var dumped = ""
    dump(credentials, to: &dumped)
    let texts = ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"]
    #expect(!texts.joined().contains("secret"))
  }

  @Test(arguments: [
    ("localhost", false, true), ("127.0.0.1", false, true), ("::1", false, true),
    ("127.0.0.1.example.org", false, false), ("broker.example.org", false, false),
    ("broker.example.org", true, true),
  ])
  func `tokens go unencrypted to this machine only`(
    host: String, isEncrypted: Bool, isAllowed: Bool
  ) throws {
    let broker = RemoteConfig.Broker(isEncrypted: isEncrypted, host: host)
    try broker.checkSecrecy(allowsUnencrypted: true)
    if isAllowed {
      try broker.checkSecrecy(allowsUnencrypted: false)
    } else {
      let error = #expect(throws: FieldpackError.self) {
        try broker.checkSecrecy(allowsUnencrypted: false)
      }
      #expect(error?.code == .permission)
    }
  }
}
