import FieldpackCore
import FieldpackSQLite

/// Fills pieces with rows on one connection until all are dealt out.
///
/// Belongs to the connection's thread, which waits while the others are behind.
final class PieceFilling<Piece: PieceSink> {
  private let planner: QueryPlanner
  private let plan: PiecePlan
  private let claims: PieceClaims
  private let exchange: PieceExchange<Piece>
  private let make: @Sendable () -> Piece
  /// The cursor that goes from range to range of one source.
  private var ranged: (source: Int, cursor: LayerCursor)?

  init(
    _ planner: QueryPlanner, plan: PiecePlan, claims: PieceClaims,
    exchange: PieceExchange<Piece>, make: @escaping @Sendable () -> Piece
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
    guard case .ranges(let table) = plan.sources[source] else { return nil }
    let name = table.idExpression
    return try planner.file.integer(
      "SELECT min(\(name)) FROM \(quoted(table.table)) WHERE \(name) >= ?", [.integer(id)])
  }

  private func fill(_ claim: PieceClaim) throws(FieldpackError) {
    switch (plan.sources[claim.source], claim.range) {
    case (.walk, _):
      let tables = try planner.tables()
      var walk = try QueryWalk(planner: planner, tables: tables)
      _ = try give(claim) { () throws(FieldpackError) in try walk.next() }
    case (.layer(let table), _), (.ranges(let table), nil):
      let cursor = try cursor(table, inRange: false)
      _ = try give(claim) { () throws(FieldpackError) in try cursor.advance() ? cursor : nil }
    case (.ranges(let table), let range?):
      let cursor = try rangedCursor(claim.source, table)
      try cursor.restart(range)
      _ = cursor.takeSteps()
      let parts = try give(claim) { () throws(FieldpackError) in
        try cursor.advance() ? cursor : nil
      }
      claims.learn(from: claim, steps: cursor.takeSteps(), parts: parts)
    }
  }

  private func rangedCursor(
    _ source: Int, _ table: LayerTable
  ) throws(FieldpackError) -> LayerCursor {
    if let ranged, ranged.source == source { return ranged.cursor }
    let cursor = try cursor(table, inRange: true)
    ranged = (source, cursor)
    return cursor
  }

  private func cursor(
    _ table: LayerTable, inRange: Bool
  ) throws(FieldpackError) -> LayerCursor {
    try LayerCursor(
      planner.plan(table, limit: nil, offset: 0, inRange: inRange), file: planner.file,
      skipsErrors: planner.query.skipsErrors, report: planner.report)
  }

  /// Fills sinks with the rows that `next` goes to and hands them over; gives how many it were.
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
}
