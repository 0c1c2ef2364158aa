import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackSensors
import Testing

/// Sessions and their lock.
extension ConformanceTests {
  static let sessions: [Case] = [
    Case("registration can succeed", .success) {
      let result = try await ServiceBench().ask(.register)
      #expect(result.sessionId?.count == 36)
      return [result.status]
    },
    Case("multiple registrations can succeed") {
      let bench = ServiceBench()
      let (one, other) = (try await bench.session(), try await bench.session())
      #expect(one != other)
      return []
    },
    Case("registration without a unique id fails", .success, .failure) {
      let bench = ServiceBench { $0.makeId = { ServiceBench.unknown } }
      return [try await bench.status(.register), try await bench.status(.register)]
    },
    Case("recent activity does not make a stale session", .success) {
      let bench = ServiceBench { $0.inactivityTimeout = .seconds(10) }
      let id = try await bench.session()
      for _ in 0..<5 {
        bench.time.advance(by: .seconds(9))
        _ = try await bench.status(.unlock, id)
      }
      return [try await bench.status(.lock, id)]
    },
    Case("inactivity makes a session stale, and frees its lock", .invalidId, .success) {
      let bench = ServiceBench { $0.inactivityTimeout = .seconds(10) }
      let id = try await bench.session(locked: true)
      bench.time.advance(by: .seconds(11))
      return [
        try await bench.status(.initialize, id), try await bench.status(.lock, bench.session()),
      ]
    },
    Case("sessions that do not exist are not active", .invalidId) {
      [try await ServiceBench().status(.lock, ServiceBench.unknown)]
    },
    Case("unregistering an unparseable id gives a bad value", .badValue) {
      let result = try await ServiceBench().ask(.unregister, ServiceBench.unparseable)
      #expect(result.badFields == ["sessionId"])
      return [result.status]
    },
    Case("registered sessions can be unregistered", .success, .success, .invalidId) {
      let bench = ServiceBench()
      let id = try await bench.session()
      return [
        try await bench.status(.unregister, id), try await bench.status(.unregister, id),
        try await bench.status(.lock, id),
      ]
    },
    Case("unregistration can fail", .failure) {
      let bench = ServiceBench(failing: .failure, at: .unregister)
      return [try await bench.status(.unregister, bench.session())]
    },
    Case("excessive registration fails", .failure) {
      let bench = ServiceBench { $0.dropsOldSessions = false }
      for _ in 0..<256 { _ = try await bench.session() }
      return [try await bench.status(.register)]
    },
    Case("the session that was used longest ago makes room", .success, .invalidId, .success) {
      let bench = ServiceBench { $0.maximumSessions = 2 }
      let old = try await bench.session()
      bench.time.advance(by: .seconds(1))
      let new = try await bench.session()
      bench.time.advance(by: .seconds(1))
      return [
        try await bench.status(.register), try await bench.status(.unlock, old),
        try await bench.status(.unlock, new),
      ]
    },
    Case("unregistering releases the lock", .lockHeldByAnother, .success, .invalidId, .success) {
      let bench = ServiceBench()
      let (one, other) = (try await bench.session(locked: true), try await bench.session())
      return [
        try await bench.status(.lock, other), try await bench.status(.unregister, one),
        try await bench.status(.lock, one), try await bench.status(.lock, other),
      ]
    },
    Case("unregistering while the sensor works gives sensor busy", .sensorBusy, .success) {
      let bench = ServiceBench.working(10)
      let id = try await bench.session(locked: true)
      let running = Task { try await bench.status(.initialize, id) }
      await bench.time.untilAsleep(1)
      let busy = try await bench.status(.unregister, id)
      bench.time.advance(by: .seconds(10))
      return [busy, try await running.value]
    },
    Case("service info can fail", .failure, .success) {
      [
        try await ServiceBench(failing: .failure, at: .getCommonInfo).status(.getCommonInfo),
        try await ServiceBench().status(.getCommonInfo),
      ]
    },
  ]

  static let locks: [Case] = [
    Case("locking an unparseable id gives a bad value", .badValue) {
      let result = try await ServiceBench().ask(.lock, ServiceBench.unparseable)
      #expect(result.badFields == ["sessionId"])
      return [result.status]
    },
    Case("locking an unregistered id gives an invalid id", .invalidId) {
      let result = try await ServiceBench().ask(.lock, ServiceBench.unknown)
      #expect(result.message?.contains(ServiceBench.unknown) == true)
      return [result.status]
    },
    Case("locking can succeed", .success) {
      let bench = ServiceBench()
      return [try await bench.status(.lock, bench.session())]
    },
    Case("locking is idempotent", .success, .success) {
      let bench = ServiceBench()
      let id = try await bench.session()
      return [try await bench.status(.lock, id), try await bench.status(.lock, id)]
    },
    Case("with simultaneous clients only one gets the lock") {
      let bench = ServiceBench()
      let answers = try await withThrowingTaskGroup(of: SensorStatus?.self) { group in
        for _ in 0..<128 { group.addTask { try await bench.status(.lock, bench.session()) } }
        return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(answers == [.success: 1, .lockHeldByAnother: 127])
      return []
    },
    Case("unlocking can succeed", .success) {
      let bench = ServiceBench()
      return [try await bench.status(.unlock, bench.session(locked: true))]
    },
    Case("unlocking is idempotent", .success, .success, .success) {
      let bench = ServiceBench()
      let id = try await bench.session()
      let first = try await bench.status(.unlock, id)
      _ = try await bench.status(.lock, id)
      return [first, try await bench.status(.unlock, id), try await bench.status(.unlock, id)]
    },
    Case("unlocking an unparseable id gives a bad value", .badValue) {
      [try await ServiceBench().status(.unlock, ServiceBench.unparseable)]
    },
    Case("unlocking an unregistered id gives an invalid id", .invalidId) {
      [try await ServiceBench().status(.unlock, ServiceBench.unknown)]
    },
    Case("another cannot unlock", .lockHeldByAnother) {
      [try await ServiceBench().ofTwo(.unlock)]
    },
  ]

  static let stealing: [Case] = [
    Case("stealing with an unregistered id gives an invalid id", .invalidId) {
      [try await ServiceBench().status(.stealLock, ServiceBench.unknown)]
    },
    Case("stealing with an unparseable id gives a bad value", .badValue) {
      [try await ServiceBench().status(.stealLock, ServiceBench.unparseable)]
    },
    Case("stealing a lock that nobody holds succeeds", .success) {
      let bench = ServiceBench()
      return [try await bench.status(.stealLock, bench.session())]
    },
    Case("stealing a lock that one holds succeeds", .success) {
      let bench = ServiceBench()
      return [try await bench.status(.stealLock, bench.session(locked: true))]
    },
    Case("before the sensor has worked a lock can be stolen", .success) {
      [try await ServiceBench().ofTwo(.stealLock)]
    },
    Case("the period is told as 61,440 ms and lasts 60,000", .failure, .failure, .success) {
      let bench = ServiceBench()
      let (one, other) = (try await bench.session(locked: true), try await bench.session())
      let told = try await bench.ask(.getCommonInfo).metadata
      #expect(told?.setting("lockStealingPreventionPeriod")?.number == 61_440)
      _ = try await bench.status(.initialize, one)
      var answers = [try await bench.status(.stealLock, other)]
      for milliseconds in [59_999, 1] {
        bench.time.advance(by: .milliseconds(milliseconds))
        answers.append(try await bench.status(.stealLock, other))
      }
      return answers
    },
    Case("the period begins with the start of the work", .failure, .success, .success) {
      let bench = ServiceBench.working(20) { $0.preventionPeriod = .seconds(10) }
      let (one, other) = (try await bench.session(locked: true), try await bench.session())
      let running = Task { try await bench.status(.initialize, one) }
      await bench.time.untilAsleep(1)
      let first = try await bench.status(.stealLock, other)
      bench.time.advance(by: .seconds(10))
      let second = try await bench.status(.stealLock, other)
      // What runs goes on when the lock is stolen.
      bench.time.advance(by: .seconds(10))
      return [first, second, try await running.value]
    },
    Case(
      "who steals the lock can cancel what another began", .lockHeldByAnother, .success, .success,
      .canceled
    ) {
      let bench = ServiceBench.working(20) { $0.preventionPeriod = .seconds(1) }
      let (one, other) = (try await bench.session(locked: true), try await bench.session())
      let running = Task { try await bench.status(.initialize, one) }
      await bench.time.untilAsleep(1)
      bench.time.advance(by: .seconds(2))
      return [
        try await bench.status(.cancel, other), try await bench.status(.stealLock, other),
        try await bench.status(.cancel, other), try await running.value,
      ]
    },
  ]
}
