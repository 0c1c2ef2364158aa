import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackSensors
import FieldpackTestSupport
import Testing

/// The cases of the reference service's tests, usnistgov/WSBD at 6226384 (W3): what its names say,
/// tried on the simulator.
///
/// Of its 138 methods 13 on detailed information and one on unregistering are comments, a few try its host
/// and its client, and 14 try the class that keeps its files: what those mean for a client is among `downloads`.
/// A row here stands for each of the others, and for what the specification says beyond them.
@Suite struct ConformanceTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let expected: [SensorStatus?]
    let run: @Sendable () async throws -> [SensorStatus?]

    init(
      _ name: String, _ expected: SensorStatus?...,
      run: @escaping @Sendable () async throws -> [SensorStatus?]
    ) {
      (self.name, self.expected, self.run) = (name, expected, run)
    }

    var testDescription: String { name }
  }

  @Test(
    arguments: sensorCases(.initialize, "Initialization")
      + sensorCases(.getConfiguration, "Getting")
      + sensorCases(.configure, "Setting") + sensorCases(.capture, "Capturing") + settings
      + sessions + locks + stealing + cancelling + downloads)
  func answersAsTheReference(_ test: Case) async throws {
    #expect(try await test.run() == test.expected)
  }

  @Test func thereIsACaseForEachNameThatASimulatorHas() {
    let groups = [
      Self.sensorCases(.initialize, "").count, Self.sensorCases(.getConfiguration, "").count,
      Self.sensorCases(.configure, "").count, Self.sensorCases(.capture, "").count,
      Self.settings.count, Self.sessions.count, Self.locks.count, Self.stealing.count,
      Self.cancelling.count, Self.downloads.count,
    ]
    #expect(groups == [12, 12, 12, 12, 9, 14, 10, 8, 7, 17])
  }

  /// What all operations of the sensor have in common.
  static func sensorCases(_ operation: SensorOperation, _ name: String) -> [Case] {
    [
      Case("\(name) for an unregistered id gives an invalid id", .invalidId) {
        [try await ServiceBench().status(operation, ServiceBench.unknown)]
      },
      Case("\(name) for an unparseable id gives a bad value", .badValue) {
        [try await ServiceBench().status(operation, ServiceBench.unparseable)]
      },
      Case("\(name) requires a lock", .lockNotHeld) {
        let bench = ServiceBench()
        return [try await bench.status(operation, bench.session())]
      },
      Case("\(name) cannot be done when the lock is held by another", .lockHeldByAnother) {
        [try await ServiceBench().ofTwo(operation)]
      },
      Case("\(name) can succeed", .success) {
        let bench = ServiceBench()
        return [try await bench.status(operation, bench.session(locked: true))]
      },
      Case("\(name) can result in sensor failure", .sensorFailure) {
        let bench = ServiceBench(failing: .sensorFailure, at: operation)
        return [try await bench.status(operation, bench.session(locked: true))]
      },
      Case("\(name) can result in sensor timeout", .sensorTimeout) {
        let bench = ServiceBench(failing: .sensorTimeout, at: operation)
        return [try await bench.status(operation, bench.session(locked: true))]
      },
      Case("\(name) can result in general failure", .failure) {
        let bench = ServiceBench(failing: .failure, at: operation)
        return [try await bench.status(operation, bench.session(locked: true))]
      },
      Case("with simultaneous calls only one of \(name) succeeds", .sensorBusy, .success) {
        try await ServiceBench.working(10).simultaneous(operation)
      },
      Case("\(name) can be canceled", .canceled, .success) {
        try await ServiceBench.working(10).canceled(operation)
      },
      Case("canceling \(name) can cause sensor failure", .canceledWithSensorFailure, .success) {
        try await ServiceBench.working(10) {
          $0.faults = [SensorFault(operation, .status(.sensorFailure))]
        }.canceled(operation)
      },
      Case("the service can cancel \(name)", .canceled) {
        let bench = ServiceBench.working(40)
        let id = try await bench.session(locked: true)
        let running = Task { try await bench.status(operation, id) }
        await bench.time.untilAsleep(1)
        // It says that the operation takes 30 s at most.
        bench.time.advance(by: .seconds(30))
        return [try await running.value]
      },
    ]
  }

  static let settings: [Case] = [
    Case("getting may require initialization", .initializationNeeded) {
      let bench = ServiceBench { $0.needsInitialization = true }
      return [try await bench.status(.getConfiguration, bench.session(locked: true))]
    },
    Case("getting may require configuration", .configurationNeeded, .success, .success) {
      let bench = ServiceBench { $0.needsConfiguration = true }
      let id = try await bench.session(locked: true)
      return [
        try await bench.status(.getConfiguration, id),
        try await bench.status(.configure, id, ["width": .integer(320)]),
        try await bench.status(.getConfiguration, id),
      ]
    },
    Case("setting may require initialization", .initializationNeeded) {
      let bench = ServiceBench { $0.needsInitialization = true }
      return [try await bench.status(.configure, bench.session(locked: true))]
    },
    Case("capture may require initialization", .initializationNeeded) {
      let bench = ServiceBench { $0.needsInitialization = true }
      return [try await bench.status(.capture, bench.session(locked: true))]
    },
    Case("capture may require configuration", .configurationNeeded, .success, .success) {
      let bench = ServiceBench { $0.needsConfiguration = true }
      let id = try await bench.session(locked: true)
      return [
        try await bench.status(.capture, id),
        try await bench.status(.configure, id, ["width": .integer(320)]),
        try await bench.status(.capture, id),
      ]
    },
    Case("setting a read-only value is unsupported", .unsupported) {
      let bench = ServiceBench()
      let result = try await bench.ask(
        .configure, bench.session(locked: true), ["modality": .string("Face")])
      #expect(result.badFields == ["modality"])
      return [result.status]
    },
    Case("setting what there is not gives no such parameter", .noSuchParameter) {
      let bench = ServiceBench()
      let result = try await bench.ask(
        .configure, bench.session(locked: true), ["string1": .string("value")])
      #expect(result.badFields == ["string1"])
      return [result.status]
    },
    Case("setting a value that is not allowed gives a bad value", .badValue) {
      let bench = ServiceBench()
      let result = try await bench.ask(
        .configure, bench.session(locked: true), ["width": .integer(641)])
      #expect(result.badFields == ["width"])
      return [result.status]
    },
    Case("what is set is got", .success, .success) {
      let bench = ServiceBench()
      let id = try await bench.session(locked: true)
      let set = try await bench.status(.configure, id, ["width": .integer(320)])
      let got = try await bench.ask(.getConfiguration, id)
      #expect(got.metadata?["width"] == .integer(320))
      return [set, got.status]
    },
  ]
}
