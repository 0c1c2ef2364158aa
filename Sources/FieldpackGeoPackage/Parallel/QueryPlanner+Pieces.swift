import FieldpackCore
import FieldpackSQLite

extension QueryPlanner {
  /// Below this span of ids a layer is not worth a second reader.
  static let leastIDs: UInt64 = 20_000
  /// The same limit for candidates of an R-tree. It is lower because looking rows up takes several
  /// times as long as scanning them.
  private static let leastCandidates = 4_000

  /// The parts of the answer that several readers can share. It is one part where the answer has an
  /// order or a limit, or where no layer is worth it.
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

  /// A file with fewer bytes cannot hold `leastIDs` rows: a row takes at least four bytes, and two
  /// for its cell pointer (https://www.sqlite.org/fileformat2.html#b_tree_pages).
  private static let leastBytes = leastIDs * 6

  /// Whether the layer has many rows, and they are found by a scan of its table or one by one for
  /// an R-tree's candidates.
  private func canBeCut(_ path: LayerPath) throws(FieldpackError) -> Bool {
    switch path.search {
    case .throughTable: try idSpan(path.table).map { $0 >= Self.leastIDs } ?? false
    case .candidates: try candidateCount(path.table).map { $0 >= Self.leastCandidates } ?? false
    case .finding, .bySQLite: false
    }
  }

  /// Whether the layer's rows should be given to `fieldpack_row`, which saves a step per row.
  func canLend(_ path: LayerPath) -> Bool {
    guard path.table.schema.columns.count + 2 <= 100 else { return false }
    return path.search == .throughTable || path.search == .candidates
  }
}
