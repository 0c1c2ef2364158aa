import CChild
import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that runs with limits, and that ends when its time is over or the task is cancelled.
///
/// It has an environment of its own, nothing to read but what it is given as descriptor 3, and no
/// other descriptor of ours; no shell sees its arguments.
struct ChildProcess: Sendable {
  struct Limits: Hashable, Sendable {
    var cpuSeconds = 60
    /// In bytes.
    var addressSpace = 3 << 30
    /// In bytes, of each file that it writes.
    var fileSize = 0
    /// What it may write to standard output, in bytes.
    var output = 1 << 20
    /// What is kept of its standard error, in bytes; the rest is read and forgotten.
    var errors = 4096
    /// In seconds, by the clock on the wall.
    var time = 60.0
  }

  enum End: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    case tookTooLong
    case wroteTooMuch
  }

  struct Result: Hashable, Sendable {
    var end: End
    var output: [UInt8]
    var errors: String
  }

  /// A path.
  var program: String
  var arguments: [String]
  var limits = Limits()
  /// Read as descriptor 3, where it is given.
  var input: Int32?
  /// Gets what the program writes to standard output as it comes, which is then not kept; false ends the
  /// program.
  var take: (@Sendable ([UInt8]) -> Bool)?

  /// - Throws: `.unavailable` where it cannot be started, `.interrupted`.
  func run() async throws(FieldpackError) -> Result {
    let running = RunningChild(self)
    let result: Swift.Result<Result, FieldpackError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isStarted = SystemThread.start { continuation.resume(returning: running.run()) }
        if !isStarted { continuation.resume(returning: .failure(SystemThread.shortage)) }
      }
    } onCancel: {
      running.cancel()
    }
    return try result.get()
  }
}

/// A child under way; its thread waits for it.
private final class RunningChild: Sendable {
  private struct State {
    /// `nil` before it is started and when it has ended, so that nobody else is killed.
    var process: pid_t?
    var isCancelled = false
  }

  private let child: ChildProcess
  private let state = Locked(State())

  init(_ child: ChildProcess) { self.child = child }

  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      if let process = state.process { fieldpack_child_kill(process) }
    }
  }

  func run() -> Result<ChildProcess.Result, FieldpackError> {
    Result { () throws(FieldpackError) in
      let started = try start()
      var reading = ChildReading(started, child)
      let early = reading.toTheEnd()
      close(started.output)
      close(started.errors)
      let status = end(started.process, until: reading.deadline, isLate: early != nil)
      guard !state.withLock(\.isCancelled) else { throw Self.interrupted }
      let end = early ?? status.map(Self.end) ?? .tookTooLong
      return ChildProcess.Result(
        end: end, output: reading.output, errors: String(decoding: reading.errors, as: UTF8.self))
    }
  }

  private static var interrupted: FieldpackError {
    FieldpackError(.interrupted, "the program was stopped before its end")
  }

  private func start() throws(FieldpackError) -> fieldpack_child {
    let child = child
    return try state.withLock { (state) throws(FieldpackError) in
      guard !state.isCancelled else { throw Self.interrupted }
      var started = fieldpack_child()
      let number = Self.withPointers([child.program] + child.arguments) { words in
        Self.withPointers(["PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"]) { variables in
          var limits = fieldpack_child_limits(
            cpu_seconds: UInt64(child.limits.cpuSeconds),
            address_space: UInt64(child.limits.addressSpace),
            file_size: UInt64(child.limits.fileSize))
          return fieldpack_child_start(
            child.program, words, variables, child.input ?? -1, &limits, &started)
        }
      }
      guard number == 0 else {
        throw FieldpackError(
          .unavailable, "cannot run \(child.program): \(String(cString: strerror(number)))",
          position: FilePosition(file: child.program))
      }
      state.process = started.process
      return started
    }
  }

  private static func withPointers<R>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("never empty") }
      return body(base)
    }
  }

  /// Waits for the end, and brings it about where the time is over.
  ///
  /// - Returns: the status; `nil` where it had to be killed.
  private func end(_ process: pid_t, until deadline: Double, isLate: Bool) -> Int32? {
    var isKilled = isLate
    if isLate { fieldpack_child_kill(process) }
    var status: Int32 = 0
    while true {
      let hasEnded = state.withLock { state in
        guard fieldpack_child_has_ended(process, &status) != 0 else { return false }
        state.process = nil
        return true
      }
      if hasEnded { return isKilled ? nil : status }
      if !isKilled, ChildReading.now() > deadline {
        isKilled = true
        fieldpack_child_kill(process)
      }
      usleep(1000)
    }
  }

  private static func end(_ status: Int32) -> ChildProcess.End {
    let signal = status & 0x7F
    return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
  }
}

/// What a child writes, read until it has no more to say, its time is over, or it says too much.
private struct ChildReading {
  private(set) var output: [UInt8] = []
  private(set) var errors: [UInt8] = []
  let deadline: Double
  private let child: fieldpack_child
  private let limits: ChildProcess.Limits
  private let take: (@Sendable ([UInt8]) -> Bool)?
  private var chunk = [UInt8](repeating: 0, count: 1 << 16)

  init(_ child: fieldpack_child, _ program: ChildProcess) {
    self.child = child
    (limits, take) = (program.limits, program.take)
    deadline = Self.now() + limits.time
  }

  /// In seconds since the machine was started.
  static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// - Returns: why it ended before both were read to their ends.
  mutating func toTheEnd() -> ChildProcess.End? {
    var sources = [
      pollfd(fd: child.output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: child.errors, events: Int16(POLLIN), revents: 0),
    ]
    while sources.contains(where: { $0.fd >= 0 }) {
      let left = deadline - Self.now()
      guard left > 0 else { return .tookTooLong }
      guard poll(&sources, nfds_t(sources.count), Int32(min(left * 1000 + 1, 1e6))) >= 0 else {
        if errno == EINTR { continue }
        return .tookTooLong
      }
      for index in sources.indices where sources[index].revents != 0 {
        guard let count = readChunk(sources[index].fd) else { continue }
        // What is negative is passed over by poll.
        if count == 0 { sources[index].fd = -1 }
        if index == 0, let take {
          guard count == 0 || take(Array(chunk[..<count])) else { return .wroteTooMuch }
        } else if index == 0 {
          guard output.count + count <= limits.output else { return .wroteTooMuch }
          output += chunk[..<count]
        } else {
          errors += chunk[..<min(count, limits.errors - errors.count)]
        }
      }
    }
    return nil
  }

  /// - Returns: 0 at the end; `nil` where there is nothing yet.
  private mutating func readChunk(_ descriptor: Int32) -> Int? {
    let count = read(descriptor, &chunk, chunk.count)
    if count < 0 { return errno == EINTR || errno == EAGAIN ? nil : 0 }
    return count
  }
}
