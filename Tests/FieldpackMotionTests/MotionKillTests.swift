import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackMotion
import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A receiver that is killed has stored what it acknowledged, and each group whole or not at all; a
/// client that sends again what was not acknowledged has all of it stored once. 20 kills, or as many
/// as `FIELDPACK_KILLS` says.
@Suite(.serialized, .programs) struct MotionKillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 20

  @Test func `a receiver that is killed loses nothing that it acknowledged`() async throws {
    let package = try FieldFile()
    var devices = SimulatedDevices()
    for _ in 0..<Self.kills {
      let receiver = try KilledReceiver(package)
      let groups = try devices.send(to: receiver)
      usleep(UInt32.random(in: 0...(groups.isEmpty ? 60_000 : 6_000), using: &devices.numbers))
      receiver.kill()
      try devices.take(receiver.answers, of: groups)
      try Self.check(package, groups, acknowledged: receiver.answers.count)
    }
    let receiver = try KilledReceiver(package)
    let groups = try devices.sendTheRest(to: receiver)
    try receiver.wait(for: groups.count)
    try devices.take(receiver.answers, of: groups)
    try await receiver.end()
    try await Self.compare(package, devices)
  }

  @Test func `a recorder that is killed has kept what it said`() async throws {
    let package = try FieldFile()
    var numbers = FilterGenerator.SplitMix(state: 7)
    var acknowledged: [String: Int] = [:]
    for kill in 0..<Self.kills {
      let program = try Program(
        Tool.built("FieldpackTestSubject"), ["record", package.path, "s\(kill)"])
      if Int.random(in: 0..<4, using: &numbers) > 0 {
        try program.block(for: "its first line") { !program.outputSoFar.isEmpty }
      }
      usleep(UInt32.random(in: 0...20_000, using: &numbers))
      program.destroy()
      let lines = program.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false)
      acknowledged["s\(kill)"] = lines.dropLast().last.flatMap { Int($0) } ?? 0
    }
    #expect(acknowledged.values.contains { $0 > 0 })
    try await package.withStore { store in
      for session in try await store.motionSessions() {
        let samples = try await store.motionSamples(ofSession: session.session.id)
        #expect(samples.count >= acknowledged[session.session.id] ?? 0)
        #expect(samples.map { $0.reading[.rx] } == (0..<samples.count).map { Double($0) })
        acknowledged[session.session.id] = nil
      }
    }
    #expect(acknowledged.values.allSatisfy { $0 == 0 })
    #expect(try package.findings() == [])
  }

  /// What was acknowledged is there once, with all its samples; another group whole or not at all,
  /// and only where all before it are.
  private static func check(
    _ package: FieldFile, _ groups: [[MotionRequest]], acknowledged: Int
  ) throws {
    var isStored = true
    for (number, group) in groups.enumerated() {
      let counts = try group.compactMap { request in
        if case .data(let data) = request { try package.stored(data) } else { nil as String? }
      }
      guard let first = counts.first else { continue }
      #expect(counts.allSatisfy { $0 == first }, "\(counts)")
      isStored = isStored && first == "1 5"
      #expect(isStored || first == "0 0")
      #expect(isStored || number >= acknowledged)
    }
  }

  private static func compare(
    _ package: FieldFile, _ devices: SimulatedDevices
  ) async throws {
    try await package.withStore { store in
      for (id, readings) in devices.sent {
        let samples = try await store.motionSamples(ofSession: id)
        #expect(samples.map(\.reading) == readings)
      }
    }
    let total = devices.sent.values.reduce(0) { $0 + $1.count }
    #expect(try package.rows("SELECT count(*) FROM daco_sample") == ["\(total)"])
    // A start that was not acknowledged may leave a session that nothing can come for.
    let unknown = try package.rows("SELECT uuid FROM daco_session").filter {
      devices.sent[$0] == nil
    }
    #expect(unknown.count <= devices.lostStarts)
    #expect(try package.rows("SELECT count(*) FROM daco_device") == ["3"])
    #expect(try package.findings() == [])
  }
}

/// Three devices that send again what was not acknowledged, and begin sessions anew at times.
private struct SimulatedDevices {
  var numbers = FilterGenerator.SplitMix(state: 42)
  /// The readings of each session by time.
  private(set) var sent: [String: [MotionReading]] = [:]
  /// Starts whose answer never came.
  private(set) var lostStarts = 0
  private var sessions: [String] = []
  /// Groups of readings that may have been stored, but whose answer never came.
  private var unanswered: [[MotionRequest]] = []

  /// Sends groups, waits for some of them, and comes back while others are on their way.
  mutating func send(to receiver: KilledReceiver) throws -> [[MotionRequest]] {
    var groups: [[MotionRequest]] = []
    if sessions.isEmpty || Int.random(in: 0..<10, using: &numbers) == 0 {
      groups.append(Self.starts)
      try receiver.send(Self.starts)
      // Killed meanwhile, it may have stored what nobody knows.
      guard Int.random(in: 0..<4, using: &numbers) > 0 else { return groups }
      try receiver.wait(for: 1)
      begin(receiver.answers[0])
    }
    groups += unanswered
    unanswered = []
    for _ in 0..<Int.random(in: 0...3, using: &numbers) { groups.append(readings()) }
    for group in groups where group != Self.starts {
      try receiver.send(group)
      if Bool.random(using: &numbers) { try receiver.wait(for: receiver.sent) }
    }
    return groups
  }

  mutating func sendTheRest(to receiver: KilledReceiver) throws -> [[MotionRequest]] {
    let groups = unanswered + [[]]
    unanswered = []
    for group in groups { try receiver.send(group) }
    return groups
  }

  /// Takes what the receiver answered to the first of the groups.
  mutating func take(_ answers: [String], of groups: [[MotionRequest]]) throws {
    for (number, group) in groups.enumerated() {
      let isAnswered = number < answers.count
      if group == Self.starts {
        if !isAnswered { lostStarts += group.count } else { begin(answers[number]) }
      } else if isAnswered {
        #expect(answers[number].split(separator: "\t").allSatisfy { $0 == "200 " })
      } else {
        unanswered.append(group)
      }
    }
  }

  private static let starts = (0..<3).map { number in
    MotionRequest.start(.init(timestamp: 0, device: MadeMotion.device(number)))
  }

  private mutating func begin(_ answer: String) {
    sessions = answer.split(separator: "\t").map { String($0.dropFirst(4)) }
    for session in sessions where sent[session] == nil { sent[session] = [] }
  }

  /// Some batches of any of the devices.
  private mutating func readings() -> [MotionRequest] {
    (0..<Int.random(in: 1...8, using: &numbers)).map { _ in
      let number = Int.random(in: 0..<3, using: &numbers)
      let session = sessions[number]
      let first = sent[session]?.count ?? 0
      let readings = (first..<first + 5).map { MadeMotion.reading(number, $0) }
      sent[session]? += readings
      return .data(.init(session: session, timestamp: Double(first + 5) / 50, readings: readings))
    }
  }
}

/// The receiver as it reads from a pipe.
private final class KilledReceiver {
  private let program: Program
  private let folder: TemporaryFolder
  private var pipe: Int32
  /// How many groups were sent.
  private(set) var sent = 0

  init(_ package: FieldFile) throws {
    folder = try TemporaryFolder()
    let path = folder.file("bodies").path
    mkfifo(path, 0o600)
    // Both ends, so that it opens at once.
    pipe = open(path, O_RDWR | O_CLOEXEC)
    program = try Program(Tool.built("FieldpackTestSubject"), ["receive", package.path, path])
  }

  deinit { if pipe >= 0 { close(pipe) } }

  /// What is acknowledged so far, a line for each group.
  var answers: [String] {
    program.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map { String($0) }
  }

  func send(_ group: [MotionRequest]) throws {
    var bytes: [UInt8] = []
    for request in group { bytes += try request.body() + [UInt8(ascii: "\n")] }
    bytes.append(UInt8(ascii: "\n"))
    #expect(FileWriting.write(pipe, bytes) == bytes.count)
    sent += 1
  }

  func wait(for groups: Int) throws {
    try program.block(for: "group \(groups)") { answers.count >= groups }
  }

  func kill() {
    program.destroy()
  }

  func end() async throws {
    close(pipe)
    pipe = -1
    let result = try await program.result()
    #expect(result.status == 0, "\(result)")
  }
}

extension FieldFile {
  /// How many batches are like this one, and how many samples they have.
  fileprivate func stored(_ data: MotionRequest.Data) throws -> String? {
    try rows(
      "SELECT count(DISTINCT b.id) || ' ' || count(s.id) FROM daco_session e "
        + "LEFT JOIN daco_batch b ON b.session_id = e.id AND b.sent_at_unix = \(data.timestamp) "
        + "LEFT JOIN daco_sample s ON s.batch_id = b.id WHERE e.uuid = '\(data.session)'"
    ).first
  }
}

/// `write(2)`, out of the way of the methods of that name.
private enum FileWriting {
  static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, bytes, bytes.count)
    #else
      Darwin.write(descriptor, bytes, bytes.count)
    #endif
  }
}
