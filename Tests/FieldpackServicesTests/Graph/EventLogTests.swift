import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Testing

@testable import FieldpackServices

@Suite struct EventLogTests {
  private func text(_ batch: EventBatch<Int>?) -> String {
    switch batch {
    case .events(let events): "\(events)"
    case .missed(let number): "missed \(number)"
    case nil: "end"
    }
  }

  @Test func `each subscriber gets all events from then on, in order`() async {
    let log = EventLog<Int>()
    log.send(0)
    let first = log.batches()
    for number in 1...3 { log.send(number) }
    let second = log.batches()
    log.send(4)
    log.finish()
    log.send(5)
    for (batches, expected) in [
      (first, [1, 2, 3, 4]), (second, [4]), (log.batches(from: 0), [0, 1, 2, 3, 4]),
    ] {
      var seen: [Int] = []
      for await case .events(let events) in batches { seen += events }
      #expect(seen == expected)
    }
    var none = log.batches().makeAsyncIterator()
    #expect(text(await none.next(isolation: nil)) == "end")
  }

  @Test func `one that is too far behind is told what it missed, and may ask again`() async {
    let log = EventLog<Int>(bound: 4, capacity: 8)
    let slow = log.batches()
    for number in 0..<30 { log.send(number) }
    var batches = slow.makeAsyncIterator()
    #expect(text(await batches.next(isolation: nil)) == "missed 0")
    #expect(text(await batches.next(isolation: nil)) == "[26, 27, 28, 29]")
    var again = log.batches(from: 24).makeAsyncIterator()
    #expect(text(await again.next(isolation: nil)) == "[24, 25, 26, 27, 28, 29]")
    var lost = log.batches(from: 0).makeAsyncIterator()
    #expect(text(await lost.next(isolation: nil)) == "missed 0")
    guard case .events(let kept) = await lost.next(isolation: nil) else {
      Issue.record("no events")
      return
    }
    #expect(kept.count >= 8 && kept.last == 29 && kept == Array(kept[0]...29))
  }

  @Test func `a subscriber is woken once in an interval`() async {
    let clock = TestClock()
    let log = EventLog<Int>(interval: .milliseconds(10), clock: clock.clock)
    let taken = Locked<[[Int]]>([])
    let batches = log.batches()
    let task = Task {
      for await case .events(let events) in batches { taken.withLock { $0.append(events) } }
    }
    log.send(1)
    await clock.untilAsleep(1)
    while taken.withLock({ $0.isEmpty }) { await Task.yield() }
    for number in 2...1000 { log.send(number) }
    clock.advance(by: .milliseconds(10))
    log.finish()
    await task.value
    // The first, and maybe one more that a wake of before the sleep gave.
    #expect(taken.withLock { $0.count } <= 3)
    #expect(taken.withLock { $0.flatMap(\.self) } == Array(1...1000))
  }

  @Test func `who has gone is not kept`() async {
    let log = EventLog<Int>()
    let task = Task { for await _ in log.batches() {} }
    task.cancel()
    await task.value
    log.send(1)
    #expect(log.subscriberCount == 0)
  }

  @Test func `a hundred subscribers cost little`() async throws {
    let log = EventLog<Int>(interval: .milliseconds(10))
    let sums = await withTaskGroup(of: (Int, Int).self) { group in
      for _ in 0..<100 {
        let batches = log.batches()
        group.addTask {
          var (sum, wakes) = (0, 0)
          for await case .events(let events) in batches {
            sum += events.count
            wakes += 1
          }
          return (sum, wakes)
        }
      }
      for number in 0..<1000 { log.send(number) }
      log.finish()
      return await group.reduce(into: [(Int, Int)]()) { $0.append($1) }
    }
    #expect(sums.allSatisfy { $0.0 == 1000 && $0.1 < 100 })
  }
}
