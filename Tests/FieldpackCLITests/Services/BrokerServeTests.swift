#if Server && MQTT
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// `fieldpack serve` publishes events to mosquitto, and mosquitto's own subscriber reads them.
  @Suite(
    .serialized, .programs,
    .enabled(if: TestBroker.program != nil, Comment(rawValue: TestBroker.missing)),
    .enabled(if: TestBroker.subscriber != nil, "mosquitto_sub is not installed"))
  struct BrokerServeTests {
    private let survey: SurveyFolder
    private let made = Locked<[String]>([])

    init() async throws {
      survey = try SurveyFolder()
      _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
      _ = try await survey.run("log", "enable", "field.gpkg:wells")
    }

    /// Starts the server with one webhook. Its state goes on from one start to the next.
    private func serve(
      _ webhook: String, _ more: String..., environment: [String: String] = [:]
    ) throws -> Program {
      let state = ["XDG_STATE_HOME": survey.folder.file("state").path]
      let program = try Program(
        Tool.path,
        ["serve", "field.gpkg", "--listen", "127.0.0.1:0", "--log-level", "warning"]
          + (webhook.hasSuffix(".json") ? ["--webhooks", webhook] : ["--webhook", webhook]) + more,
        environment: state.merging(environment) { $1 }, folder: survey.folder.url)
      _ = try program.servedAddress()
      // What is edited from now on is told.
      try program.block(for: "its state") {
        let folder = survey.folder.file("state/fieldpack").path
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.contains { $0.hasPrefix("webhook-") && $0.hasSuffix(".json") }
      }
      return program
    }

    private func subscribe(_ broker: TestBroker, _ words: String...) throws -> Program {
      let words = ["-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "5", "-q", "1"] + words
      return try Program(TestBroker.subscriber ?? "", words)
    }

    private func edit() async throws {
      let name = "edit-\(made.withLock { $0.count })"
      let result = try await survey.run(
        "update", "field.gpkg:wells", "11", "--set", "name=\(name)")
      #expect(result.status == 0, "\(result)")
      made.withLock { $0.append(name) }
    }

    /// The name of the feature and the id of the event in each line `TOPIC PAYLOAD`.
    private func events(_ text: String) -> [(name: String, id: String)] {
      text.split(separator: "\n").compactMap { line in
        let json = try? JSONValueReader.read(String(line.drop { $0 != "{" }))
        guard let id = json?["id"]?.string else { return nil }
        return (json?["data"]?["properties"]?["name"]?.string ?? "", id)
      }
    }

    /// The names in their order, each event once: after a kill the last one may come again.
    private func names(_ text: String) -> [String] {
      var last: String?
      return events(text).compactMap { event in
        defer { last = event.id }
        return event.id == last ? nil : event.name
      }
    }

    @Test func `kills of the server and restarts of the broker leave no gap`() async throws {
      let broker = try await TestBroker(["allow_anonymous true"], isPersistent: true)
      let address = "mqtt://127.0.0.1:\(broker.port)/field"
      let subscriber = try subscribe(broker, "-c", "-i", "reader", "-v", "-t", "field/#")
      var server = try serve(address)
      func arrived() throws {
        let last = made.withLock { $0.last } ?? ""
        try subscriber.block(for: last) { subscriber.outputSoFar.contains("\"\(last)\"") }
      }
      try await edit()
      try arrived()
      for round in 0..<4 {
        // The server is killed while it publishes, and edits go on without it.
        for _ in 0..<3 { try await edit() }
        usleep(UInt32.random(in: 0...60_000))
        server.send(SIGKILL)
        _ = try await server.result()
        try await edit()
        server = try serve(address)
        try arrived()
        // The broker is away while things happen. It keeps the subscription.
        guard round % 2 == 0 else { continue }
        try await broker.stop()
        for _ in 0..<2 { try await edit() }
        try await broker.start()
        try arrived()
      }
      server.send(SIGTERM)
      #expect(try await server.result().status == 0)
      subscriber.send(SIGTERM)
      let text = try await subscriber.result().output
      #expect(names(text) == made.withLock { $0 })
      #expect(
        text.split(separator: "\n").allSatisfy { $0.hasPrefix("field/wells/updated {\"spec") })
    }

    /// The broker knows its users alone, and shows a certificate that the second start trusts.
    @Test func `TLS is verified, and the broker asks for a password`() async throws {
      let folder = try TemporaryFolder()
      let certificate = try await Program.run(
        "openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
          "-days", "30", "-subj", "/CN=broker", "-addext", "subjectAltName=IP:127.0.0.1",
          "-keyout", "b.key", "-out", "b.pem",
        ], folder: folder.url)
      #expect(certificate.status == 0, "\(certificate)")
      let user = try await Program.run(
        "mosquitto_passwd", ["-b", "-c", "users", "ada", "geheim"], folder: folder.url)
      #expect(user.status == 0, "\(user)")
      let broker = try await TestBroker(
        [
          "allow_anonymous false", "password_file \(folder.file("users").path)",
          "certfile \(folder.file("b.pem").path)", "keyfile \(folder.file("b.key").path)",
        ], in: folder)
      _ = try survey.folder.write("geheim\n", to: "broker.key")
      _ = try survey.folder.write(
        #"[{"url":"mqtts://127.0.0.1:\#(broker.port)/field","user":"ada","secretFile":"broker.key"}]"#,
        to: "hooks.json")
      let subscriber = try subscribe(
        broker, "-u", "ada", "-P", "geheim", "--cafile", folder.file("b.pem").path, "-t", "field/#")
      var server = try serve("hooks.json")
      try await edit()
      try server.block(for: "its refusal") {
        server.errorSoFar.contains("a webhook did not take an event")
      }
      #expect(server.errorSoFar.contains("nobody that is trusted vouches for it"))
      #expect(!server.errorSoFar.contains("geheim"))
      server.send(SIGTERM)
      _ = try await server.result()
      server = try serve(
        "hooks.json", environment: ["SSL_CERT_FILE": folder.file("b.pem").path])
      try await edit()
      try subscriber.block(for: "the edits") { subscriber.outputSoFar.contains("\"edit-1\"") }
      server.send(SIGTERM)
      #expect(try await server.result().status == 0)
      subscriber.send(SIGTERM)
      #expect(names(try await subscriber.result().output) == ["edit-0", "edit-1"])
    }

    /// Whoever subscribes later gets where the devices are, marked as retained.
    @Test func `the newest state of a device is retained`() async throws {
      let broker = try await TestBroker()
      _ = try survey.folder.write(
        #"[{"url":"mqtt://127.0.0.1:\#(broker.port)","events":["position"]}]"#, to: "hooks.json")
      let server = try serve("hooks.json", "--writable")
      let address = server.outputSoFar.split(whereSeparator: \.isWhitespace)[3]
      for second in 10...12 {
        let line =
          #"{"lon":\#(second),"lat":50,"time":"2024-05-01T10:00:\#(second)Z","device":"car"}"#
        let result = try await Program.run(
          "curl", ["-sf", "\(address)fixes", "-H", "Content-Type: application/json", "-d", line])
        #expect(result.status == 0, "\(result)")
      }
      // Each reader takes one message; the last one is there at the latest when the server has ended.
      var seen = ""
      while !(seen.hasPrefix("1 ") && seen.contains("[12,50]")) {
        let reader = try subscribe(
          broker, "-C", "1", "-F", "%r %C %t %p", "-t", "monitor_state/position/+")
        seen = try await reader.result().output
      }
      let head = "1 application/cloudevents+json; charset=utf-8 monitor_state/position/car {"
      #expect(seen.hasPrefix(head), "\(seen)")
      server.send(SIGTERM)
      #expect(try await server.result().status == 0)
    }
  }
#endif
