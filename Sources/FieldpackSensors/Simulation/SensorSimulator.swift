import FieldpackCore
package import FieldpackField
package import FieldpackHTTP

/// A service of WS-Biometric Devices with a sensor that does not exist, for tests and for trying out.
///
/// It has no listener: it takes the parts of a request and gives those of the answer. Operations of the
/// sensor take the time that ``Options`` says, by the clock that it is given.
package final class SensorSimulator: Sendable {
  /// Which service it behaves as.
  package enum Dialect: String, Hashable, Sendable, CaseIterable {
    /// The service of NIST in .NET, after SP 500-288.
    case net
    /// The service of NIST in Java, after the specification of OASIS.
    case java
  }

  package struct Options: Sendable {
    package var dialect = Dialect.net
    package var namespace = SensorNamespace.standard
    /// What the service says of itself; the values that are not read-only can be set.
    package var parameters: SensorDictionary
    /// How long a session may do nothing; `nil` sets no limit.
    package var inactivityTimeout: Duration? = .seconds(3600)
    package var maximumSessions = 256
    /// Whether the session that was used longest ago makes room for a new one.
    package var dropsOldSessions = true
    /// For how long a lock cannot be stolen. The service says 61,440 ms, and holds to this.
    package var preventionPeriod = Duration.milliseconds(60_000)
    package var initializationTime = Duration.zero
    package var configurationTime = Duration.zero
    package var captureTime = Duration.zero
    /// How long a capture is prepared before it can be downloaded.
    package var preparationTime = Duration.zero
    /// The order of what a configuration holds; `nil` for that of the parameters.
    package var configurationKeys: [String]?
    package var needsInitialization = true
    package var needsConfiguration = false
    /// How many captures are kept.
    package var capacity = 64
    /// Whether the capture that was used longest ago makes room for a new one.
    package var dropsOldCaptures = true
    package var capturesAtOnce = 1
    package var picture = SimulatedPicture()
    package var faults: [SensorFault] = []
    package var makeId: @Sendable () -> String = { RandomID.make().lowercased() }
    /// Gives numbers from 0 up to 1, for faults by chance.
    package var random: @Sendable () -> Double = { .random(in: 0..<1) }

    package init(modality: String = "Finger", submodality: [String] = ["RightSlap"]) {
      parameters = SensorSimulator.parameters(modality: modality, submodality: submodality)
    }
  }

  package struct Response: Sendable {
    package enum Body: Sendable {
      case bytes([UInt8])
      /// Pictures without an end, each after so long.
      case frames(interval: Duration)
      /// The same bytes again and again.
      case endless([UInt8])
    }

    package var status: Int
    package var fields: HTTPFields
    package var body: Body

    package init(_ status: Int, fields: HTTPFields = [:], body: Body = .bytes([])) {
      self.status = status
      self.fields = fields
      self.body = body
    }
  }

  struct Session {
    var id: String
    var lastUse: Duration
  }

  struct Capture {
    var id: String
    var number: Int
    var metadata: SensorDictionary
    var readyAt: Duration
    var lastUse: Duration
  }

  struct Running {
    var operation: SensorOperation
    var session: String
    var isCanceled = false
    /// What the operation waits for; `nil` while a capture waits for its end by a request.
    var wait: Task<Void, any Error>?
  }

  struct State {
    var sessions: [Session] = []
    var holder: String?
    /// When the lock's holder did last what keeps others from stealing it.
    var lastWork: Duration?
    var isInitialized = false
    /// What was set; `nil` where nothing was.
    var settings: SensorDictionary?
    var running: Running?
    var captures: [Capture] = []
    var captureCount = 0
    var faultCounts: [Int: Int] = [:]
  }

  package let options: Options
  let clock: FieldClock
  let state = Locked(State())

  package init(_ options: Options = Options(), clock: FieldClock = .system) {
    self.options = options
    self.clock = clock
  }

  /// Whether somebody holds the lock.
  package var isLocked: Bool { state.withLock { $0.holder != nil } }
  package var sessionCount: Int { state.withLock { $0.sessions.count } }
  /// The ids of the captures that are kept.
  package var captureIds: [String] { state.withLock { $0.captures.map(\.id) } }

  /// Forgets all sessions, as a service does that starts again.
  package func restart() { state.withLock { $0 = State() } }

  // MARK: Requests

  /// - Parameter path: the parts of the path below the address of the service.
  package func answer(_ method: String, _ path: [String], body: [UInt8]) async -> Response {
    guard let (operation, arguments) = Self.operation(method, path) else { return Response(404) }
    let fault = fault(for: operation)
    if let delay = fault?.delay { try? await clock.sleep(for: delay) }
    if let status = fault?.status { forget(status, arguments.first) }
    let forced = Self.ofSensor.contains(operation) ? fault?.status : nil
    if forced == nil, let answer = fault.flatMap({ refusal($0) }) { return answer }
    if operation == .stream { return stream(arguments) }
    if operation == .rawDownload { return raw(arguments[0]) }
    let result = await perform(operation, arguments, body, forced)
    if fault?.kind == .lost { return Response(500) }
    guard var result else { return Response(404) }
    if options.dialect == .java { result.message = result.message ?? "" }
    return xml(result)
  }

  func xml(_ result: SimulatedResult) -> Response {
    let writer = SimulatedAnswer(dialect: options.dialect, namespace: options.namespace)
    let type = options.dialect == .java ? "text/xml" : "application/xml; charset=utf-8"
    return Response(200, fields: ["Content-Type": type], body: .bytes(writer.bytes(of: result)))
  }

  private static func operation(
    _ method: String, _ path: [String]
  ) -> (SensorOperation, [String])? {
    guard let first = path.first else { return nil }
    let rest = Array(path.dropFirst())
    switch (method, first, rest.count) {
    case ("POST", "register", 0): return (.register, [])
    case ("DELETE", "register", 1): return (.unregister, rest)
    case ("POST", "lock", 1): return (.lock, rest)
    case ("PUT", "lock", 1): return (.stealLock, rest)
    case ("DELETE", "lock", 1): return (.unlock, rest)
    case ("GET", "info", 0): return (.getCommonInfo, [])
    case ("GET", "status", 0): return (.getStatus, [])
    case ("POST", "initialize", 1): return (.initialize, rest)
    case ("DELETE", "initialize", 1): return (.uninitialize, rest)
    case ("GET", "configure", 1): return (.getConfiguration, rest)
    case ("POST", "configure", 1): return (.configure, rest)
    case ("POST", "capture", 1): return (.capture, rest)
    case ("POST", "capture", 2) where rest[1] == "async": return (.beginCapture, rest)
    case ("PUT", "capture", 2) where rest[1] == "async": return (.endCapture, rest)
    case ("POST", "cancel", 1): return (.cancel, rest)
    case ("GET", "download", 1): return (.download, rest)
    case ("GET", "download", 2):
      switch rest[1] {
      case "info": return (.getContentType, rest)
      case "raw": return (.rawDownload, rest)
      default: return (.thriftyDownload, rest)
      }
    case ("GET", "stream", 1), ("GET", "stream", 2): return (.stream, rest)
    default: return nil
    }
  }

  /// `nil` where the service has no such address.
  private func perform(
    _ operation: SensorOperation, _ arguments: [String], _ body: [UInt8],
    _ forced: SensorStatus?
  ) async -> SimulatedResult? {
    switch operation {
    case .register: return register()
    case .getCommonInfo: return SimulatedResult(.success, metadata: options.parameters)
    case .getStatus:
      return SimulatedResult(.success, metadata: ["sensorStatus": .string(sensorStatus)])
    case .download, .getContentType, .thriftyDownload: return download(operation, arguments)
    default: break
    }
    let id = arguments[0]
    guard Self.isUUID(id) else {
      return options.dialect == .java ? nil : SimulatedResult(.badValue, badFields: ["sessionId"])
    }
    switch operation {
    case .unregister: return unregister(id)
    case .lock, .stealLock, .unlock: return lock(operation, id)
    case .cancel: return cancel(id)
    case .beginCapture, .endCapture: return asynchronous(operation, id)
    default: return await work(operation, id, body, forced: forced)
    }
  }

  /// What the sensor works at, and fails at in the end.
  private static let ofSensor: Set<SensorOperation> = [
    .initialize, .uninitialize, .getConfiguration, .configure, .capture,
  ]

  static func isUUID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
  }

  // MARK: Faults

  private func fault(for operation: SensorOperation) -> SensorFault? {
    state.withLock { state in
      for (index, fault) in options.faults.enumerated() where fault.fits(operation) {
        let count = state.faultCounts[index, default: 0]
        if let most = fault.times, count >= most { continue }
        if fault.chance < 1, options.random() >= fault.chance { continue }
        state.faultCounts[index] = count + 1
        return fault
      }
      return nil
    }
  }

  private func refusal(_ fault: SensorFault) -> Response? {
    switch fault.kind {
    case .status(let status):
      return xml(SimulatedResult(status, message: options.dialect == .java ? "" : nil))
    case .http(let status): return Response(status)
    case .redirect(let address): return Response(302, fields: ["Location": address])
    case .broken: return Self.text("<result><status>success</status><metadata>")
    case .bomb:
      let entities =
        "<!ENTITY a '\(String(repeating: "a", count: 1000))'>"
        + "<!ENTITY b '\(String(repeating: "&a;", count: 1000))'>"
      return Self.text(
        "<!DOCTYPE result [\(entities)]><result><status>success</status><message>"
          + String(repeating: "&b;", count: 1000) + "</message></result>")
    case .endless:
      return Response(
        200, fields: ["Content-Type": "text/xml"],
        body: .endless(Array(String(repeating: " ", count: 65_536).utf8)))
    case .lost, .slow: return nil
    }
  }

  private static func text(_ text: String) -> Response {
    Response(200, fields: ["Content-Type": "text/xml"], body: .bytes(Array(text.utf8)))
  }
}
