package import FieldpackCore
package import FieldpackField

/// Answers the requests of devices in groups. Each group is one transaction, and its answers come after it.
///
/// A group ends half a second after its first request. It ends sooner where each session of the group before
/// has sent again: a device that waits for its answer sends nothing until then, and there is nobody else to
/// wait for. So devices that sample 50 times a second and post every five readings make 10 transactions a
/// second together, however many they are.
package actor MotionGroups {
  /// The bodies of requests that wait may have so many bytes together; more are refused.
  private static let mostBytes = 64 << 20

  private typealias Answer = Result<MotionIngest.Response, FieldpackError>

  private struct Waiting {
    var request: MotionRequest
    var byteCount: Int
    var continuation: CheckedContinuation<Answer, Never>
  }

  private let receiver: MotionReceiver
  private let clock: FieldClock
  private var waiting: [Waiting] = []
  private var byteCount = 0
  /// The sessions of the group before.
  private var expected: Set<String> = []
  private var pause: Task<Void, Never>?
  private var writing: Task<Void, Never>?

  package init(_ receiver: MotionReceiver, clock: FieldClock = .system) {
    self.receiver = receiver
    self.clock = clock
  }

  /// - Throws: what storing throws, and `.busy` where too much waits. Then nothing of the request was
  ///   stored, and it may be sent again.
  package func answer(
    _ body: [UInt8]
  ) async throws(FieldpackError) -> MotionIngest.Response {
    let request: MotionRequest
    do throws(FieldpackError) {
      request = try MotionRequest(body: body)
    } catch {
      return MotionIngest.Response(400, error.message)
    }
    guard byteCount + body.count <= Self.mostBytes else {
      throw FieldpackError(.busy, "too many readings wait to be stored")
    }
    byteCount += body.count
    let answer = await withCheckedContinuation { continuation in
      waiting.append(
        Waiting(request: request, byteCount: body.count, continuation: continuation))
      startWriting()
    }
    return try answer.get()
  }

  private func startWriting() {
    guard !waiting.isEmpty else { return }
    if writing == nil {
      let pause = clock.groupPause()
      self.pause = pause
      // A task of its own, which nothing cancels: other clients may have requests in the group.
      writing = Task {
        await pause.value
        await self.write()
      }
    }
    if expected.isSubset(of: waiting.compactMap(\.request.session)) { pause?.cancel() }
  }

  private func write() async {
    let group = waiting
    waiting = []
    pause = nil
    let requests = group.map { Result<MotionRequest, FieldpackError>.success($0.request) }
    let result: Result<[MotionIngest.Response], FieldpackError>
    do throws(FieldpackError) {
      result = .success(try await receiver.answer(requests, at: clock.unixSeconds))
    } catch {
      result = .failure(error)
    }
    expected = Set(group.compactMap(\.request.session))
    byteCount -= group.reduce(0) { $0 + $1.byteCount }
    for (index, waiting) in group.enumerated() {
      waiting.continuation.resume(returning: result.map { $0[index] })
    }
    writing = nil
    startWriting()
  }
}

extension MotionRequest {
  /// The session of readings.
  fileprivate var session: String? {
    guard case .data(let data) = self else { return nil }
    return data.session
  }
}
