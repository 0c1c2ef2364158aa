import FieldpackCore
import FieldpackSQLite

extension QueryPlanner {
  /// Below so many ids a layer is not worth a second reader.
  static let leastIDs: UInt64 = 20_000
  /// Rows that are looked up take some times as long as rows that follow each other.
  private static let leastCandidates = 4_000

  /// The parts of the answer that several readers can take on; one part where the answer has an order
  /// or an end of its own, or no layer is worth it.
  func sources(_ paths: [LayerPath]) throws(FieldpackError) -> [PieceSource] {
    guard !query.isOrdered, query.limit == nil, query.offset == 0, PieceReaders.mostReaders > 1,
      file.connection.byteCount >= Self.leastBytes
    else { return [.walk] }
    var (sources, isCut): ([PieceSource], Bool) = ([], false)
    for path in paths {
      let isRanged = try canBeCut(path)
      isCut = isCut || isRanged
      sources.append(isRanged ? .ranges(path) : .layer(path))
    }
    return isCut ? sources : [.walk]
  }

  /// No smaller file has so many rows: a row takes four bytes and the two that point to it at least
  /// (https://www.sqlite.org/fileformat2.html#b_tree_pages).
  private static let leastBytes = leastIDs * 6

  /// Whether the layer's rows are found by going through its table, or one by one from what an
  /// R-tree gives, and are many.
  private func canBeCut(_ path: LayerPath) throws(FieldpackError) -> Bool {
    switch path.search {
    case .throughTable: try idSpan(path.table).map { $0 >= Self.leastIDs } ?? false
    case .candidates: try candidateCount(path.table).map { $0 >= Self.leastCandidates } ?? false
    case .finding, .bySQLite: false
    }
  }

  /// Whether the layer's rows are best given to `fieldpack_row`, which does without a step each.
  func canLend(_ path: LayerPath) -> Bool {
    guard path.table.schema.columns.count + 2 <= 100 else { return false }
    return path.search == .throughTable || path.search == .candidates
  }
}
