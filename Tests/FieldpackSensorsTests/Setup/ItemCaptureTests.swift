import FieldpackSensors
import Testing

/// The button of an item.
@Suite struct ItemCaptureTests {
  typealias State = ItemCapture.State
  typealias Event = ItemCapture.Event
  typealias Effect = ItemCapture.Effect

  @Test func `states have their numbers, messages and delays`() {
    let table: [(State, Int, String?, Duration)] = [
      (.inactive, 0, "", .zero), (.capture, 1, nil, .zero), (.stop, 2, "Stop capture", .zero),
      (.warning, 3, "There's a problem communicating with the sensor.", .zero),
      (.waiting, 4, "Waiting for sensor", .seconds(4)),
      (.waitingRestartCapture, 5, "Reconnecting to the sensor", .seconds(2)),
    ]
    #expect(table.map(\.0) == State.allCases)
    for (state, number, message, delay) in table {
      #expect(state.rawValue == number)
      #expect(state.message == message)
      #expect(state.delay == delay)
    }
    #expect(ItemCapture.hint == "Tap to capture")
  }

  private static let problem = Event.failed(status: "sensor busy", message: nil)
  private static let told = [Effect.tell("Sensor problem: sensor busy")]

  /// Events that lead from an item without data, or with it, to a state.
  private static let ways: [(State, hasData: Bool, [Event])] = [
    (.inactive, true, []), (.capture, false, []), (.stop, false, [.tapped]),
    (.warning, false, [problem]), (.waiting, false, [.connecting]),
    (.waitingRestartCapture, false, [problem, .tapped]),
  ]

  /// For each event the state that it leads to from each of ``ways``, and what is to be done.
  private static let table: [(Event, [(State, [Effect])])] = [
    (
      .tapped,
      [
        (.inactive, []), (.stop, [.startCapture]), (.waiting, [.cancelCapture]),
        (.waitingRestartCapture, [.reconnect]), (.waiting, []), (.waitingRestartCapture, []),
      ]
    ),
    (
      .connecting,
      [
        (.inactive, []), (.waiting, []), (.stop, []), (.waiting, []), (.waiting, []),
        (.waitingRestartCapture, []),
      ]
    ),
    (
      .connected,
      [
        (.inactive, []), (.capture, []), (.stop, []), (.capture, []), (.capture, []),
        (.capture, []),
      ]
    ),
    (.posted, [(State, [Effect])](repeating: (.inactive, []), count: 6)),
    (
      .ended,
      [
        (.inactive, []), (.capture, []), (.capture, []), (.warning, []), (.capture, []),
        (.waitingRestartCapture, []),
      ]
    ),
    (
      problem,
      [(.inactive, [.log("Sensor problem: sensor busy")])]
        + [(State, [Effect])](repeating: (.warning, told), count: 5)
    ),
    (
      .closed,
      [
        (.inactive, []), (.capture, []), (.stop, [.cancelCapture]), (.warning, []), (.waiting, []),
        (.waitingRestartCapture, []),
      ]
    ),
  ]

  @Test func `each event leads from each state to its own`() {
    for (event, ends) in Self.table {
      for (way, end) in zip(Self.ways, ends) {
        var capture = ItemCapture(hasData: way.hasData)
        for event in way.2 { _ = capture.take(event) }
        #expect(capture.state == way.0)
        let effects = capture.take(event)
        #expect(capture.state == end.0, "\(event) from \(way.0)")
        #expect(effects == end.1, "\(event) from \(way.0)")
      }
    }
  }

  @Test func `what the sensor said is told before its status`() {
    var capture = ItemCapture(hasData: false)
    #expect(
      capture.take(.failed(status: "failure", message: "lamp is dark")) == [
        .tell("Sensor problem: lamp is dark")
      ])
  }

  @Test func `an image is cleared after a yes`() {
    var capture = ItemCapture(hasData: true)
    #expect(capture.take(.answered(true)) == [])
    #expect(capture.take(.askedToClear) == [.ask("Clear this image?")])
    #expect(capture.take(.answered(false)) == [])
    #expect(capture.state == .inactive)
    _ = capture.take(.askedToClear)
    #expect(capture.take(.answered(true)) == [.clear])
    #expect((capture.state, capture.hasData) == (.capture, false))
    #expect(capture.take(.askedToClear) == [])
  }

  @Test func `marks and notes go through it`() {
    var capture = ItemCapture(hasData: true)
    #expect(capture.take(.annotated([true, false])) == [.annotate([true, false])])
    #expect(capture.take(.noted("scar")) == [.note("scar")])
    _ = capture.take(.closed)
    #expect(capture.take(.noted("late")) == [])
  }
}
