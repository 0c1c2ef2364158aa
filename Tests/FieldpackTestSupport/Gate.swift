import FieldpackCore
import Foundation
public import Testing

/// Lets few suites at a time do what needs much of the machine: beside hundreds of others a program or
/// a long calculation would come late everywhere.
///
///     @Suite(.programs) struct QueryCommandTests {
///
/// A suite waits for its turn without a thread; its own tests run beside each other. Where
/// `FIELDPACK_QUICK` is set, as by `Scripts/test --quick`, it is left out. Only suites have it: a test that
/// waits takes one of the few places for tests, which the suites before it need to end.
public struct Gate: SuiteTrait, TestScoping {
  private static let isQuick = ProcessInfo.processInfo.environment["FIELDPACK_QUICK"] != nil
  private let turns: Turns

  fileprivate init(_ turns: Turns) { self.turns = turns }

  @concurrent public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // A suite within a suite has its turn already.
    if Turns.held.contains(ObjectIdentifier(turns)) { return try await function() }
    if Self.isQuick { try Test.cancel("it takes long") }
    await turns.take()
    defer { turns.giveBack() }
    try await Turns.$held.withValue(Turns.held + [ObjectIdentifier(turns)]) {
      try await function()
    }
  }
}

extension Trait where Self == Gate {
  /// The suite starts programs: the tool, other tools that judge what we write, shells.
  public static var programs: Gate { Gate(.programs) }
  /// The suite keeps a processor busy for seconds.
  public static var calculation: Gate { Gate(.calculation) }
}

extension Gate {
  /// Fails a test that starts a program where its suite does not say so.
  static func expectPrograms() {
    guard Test.current != nil, !Turns.held.contains(ObjectIdentifier(Turns.programs)) else {
      return
    }
    Issue.record("a suite that starts programs is marked: @Suite(.programs)")
  }
}

private final class Turns: Sendable {
  static let programs = Turns(2)
  static let calculation = Turns(1)
  /// Those that the running test has.
  @TaskLocal static var held: [ObjectIdentifier] = []

  private let state: Locked<(free: Int, waiting: [CheckedContinuation<Void, Never>])>

  init(_ count: Int) { state = Locked((count, [])) }

  func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func giveBack() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}
