import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackSensors
import FieldpackTestSupport

/// A simulated service that a case is tried on, with as many clients as it needs.
final class ServiceBench: Sendable {
  let time: TestClock
  let simulator: SensorSimulator
  static let unknown = "12345678-1234-1234-1234-123456789abc"
  static let unparseable = "this_is_not_a_guid"

  init(_ change: (inout SensorSimulator.Options) -> Void = { _ in }) {
    time = TestClock(.byHand)
    var options = SensorSimulator.Options()
    // The tests of the reference begin at a sensor that is ready.
    options.needsInitialization = false
    options.picture.longerSide = 32
    change(&options)
    simulator = SensorSimulator(options, clock: time.clock)
  }

  convenience init(failing status: SensorStatus, at operation: SensorOperation) {
    self.init { $0.faults = [SensorFault(operation, .status(status))] }
  }

  func ask(
    _ operation: SensorOperation, _ id: String? = nil, size: Int? = nil,
    _ configuration: SensorDictionary = [:]
  ) async throws -> SensorResult {
    try await simulator.perform(
      SensorRequest(
        operation, session: id, capture: id, maximumSize: size, configuration: configuration)
    ).result
  }

  func status(
    _ operation: SensorOperation, _ id: String? = nil, size: Int? = nil,
    _ configuration: SensorDictionary = [:]
  ) async throws -> SensorStatus? {
    try await ask(operation, id, size: size, configuration).status
  }

  func session(locked: Bool = false) async throws -> String {
    let id = try await ask(.register).sessionId ?? ""
    if locked { _ = try await ask(.lock, id) }
    return id
  }

  func capture() async throws -> String {
    try await ask(.capture, session(locked: true)).captureIds.first ?? ""
  }

  /// What an operation answers that somebody cancels while the sensor is at it, and the cancelling.
  func canceled(_ operation: SensorOperation) async throws -> [SensorStatus?] {
    let id = try await session(locked: true)
    let running = Task { try await self.status(operation, id) }
    await time.untilAsleep(1)
    let cancel = try await status(.cancel, id)
    return [try await running.value, cancel]
  }

  /// What an operation answers while the same one runs, and what that answers in the end.
  func simultaneous(_ operation: SensorOperation) async throws -> [SensorStatus?] {
    let id = try await session(locked: true)
    let running = Task { try await self.status(operation, id) }
    await time.untilAsleep(1)
    var answers: [SensorStatus?] = []
    for _ in 0..<128 { answers.append(try await status(operation, id)) }
    time.advance(by: .seconds(10))
    return Array(Set(answers)) + [try await running.value]
  }

  func ofTwo(_ operation: SensorOperation) async throws -> SensorStatus? {
    _ = try await session(locked: true)
    return try await status(operation, session())
  }

  static func working(
    _ seconds: Int, _ change: @escaping (inout SensorSimulator.Options) -> Void = { _ in }
  ) -> ServiceBench {
    ServiceBench {
      $0.initializationTime = .seconds(seconds)
      $0.configurationTime = .seconds(seconds)
      $0.captureTime = .seconds(seconds)
      change(&$0)
    }
  }
}
