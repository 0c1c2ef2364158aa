import Testing

@testable import FieldpackSQLite

@Suite struct ThreadExecutorTests {
  // No thread can have a stack of 64 TiB.
  @Test func `a thread that cannot be had is an error`() {
    let error = #expect(throws: SQLiteError.self) { try ThreadExecutor(stackSize: 1 << 46) }
    #expect(error?.isOutOfThreads == true)
    #expect(error?.message == "no thread could be started")
  }
}
