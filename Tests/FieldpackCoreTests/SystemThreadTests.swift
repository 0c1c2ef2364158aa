import FieldpackCore
import FieldpackThreads
import Foundation
import Testing

@Suite struct SystemThreadTests {
  // No thread can have a stack of 64 TiB.
  @Test func `a thread that cannot be had is told`() {
    #expect(!SystemThread.start(stackSize: 1 << 46) {})
  }

  @Test func `an executor whose thread cannot be had is none`() {
    #expect(ThreadExecutor(stackSize: 1 << 46) == nil)
  }

  @Test func `an executor runs the jobs of its actor on one thread`() async throws {
    let worker = Worker(try .started())
    let first = await worker.thread
    for _ in 0..<100 { #expect(await worker.thread == first) }
    #expect(first != pthread_self())
  }

  @Test func `there is room for some threads`() throws {
    try SystemThread.checkRoom(for: 8)
  }
}

private actor Worker {
  private let executor: ThreadExecutor

  init(_ executor: ThreadExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  var thread: pthread_t { pthread_self() }
}
