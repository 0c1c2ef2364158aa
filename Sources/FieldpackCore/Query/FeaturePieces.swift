/// A sink that takes a part of a query's answer and is then given to the caller.
public protocol PieceSink: FeatureSink, Sendable {
  /// Whether this sink is to be given to the caller now, and the next rows go into a new one.
  ///
  /// Asked after each feature. It bounds the memory: at a time, a few sinks exist for each reading
  /// thread, each with at most one row beyond the point where it was full.
  var isFull: Bool { get }
}

/// The answer to a query in pieces, read by several connections at once and given in the query's
/// order.
///
/// Each piece is a sink that has taken `begin` and then one row or more of that layer, in order; a
/// layer without a match gives none. All pieces of a store are from one snapshot. Reading begins
/// with the first `next()`, and ends with the last piece, with an error, or when the iterator is
/// dropped; an error comes after all pieces before it.
public struct FeaturePieces<Piece: PieceSink>: AsyncSequence, Sendable {
  public typealias Element = Piece
  public typealias Failure = FieldpackError
  public typealias Next = @Sendable () async throws(FieldpackError) -> Piece?

  /// What went wrong in single features, and notes; complete after the last piece.
  public let report: QueryReport
  private let start: @Sendable () -> Next

  /// - Parameter start: called once for each iteration; it returns the function that gives the next
  ///   piece.
  public init(report: QueryReport, start: @escaping @Sendable () -> Next) {
    self.report = report
    self.start = start
  }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    let nextPiece: Next

    public func next() async throws(FieldpackError) -> Piece? { try await nextPiece() }

    public func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FieldpackError) -> Piece? {
      try await nextPiece()
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(nextPiece: start()) }
}

extension Store {
  /// Fills one sink after the other from batches, for stores without a faster way.
  public func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    try await self.query(query).pieces(into: make)
  }
}

extension FeatureBatches {
  /// The same features, in sinks that `make` makes.
  package func pieces<Piece: PieceSink>(
    into make: @escaping @Sendable () -> Piece
  ) -> FeaturePieces<Piece> {
    FeaturePieces(report: report) {
      let source = SinkFiller(makeAsyncIterator(), make: make)
      return { () async throws(FieldpackError) in try await source.next() }
    }
  }
}

/// Fills sinks from batches.
private actor SinkFiller<Piece: PieceSink> {
  private let batches: FeatureBatches.Iterator
  private let make: @Sendable () -> Piece
  private var batch: FeatureBatch?
  private var row = 0

  init(_ batches: FeatureBatches.Iterator, make: @escaping @Sendable () -> Piece) {
    self.batches = batches
    self.make = make
  }

  func next() async throws(FieldpackError) -> Piece? {
    guard let first = try await current() else { return nil }
    var piece = make()
    try piece.begin(first.schema)
    while let batch = try await current(), batch.schema.layer == first.schema.layer {
      while row < batch.count {
        try piece.feature(batch[row])
        row += 1
        if piece.isFull { return piece }
      }
    }
    return piece
  }

  /// The batch that has the next row.
  private func current() async throws(FieldpackError) -> FeatureBatch? {
    if let batch, row < batch.count { return batch }
    batch = try await batches.next()
    row = 0
    return batch
  }
}
