import FieldpackServices
import Testing

struct StoreEventTests {
  @Test func `events have the names and numbers that bridges know`() {
    #expect(
      StoreEvent.Kind.allCases.map { "\($0.rawValue) \($0.name.dropFirst(17))" } == [
        "0 STARTFAILED", "1 RUNNING", "2 ALLSTARTED", "3 STOPPED", "4 STATUSCHANGE",
        "5 DOWNLOADPROGRESS", "6 REMOVED", "7 PAUSED", "8 RESUMED", "9 CHANGED",
        "10 POLLFAILED",
      ])
    #expect(StoreEvent.Kind.running.name == "SC_DATASTORE_EVT_RUNNING")
  }
}
