import FieldpackCore
import FieldpackField
import Testing

@Suite struct BroadcastTests {
  private func all<Element>(_ subscription: Subscription<Element>) async -> [Element] {
    await subscription.stream.reduce(into: []) { $0.append($1) }
  }

  @Test func `all subscribers get what is sent after they came, in order`() async {
    let broadcast = Broadcast<Int>(capacity: 10)
    #expect(!broadcast.hasSubscribers)
    broadcast.send(0)
    let first = broadcast.subscribe()
    broadcast.send(1)
    let second = broadcast.subscribe()
    broadcast.send([2, 3])
    broadcast.finish()
    #expect(await all(first) == [1, 2, 3])
    #expect(await all(second) == [2, 3])
    #expect(first.takeLost() == 0 && broadcast.isFinished && !broadcast.hasSubscribers)
    #expect(await all(broadcast.subscribe()) == [])
  }

  @Test func `several senders give all subscribers one order`() async {
    let broadcast = Broadcast<Int>(capacity: 4000)
    let subscriptions = (0..<3).map { _ in broadcast.subscribe() }
    await withTaskGroup { group in
      for sender in 0..<4 {
        group.addTask { for number in 0..<1000 { broadcast.send(sender * 1000 + number) } }
      }
    }
    broadcast.finish()
    let first = await all(subscriptions[0])
    #expect(first.count == 4000)
    for subscription in subscriptions.dropFirst() { #expect(await all(subscription) == first) }
    for sender in 0..<4 {
      let own = first.filter { $0 / 1000 == sender }
      #expect(own == own.sorted())
    }
  }

  @Test func `who is slow loses the oldest values, and is told how many`() async {
    let broadcast = Broadcast<Int>(capacity: 3)
    let slow = broadcast.subscribe()
    let picky = broadcast.subscribe(wants: { $0 % 5 == 0 })
    broadcast.send(0..<10)
    broadcast.send(10..<11, untold: 100)
    broadcast.finish()
    #expect(slow.takeLost() == 108 && slow.takeLost() == 0)
    #expect(await all(slow) == [8, 9, 10])
    #expect(picky.takeLost() == 100)
    #expect(await all(picky) == [0, 5, 10])
  }

  @Test func `the present value comes first, also after the end`() async {
    let broadcast = Broadcast<String>(capacity: 2, present: "ready")
    let early = broadcast.subscribe()
    broadcast.send("busy")
    let late = broadcast.subscribe()
    broadcast.send("done")
    broadcast.finish()
    #expect(await all(early) == ["busy", "done"])
    #expect(early.takeLost() == 1)
    #expect(await all(late) == ["busy", "done"])
    #expect(await all(broadcast.subscribe()) == ["done"])
  }

  @Test func `a subscription ends with its task, and its end is told`() async {
    let broadcast = Broadcast<Int>(capacity: 2)
    let ends = Locked(0)
    let subscription = broadcast.subscribe(begin: { subscriber in
      subscriber.send(-1)
      return { ends.withLock { $0 += 1 } }
    })
    let (begun, begin) = AsyncStream.makeStream(of: Int.self)
    let reading = Task { for await value in subscription.stream { begin.yield(value) } }
    for await value in begun {
      #expect(value == -1)
      break
    }
    reading.cancel()
    await reading.value
    #expect(ends.withLock { $0 } == 1 && !broadcast.hasSubscribers)
    broadcast.send(1)
  }

  @Test func `subscriptions end with the broadcast, or by their own subscriber`() async {
    var broadcast: Broadcast<Int>? = Broadcast(capacity: 2)
    let subscription = broadcast?.subscribe()
    broadcast?.send(1)
    let other = broadcast?.subscribe(begin: { subscriber in
      subscriber.finish()
      return nil
    })
    if let other { #expect(await all(other) == []) }
    broadcast = nil
    if let subscription { #expect(await all(subscription) == [1]) }
  }

  @Test func `a signal that nobody waits for is kept once`() async {
    let signal = Signal()
    for _ in 0..<3 { signal.give() }
    signal.finish()
    #expect(await signal.stream.reduce(0) { count, _ in count + 1 } == 1)
  }
}
