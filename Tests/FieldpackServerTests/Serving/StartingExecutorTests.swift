import FieldpackThreads
import Foundation
import Testing

@testable import FieldpackServer

@Suite struct StartingExecutorTests {
  @Test func `a task that never waits is done when it has begun`() async {
    let done = Locked(0)
    for number in 1...100 {
      _ = StartingExecutor.start { done.withLock { $0 += 1 } }
      #expect(done.withLock { $0 } == number)
    }
  }

  @Test func `a task that waits lets its beginner go on`() async {
    let done = Locked(false)
    let (values, feed) = AsyncStream<Int>.makeStream()
    let task = StartingExecutor.start {
      for await value in values where value == 2 { done.withLock { $0 = true } }
    }
    #expect(!done.withLock { $0 })
    feed.yield(1)
    feed.yield(2)
    feed.finish()
    await task.value
    #expect(done.withLock { $0 })
  }

  @Test func `a task goes on where it is let go on`() async {
    let waiting = Locked<CheckedContinuation<Void, Never>?>(nil)
    let done = Locked(0)
    for number in 1...100 {
      _ = StartingExecutor.start {
        await withCheckedContinuation { continuation in waiting.withLock { $0 = continuation } }
        done.withLock { $0 += 1 }
      }
      StartingExecutor.goOn { waiting.withLock { $0 }?.resume() }
      #expect(done.withLock { $0 } == number)
    }
  }
}
