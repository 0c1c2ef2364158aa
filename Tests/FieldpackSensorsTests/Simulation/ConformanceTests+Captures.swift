import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackSensors
import Testing

/// What is cancelled, and what is downloaded.
extension ConformanceTests {
  static let cancelling: [Case] = [
    Case("canceling an unparseable id gives a bad value", .badValue) {
      let result = try await ServiceBench().ask(.cancel, ServiceBench.unparseable)
      #expect(result.badFields == ["sessionId"])
      return [result.status]
    },
    Case("canceling with an unregistered id gives an invalid id", .invalidId) {
      let result = try await ServiceBench().ask(.cancel, ServiceBench.unknown)
      #expect(result.message?.contains(ServiceBench.unknown) == true)
      return [result.status]
    },
    Case("nobody can cancel without the lock", .lockNotHeld) {
      let bench = ServiceBench()
      return [try await bench.status(.cancel, bench.session())]
    },
    Case("nobody can cancel when another holds the lock", .lockHeldByAnother) {
      [try await ServiceBench().ofTwo(.cancel)]
    },
    Case("canceling a service that is not busy succeeds", .success) {
      let bench = ServiceBench()
      return [try await bench.status(.cancel, bench.session(locked: true))]
    },
    Case("canceling is idempotent", .success, .success, .canceled) {
      let bench = ServiceBench.working(10)
      let id = try await bench.session(locked: true)
      let running = Task { try await bench.status(.initialize, id) }
      await bench.time.untilAsleep(1)
      return [
        try await bench.status(.cancel, id), try await bench.status(.cancel, id),
        try await running.value,
      ]
    },
    Case("a capture can be begun and ended", .success, .sensorBusy, .success, .failure) {
      let bench = ServiceBench()
      let id = try await bench.session(locked: true)
      let begun = try await bench.status(.beginCapture, id)
      let busy = try await bench.status(.capture, id)
      let ended = try await bench.ask(.endCapture, id)
      #expect(ended.captureIds == bench.simulator.captureIds)
      return [begun, busy, ended.status, try await bench.status(.endCapture, id)]
    },
  ]

  static let downloads: [Case] = [
    Case("downloading an unparseable id gives a bad value", .badValue) {
      [try await ServiceBench().status(.download, ServiceBench.unparseable)]
    },
    Case("downloading an unknown id gives an invalid id", .invalidId) {
      [try await ServiceBench().status(.download, ServiceBench.unknown)]
    },
    Case("a download can succeed", .success) {
      let bench = ServiceBench()
      let result = try await bench.ask(.download, bench.capture())
      #expect(try result.data?.all() == SimulatedPicture().make(1, 32))
      #expect(result.metadata?["contentType"] == .string("image/bmp"))
      return [result.status]
    },
    Case("right after a capture a download may be prepared", .preparingDownload, .success) {
      let bench = ServiceBench { $0.preparationTime = .seconds(1) }
      let id = try await bench.capture()
      let first = try await bench.status(.download, id)
      bench.time.advance(by: .seconds(1))
      return [first, try await bench.status(.download, id)]
    },
    Case("a download can fail", .failure) {
      let bench = ServiceBench(failing: .failure, at: .download)
      return [try await bench.status(.download, bench.capture())]
    },
    Case("a thrifty download of an unparseable id gives a bad value", .badValue) {
      let result = try await ServiceBench().ask(
        .thriftyDownload, ServiceBench.unparseable, size: 10)
      #expect(result.badFields == ["captureId"])
      return [result.status]
    },
    Case("a thrifty download of no size gives a bad value", .badValue) {
      let result = try await ServiceBench().ask(.thriftyDownload, ServiceBench.unknown, size: 0)
      #expect(result.badFields == ["maxSize"])
      return [result.status]
    },
    Case("two unparseable parameters give two bad fields", .badValue) {
      let result = try await ServiceBench().ask(
        .thriftyDownload, ServiceBench.unparseable, size: -1)
      #expect(result.badFields == ["captureId", "maxSize"])
      return [result.status]
    },
    Case("a picture larger than the original is unsupported", .unsupported) {
      let bench = ServiceBench()
      return [try await bench.status(.thriftyDownload, bench.capture(), size: 50_000)]
    },
    Case("a thrifty download of an unknown id gives an invalid id", .invalidId) {
      [try await ServiceBench().status(.thriftyDownload, ServiceBench.unknown, size: 10)]
    },
    Case("a thrifty download can succeed", .success) {
      let bench = ServiceBench()
      let result = try await bench.ask(.thriftyDownload, bench.capture(), size: 16)
      #expect(try result.data?.all() == SimulatedPicture().make(1, 16))
      return [result.status]
    },
    Case("information on a download of an unparseable id gives a bad value", .badValue) {
      [try await ServiceBench().status(.getContentType, ServiceBench.unparseable)]
    },
    Case("information on a download of an unknown id gives an invalid id", .invalidId) {
      [try await ServiceBench().status(.getContentType, ServiceBench.unknown)]
    },
    Case("information on a download can be had", .preparingDownload, .success) {
      let bench = ServiceBench { $0.preparationTime = .seconds(1) }
      let id = try await bench.capture()
      let first = try await bench.status(.getContentType, id)
      bench.time.advance(by: .seconds(1))
      let result = try await bench.ask(.getContentType, id)
      #expect(result.data == nil)
      #expect(result.metadata?["contentType"] == .string("image/bmp"))
      return [first, result.status]
    },
    Case("information on a download can fail", .failure) {
      let bench = ServiceBench(failing: .failure, at: .getContentType)
      return [try await bench.status(.getContentType, bench.capture())]
    },
    Case("the storage has a capacity", .success, .success, .failure) {
      let bench = ServiceBench {
        $0.capacity = 2
        $0.dropsOldCaptures = false
      }
      let id = try await bench.session(locked: true)
      return [
        try await bench.status(.capture, id), try await bench.status(.capture, id),
        try await bench.status(.capture, id),
      ]
    },
    Case("the capture that was used longest ago makes room", .success, .invalidId, .success) {
      let bench = ServiceBench { $0.capacity = 2 }
      let id = try await bench.session(locked: true)
      var ids: [String] = []
      for _ in 0..<3 {
        bench.time.advance(by: .seconds(1))
        if ids.count == 2 { _ = try await bench.status(.download, ids[0]) }
        bench.time.advance(by: .seconds(1))
        ids += try await bench.ask(.capture, id).captureIds
      }
      return [
        try await bench.status(.download, ids[0]), try await bench.status(.download, ids[1]),
        try await bench.status(.download, ids[2]),
      ]
    },
  ]
}
