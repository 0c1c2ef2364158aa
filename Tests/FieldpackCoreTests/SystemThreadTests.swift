import FieldpackCore
import Testing

@Suite struct SystemThreadTests {
  // No thread can have a stack of 64 TiB.
  @Test func `a thread that cannot be had is told`() {
    #expect(!SystemThread.start(stackSize: 1 << 46) {})
  }

  @Test func `there is room for some threads`() throws {
    try SystemThread.checkRoom(for: 8)
  }
}
