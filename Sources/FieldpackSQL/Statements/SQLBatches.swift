public import FieldpackCore

/// Rows of a statement, with values as they are stored.
public struct SQLBatch: Hashable, Sendable {
  public var columns: [String]
  /// Up to 1,024 rows, or about 1 MiB of texts and blobs.
  public var rows: [[Value]]
  /// What the user should know, such as of a distance in degrees.
  public var notes: [String] = []
}

/// The outcome of one statement of a script.
public struct SQLOutcome: Hashable, Sendable {
  /// The columns of the result; empty for a statement without a result.
  public var columns: [String]
  public var rows: [[Value]]
  /// Rows inserted, updated or deleted, triggers not counted.
  public var changes: Int
  /// What the user should know, such as of a distance in degrees.
  public var notes: [String] = []
}

/// The rows of one statement, read on demand. The first batch has the columns even where there is
/// no row.
public struct SQLBatches: AsyncSequence, Sendable {
  public typealias Element = SQLBatch
  public typealias Failure = FieldpackError

  let makeCursor: @Sendable () -> SQLCursor

  public struct Iterator: AsyncIteratorProtocol {
    let cursor: SQLCursor

    public func next() async throws(FieldpackError) -> SQLBatch? { try await cursor.next() }

    public func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FieldpackError) -> SQLBatch? {
      try await cursor.next()
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(cursor: makeCursor()) }
}
