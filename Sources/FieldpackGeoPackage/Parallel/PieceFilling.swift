import FieldpackCore
import FieldpackSQLite

/// Fills pieces with rows on one connection until all pieces are dealt out.
///
/// Belongs to the connection's thread, which waits while other readers are behind.
final class PieceFilling<Piece: PieceSink> {
  private let planner: QueryPlanner
  private let plan: QueryPlan
  private let claims: RangeDispenser
  private let exchange: OrderedChannel<Piece>
  private let make: @Sendable () -> Piece
  /// The source read last and its reader, kept from range to range.
  private var ranged: (source: Int, reader: RangeReader)?

  init(
    _ planner: QueryPlanner, plan: QueryPlan, claims: RangeDispenser,
    exchange: OrderedChannel<Piece>, make: @escaping @Sendable () -> Piece
  ) {
    self.planner = planner
    self.plan = plan
    self.claims = claims
    self.exchange = exchange
    self.make = make
  }

  func run() {
    while let claim = claims.next(for: exchange, firstID) {
      do throws(FieldpackError) {
        try fill(claim)
        exchange.complete(claim.number)
      } catch {
        exchange.complete(claim.number, error)
      }
    }
  }

  private func firstID(_ source: Int, from id: Int64) throws(FieldpackError) -> Int64? {
    guard case .ranges(let path) = plan.sources[source] else { return nil }
    let (table, name) = (path.table, path.table.idExpression)
    return try planner.file.integer(
      "SELECT min(\(name)) FROM \(quoted(table.table)) WHERE \(name) >= ?", [.integer(id)])
  }

  private func fill(_ claim: PieceClaim) throws(FieldpackError) {
    switch (plan.sources[claim.source], claim.range) {
    case (.walk, _):
      let walk = try QueryWalk(planner: planner, paths: plan.paths)
      _ = try give(claim) { () throws(FieldpackError) in try walk.next() }
    case (.layer(let path), _), (.ranges(let path), nil):
      let cursor = try cursor(path, as: .rows)
      _ = try give(claim) { () throws(FieldpackError) in try cursor.advance() ? cursor : nil }
    case (.ranges(let path), let range?):
      let reader = try rangeReader(claim.source, path)
      let parts = try give(claim, range, reader)
      claims.learn(from: claim, steps: reader.takeSteps(), parts: parts)
    }
  }

  private func rangeReader(
    _ source: Int, _ path: LayerPath
  ) throws(FieldpackError) -> RangeReader {
    if let ranged, ranged.source == source { return ranged.reader }
    let reader: RangeReader =
      if planner.canLend(path) {
        .lending(try LayerLending(planner, path, inRanges: true))
      } else {
        .stepping(try cursor(path, as: .range))
      }
    ranged = (source, reader)
    return reader
  }

  private func cursor(
    _ path: LayerPath, as form: QueryPlanner.RowForm
  ) throws(FieldpackError) -> LayerCursor {
    try LayerCursor(
      planner.plan(path, limit: nil, offset: 0, as: form), file: planner.file,
      skipsErrors: planner.query.skipsErrors, report: planner.report)
  }

  /// Hands over the rows of a range; gives the number of parts.
  private func give(
    _ claim: PieceClaim, _ range: ClosedRange<Int64>, _ reader: RangeReader
  ) throws(FieldpackError) -> Int {
    switch reader {
    case .stepping(let cursor):
      try cursor.restart(range)
      return try give(claim) { () throws(FieldpackError) in try cursor.advance() ? cursor : nil }
    case .lending(let lending):
      try lending.restart(range)
      var parts = 0
      var filling = LayerLending.Filling()
      while filling.hasMore {
        var piece = make()
        filling = try lending.fill(&piece) { $0.isFull }
        guard filling.hasBegun else { break }
        parts += 1
        if !exchange.hand(piece, of: claim.number) { break }
      }
      return parts
    }
  }

  /// Hands over the rows of a cursor that `next` advances; gives the number of parts.
  private func give(
    _ claim: PieceClaim, _ next: () throws(FieldpackError) -> LayerCursor?
  ) throws(FieldpackError) -> Int {
    var parts = 0
    var row = try next()
    while let first = row {
      var piece = make()
      try piece.begin(first.schema)
      repeat {
        try piece.feature(first.row)
        row = try next()
      } while row === first && !piece.isFull
      parts += 1
      guard exchange.hand(piece, of: claim.number) else { return parts }
    }
    return parts
  }

  /// Reads the ranges of one source.
  private enum RangeReader {
    case lending(LayerLending)
    case stepping(LayerCursor)

    /// The work since the last call, in instructions of SQLite's virtual machine.
    func takeSteps() -> Int {
      switch self {
      case .lending(let lending): lending.takeSteps()
      case .stepping(let cursor): cursor.takeSteps()
      }
    }
  }
}
