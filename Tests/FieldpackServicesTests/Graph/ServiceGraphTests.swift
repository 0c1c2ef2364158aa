import FieldpackCore
import FieldpackServices
import Testing

@Suite struct ServiceGraphTests {
  /// What the services of a test were told, in order.
  private final class Record: Sendable {
    private let lines = Locked<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private struct Part: Service {
    let id: ServiceID
    var requires: [ServiceID] = []
    let record: Record
    let fails = Locked(false)

    func start() async throws(FieldpackError) {
      record.add("start \(id)")
      if fails.withLock({ $0 }) { throw FieldpackError(.unavailable, "no satellites") }
    }
    func pause() async { record.add("pause \(id)") }
    func resume() async { record.add("resume \(id)") }
    func stop() async { record.add("stop \(id)") }
  }

  private let record = Record()

  private func part(_ id: ServiceID, _ requires: [ServiceID]? = nil) -> Part {
    Part(id: id, requires: requires ?? id.requirements, record: record)
  }

  private let short: [ServiceID: String] = [
    .sensor: "sensor", .data: "data", .config: "config", .backend: "backend",
    .authentication: "auth",
  ]

  /// The next events, in words, until there are so many.
  private func events(
    _ count: Int, _ batches: EventBatches<ServiceEvent>
  ) async -> [String] {
    var lines: [String] = []
    for await batch in batches {
      guard case .events(let events) = batch else { return lines + ["missed"] }
      lines += events.map { event in
        "\(event.kind)" + (event.service.map { " \(short[$0] ?? $0.rawValue)" } ?? "")
      }
      if lines.count >= count { break }
    }
    return lines
  }

  private var told: [String] {
    record.all.map { line in
      short.reduce(line) { $0.replacing($1.key.rawValue, with: $1.value) }
    }
  }

  @Test func `names, requirements and numbers are those that bridges know`() {
    let all: [ServiceID] = [.sensor, .data, .config, .authentication, .backend]
    #expect(
      all.map(\.rawValue) == [
        "SC_SENSOR_SERVICE", "SC_DATA_SERVICE", "SC_CONFIG_SERVICE", "SC_AUTH_SERVICE",
        "SC_BACKEND_SERVICE",
      ])
    #expect(
      all.map(\.requirements) == [
        [], [.sensor], [.data], [], [.authentication, .config, .sensor, .data],
      ])
    #expect(
      ServiceEvent.Kind.allCases.map { "\($0.rawValue) \($0.name)" } == [
        "0 SC_SERVICE_EVT_RUNNING", "1 SC_SERVICE_EVT_STARTED", "2 SC_SERVICE_EVT_ERROR",
        "3 SC_SERVICE_EVT_STOPPED", "4 SC_SERVICE_EVT_ALLSTARTED", "5 SC_SERVICE_EVT_PAUSED",
      ])
  }

  @Test func `services start after those that they need, and stop before them`() async throws {
    let graph = try ServiceGraph([
      part(.config), part(.backend), part(.data), part(.authentication), part(.sensor),
    ])
    let batches = graph.events()
    #expect(await graph.startAll().isEmpty)
    #expect(
      told == ["start sensor", "start data", "start config", "start auth", "start backend"])
    #expect(
      await events(11, batches) == [
        "started config", "started data", "started sensor", "running sensor", "running data",
        "running config", "started backend", "started auth", "running auth", "running backend",
        "allStarted",
      ])
    let ends = graph.events()
    try await graph.stop(.sensor)
    #expect(
      told.dropFirst(5) == ["stop backend", "stop config", "stop data", "stop sensor"])
    #expect(
      await events(4, ends)
        == ["stopped backend", "stopped config", "stopped data", "stopped sensor"])
    #expect(await graph.status(.authentication) == .running)
    await graph.stopAll()
    for id in await graph.ids { #expect(await graph.status(id) == .stopped) }
  }

  @Test func `what runs is not started, and what is stopped not stopped`() async throws {
    let graph = try ServiceGraph([part(.sensor), part(.data)])
    try await graph.stop(.data)
    try await graph.start(.data)
    try await graph.start(.data)
    try await graph.start(.sensor)
    #expect(told == ["start sensor", "start data"])
    let error = await #expect(throws: FieldpackError.self) { try await graph.start(.config) }
    #expect(error?.code == .notFound)
    #expect(
      error?.message
        == "there is no service SC_CONFIG_SERVICE (there are: SC_SENSOR_SERVICE, SC_DATA_SERVICE)")
    let twice = #expect(throws: FieldpackError.self) {
      _ = try ServiceGraph([part(.data), part(.data)])
    }
    #expect(twice?.code == .invalidArgument)
  }

  @Test func `where a service fails, those that need it do not start`() async throws {
    let sensor = part(.sensor)
    sensor.fails.withLock { $0 = true }
    let graph = try ServiceGraph([sensor, part(.data), part(.config), part(.authentication)])
    let batches = graph.events()
    let failures = await graph.startAll()
    #expect(
      Dictionary(uniqueKeysWithValues: failures.map { (short[$0] ?? "", $1.message) }) == [
        "sensor": "no satellites",
        "data": "Not all of the dependencies started: SC_SENSOR_SERVICE: no satellites",
        "config": "Not all of the dependencies started: SC_DATA_SERVICE: "
          + "Not all of the dependencies started: SC_SENSOR_SERVICE: no satellites",
      ])
    #expect(told == ["start sensor", "start auth"])
    #expect(
      await events(8, batches) == [
        "started sensor", "error sensor", "started data", "error data", "started config",
        "error config", "started auth", "running auth",
      ])
    #expect(await graph.status(.data) == .error)
    #expect(await graph.failure(.sensor)?.message == "no satellites")
    sensor.fails.withLock { $0 = false }
    #expect(await graph.restartAll().isEmpty)
    #expect(await graph.status(.config) == .running)
  }

  @Test func `services that need each other, or one that is not there, do not start`()
    async throws
  {
    let graph = try ServiceGraph([
      part(.sensor, [.data]), part(.data), part(.backend, [.config]),
    ])
    let failures = await graph.startAll()
    #expect(Set(failures.keys) == [.sensor, .data, .backend])
    #expect(told == [])
    #expect(failures[.backend]?.message.contains("there is no service SC_CONFIG_SERVICE") == true)
    await graph.stopAll()
  }

  @Test func `who waits for a service hears of it, before and after`() async throws {
    let graph = try ServiceGraph([part(.sensor)])
    let before = await graph.running(.data)
    try await graph.add(part(.data))
    try await graph.start(.data)
    let after = await graph.running(.data)
    for stream in [before, after] {
      var events: [ServiceEvent] = []
      for await event in stream { events.append(event) }
      #expect(events == [ServiceEvent(.running, .data)])
    }
  }

  @Test func `a service goes with those that need it, and comes back`() async throws {
    let graph = try ServiceGraph([part(.sensor), part(.data), part(.config)])
    await graph.startAll()
    try await graph.pause(.data)
    #expect(await graph.status(.config) == .paused)
    #expect(await graph.status(.sensor) == .running)
    try await graph.resume(.config)
    #expect(await graph.status(.data) == .running)
    #expect(await graph.status(.config) == .running)
    #expect(
      told.dropFirst(3) == ["pause config", "pause data", "resume data", "resume config"])
    try await graph.restart(.data)
    #expect(
      told.dropFirst(7) == ["stop config", "stop data", "start data", "start config"])
    await graph.remove(.data)
    #expect(await graph.ids == [.sensor])
    #expect(told.dropFirst(11) == ["stop config", "stop data"])
    #expect(await graph.service(.data) == nil)
  }

  @Test func `changes that are asked for together come one after the other`() async throws {
    let graph = try ServiceGraph([part(.sensor), part(.data), part(.config)])
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          if number % 2 == 0 { await graph.startAll() } else { await graph.stopAll() }
        }
      }
    }
    await graph.stopAll()
    let starts = told.filter { $0.hasPrefix("start") }.count
    #expect(starts == told.count - starts && starts % 3 == 0)
  }
}
