import Fieldpack
import FieldpackCore
import FieldpackHTTP

extension FieldpackTool {
  static var motionPostCommand: Command {
    Command(
      "post", abstract: "Post samples to a server, as a motion device does.",
      discussion: """
        Starts a session and posts batches of five samples. A failed request is tried again \
        after 0.5 s, then after twice the time, up to 30 s, with jitter. The answer 401 leads to \
        one new start; redirects are not followed. With --into every sample is kept, as a \
        session of its own.

        Recorded sessions are posted one after the other, each as its device and with its times. \
        Lines of JSON, such as {"time":1714557600.02,"ax":0.01,"ay":-0.5,"az":-0.83}, are posted \
        with the times in them, or with the times when they come; with --rate they are read at \
        that rate, and their time is that of reading. The protocol sends only the time of a \
        batch's last sample, and a server takes samples to be 1/50 s apart. The server must know \
        any rate other than 50 Hz.

        Samples of sensors, or of any source with --live, are lost to the server while nothing \
        can be posted; other sources wait. The status is 1 where a batch was lost, 69 where the \
        server could not be reached.
        """,
      examples: [
        "fieldpack motion post field.gpkg --server http://localhost:8080/motion",
        "fieldpack motion post --sensors --server https://example.org:8443/m --into field.gpkg",
        "imu | fieldpack motion post - --live --server http://localhost:8080/motion",
      ],
      body: MotionPostCommand.self)
  }
}

/// What `fieldpack motion post` takes.
struct MotionPostArguments: OptionGroup {
  let source: String?
  @Required var server: String
  let headers: [HTTPFields.Field]
  let sessions: [String]
  let rate: Double?
  let speed: ReplaySource.Speed
  let sections: [MotionSection]
  let usesSensors: Bool
  let isLive: Bool
  let unsentLimit: Int
  let attempts: Int?
  let into: String?
  let skipsErrors: Bool
  let profile: OpeningProfile

  init(_ reader: inout OptionReader) {
    source = reader.optionalArgument(
      .whole("source", completion: .source(["gpkg", "json", "jsonl"])),
      help: "A GeoPackage with sessions, recorded requests, lines of JSON in a file, a pipe or - "
        + "for standard input; under --sensors the folder of the devices.")
    _server = reader.required("server", .text("url"), help: "Where to post: http or https.")
    headers = reader.values("header", .headerField, help: "Send this field with every request.")
    sessions = reader.sessions()
    rate = reader.value(
      "rate", .number("hz", atLeast: 0.001),
      help: "Samples a second: 50 by default for sensors; other sources keep their own pace.")
    speed = reader.value(
      "speed", .speed, default: .max, shownAs: "max",
      help: "Post recorded sessions at their pace, 1x, or faster, 10x; max does not wait.")
    sections = reader.value(
      "sections", .sections, default: MotionSection.allCases, shownAs: "all",
      help: "Post only these: attitude, acceleration, magneticField, rotation.")
    usesSensors = reader.flag("sensors", help: "Read the machine's industrial I/O sensors.")
    isLive = reader.flag(
      "live",
      help: "Do not wait for the server: samples that cannot be posted in time are lost to it.")
    unsentLimit = reader.value(
      "unsent", .integer("n", in: 0...100_000), default: 0,
      help: "How many live batches are kept while the server cannot be reached.")
    attempts = reader.value(
      "attempts", .integer("n", in: 1...Int.max),
      help: "Give up after so many failures in a row; by default 8, with --live never.")
    into = reader.value(
      "into", .target,
      help: "Keep every sample in this GeoPackage, posted or not; made where missing.")
    skipsErrors = reader.skipErrors()
    profile = reader.profile()
  }
}

extension ValueForm where Value == HTTPFields.Field {
  /// `field:value`.
  fileprivate static var headerField: ValueForm {
    ValueForm("field:value") { (text) throws(ValueError) -> HTTPFields.Field in
      let sides = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let name = sides.first.map { String($0) } ?? ""
      let isName =
        !name.isEmpty
        && name.utf8.allSatisfy { byte in
          byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
        }
      guard sides.count == 2, isName, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
        throw ValueError("is no field and value such as Authorization:abc")
      }
      let value = sides[1].drop { $0 == " " }
      return HTTPFields.Field(name, String(value))
    }
  }
}

extension ValueForm where Value == [MotionSection] {
  fileprivate static var sections: ValueForm {
    let names = MotionSection.allCases.map(\.rawValue)
    return ValueForm("names", completion: .list(.choices(names))) {
      (text) throws(ValueError) -> [MotionSection] in
      var sections: [MotionSection] = []
      for name in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let section = MotionSection(rawValue: String(name)) else {
          throw ValueError("has '\(name)', which is none of \(names.joined(separator: ", "))")
        }
        sections.append(section)
      }
      return sections
    }
  }
}

/// `fieldpack motion post`.
private struct MotionPostCommand: CommandBody {
  let invocation: Invocation
  let options: MotionPostArguments

  func run() async throws(FieldpackError) -> Int32 {
    let server = try MotionServer(
      options.server, headers: HTTPFields(options.headers))
    return try await invocation.withMotionSources(options) { (sources) throws(FieldpackError) in
      let progress = MotionPostProgress(console: invocation.console)
      guard let path = options.into else {
        return try await post(sources, to: server, into: nil, progress)
      }
      return try await invocation.withNewGeoPackage(path, options.profile) {
        (store) throws(FieldpackError) in
        try await post(sources, to: server, into: store, progress)
      }
    }
  }

  /// Posts all sources, and tells what became of it whatever happens.
  private func post(
    _ sources: [PostedMotion], to server: MotionServer, into store: GeoPackageStore?,
    _ progress: MotionPostProgress
  ) async throws(FieldpackError) -> Int32 {
    do throws(FieldpackError) {
      for source in sources { try await post(source, to: server, into: store, progress) }
    } catch {
      try show(progress, error)
      throw error
    }
    try show(progress, nil)
    return progress.report.lost > 0 ? ExitStatus.failure : ExitStatus.success
  }

  private func post(
    _ posted: PostedMotion, to server: MotionServer, into store: GeoPackageStore?,
    _ progress: MotionPostProgress
  ) async throws(FieldpackError) {
    let recorder = store.map {
      MotionRecorder($0, device: posted.device, rate: posted.rate)
    }
    var posting = MotionClient.Options()
    posting.interval = 1 / posted.rate
    posting.keepsTimes = options.rate == nil
    posting.sections = MotionSections(options.sections.map { MotionSections($0) })
    posting.unsentLimit = options.unsentLimit
    posting.attempts = options.attempts ?? (posted.source.isLive ? nil : 8)
    posting.onEvent = { progress.take($0) }
    if let recorder {
      posting.keep = { (samples) throws(FieldpackError) in try await recorder.keep(samples) }
    }
    let client = try MotionClient(server, device: posted.device, options: posting)
    let result: Result<MotionClient.Report, FieldpackError>
    do throws(FieldpackError) {
      result = .success(try await client.run(posted.source))
    } catch {
      result = .failure(error)
    }
    progress.add(await client.report)
    if let recorder { try await finish(recorder, progress) }
    _ = try result.get()
  }

  /// What is stored counts as kept also where storing the rest fails.
  private func finish(
    _ recorder: MotionRecorder, _ progress: MotionPostProgress
  ) async throws(FieldpackError) {
    let result: Result<Void, FieldpackError>
    do throws(FieldpackError) {
      result = .success(try await recorder.finish())
    } catch {
      result = .failure(error)
    }
    let stored = await recorder.stored
    if stored > 0 { progress.keep(recorder.session, stored) }
    try result.get()
  }

  // MARK: Output

  private func show(
    _ progress: MotionPostProgress, _ error: FieldpackError?
  ) throws(FieldpackError) {
    let report = progress.report
    if invocation.isJSON {
      try invocation.print(progress.document(options.into))
    } else {
      try invocation.print(
        "\(report.readings.counting("sample")), "
          + "\((report.sent + report.lost).counting("batch", "batches")): \(report.sent) accepted, "
          + "\(report.lost) lost; \(report.starts.counting("session"))\n")
      for kept in progress.kept {
        try invocation.print(
          "\(kept.samples.counting("sample")) kept as session \(kept.session)\n")
      }
    }
    // What comes after an error is not printed any more.
    if error != nil { try invocation.output.flush() }
  }
}

/// What happens while samples are posted: shown as it comes, and summed up for the end.
private final class MotionPostProgress: Sendable {
  private struct State {
    var report = MotionClient.Report()
    var failures = 0
    var serverData: [UInt8] = []
    var states: [Bool] = []
    var kept: [(session: String, samples: Int)] = []
    var reason = ""
  }

  /// How many changes of state are listed at the end.
  private static let statesLimit = 1000
  private let state = Locked(State())
  private let console: Console

  init(console: Console) { self.console = console }

  var report: MotionClient.Report { state.withLock { $0.report } }
  var kept: [(session: String, samples: Int)] { state.withLock { $0.kept } }

  func take(_ event: MotionClient.Event) {
    switch event {
    case .started(let session): console.note("session \(session)")
    case .active(let isActive):
      console.note("the server is \(isActive ? "active" : "not active any more")")
      state.withLock { state in
        if state.states.count < Self.statesLimit { state.states.append(isActive) }
      }
    case .serverData(let bytes):
      guard !bytes.isEmpty else { return }
      state.withLock { $0.serverData = bytes }
      console.note(
        "server data: \(DisplayText.cut(String(decoding: bytes, as: UTF8.self), to: 200))")
    case .failed(let reason):
      state.withLock { state in
        state.failures += 1
        state.reason = reason
      }
    case .waiting(let seconds):
      let reason = state.withLock { $0.reason }
      console.note("\(reason); again in \(Decimals.short((seconds * 100).rounded() / 100)) s")
    }
  }

  func add(_ report: MotionClient.Report) {
    state.withLock { state in
      state.report.readings += report.readings
      state.report.posts += report.posts
      state.report.sent += report.sent
      state.report.lost += report.lost
      state.report.starts += report.starts
    }
  }

  func keep(_ session: String, _ samples: Int) {
    state.withLock { $0.kept.append((session, samples)) }
  }

  func document(_ file: String?) -> JSONValue {
    state.withLock { state in
      [
        "sample_count": JSONValue(state.report.readings),
        "batch_count": JSONValue(state.report.sent + state.report.lost),
        "post_count": JSONValue(state.report.posts),
        "accepted_count": JSONValue(state.report.sent),
        "lost_count": JSONValue(state.report.lost),
        "session_count": JSONValue(state.report.starts),
        "failure_count": JSONValue(state.failures),
        "server_active": .array(state.states.map { .boolean($0) }),
        "server_data": state.serverData.isEmpty
          ? .null : .text(String(decoding: state.serverData, as: UTF8.self)),
        "kept": .array(
          state.kept.map { kept in
            [
              "target": JSONValue(file), "session": .text(kept.session),
              "sample_count": JSONValue(kept.samples),
            ]
          }),
      ]
    }
  }
}
