import FieldpackCore

extension GeoJSONParser {
  /// Looks through all ids of the file once they no longer grow.
  ///
  /// So no feature is ever given with an id that another has, and ids in order need no memory.
  mutating func searchDuplicates() throws(FieldpackError) {
    guard ids.isUnordered, ids.areUsable, ids.duplicate == .notNeeded,
      let input = scanner.input
    else { return }
    ids.duplicate = try Self.search(input, options, reading: scanner.offset)
    if case .found(let id) = ids.duplicate, let column = options.idColumn {
      let position = try Self.secondPosition(of: id, input, options, reading: scanner.offset)
      throw FieldpackError(
        .invalidData, "'\(column)' is \(id) a second time, so it cannot be the feature's id",
        position: position)
    }
    scanner.resume()
  }

  private static func pass(
    _ input: ByteInput, _ options: ReadOptions, reading offset: Int
  ) -> GeoJSONParser {
    var parser = GeoJSONParser(JSONScanner(input), options: options, layer: nil)
    parser.collectsIDs = true
    if let progress = options.progress {
      // The bar stands still meanwhile, but the command can be stopped.
      parser.scanner.progress = { _ throws(FieldpackError) in try progress(offset) }
    }
    return parser
  }

  private static func search(
    _ input: ByteInput, _ options: ReadOptions, reading offset: Int
  ) throws(FieldpackError) -> FeatureIDs.DuplicateSearch {
    var parser = pass(input, options, reading: offset)
    var sink = NoSink()
    try parser.run(into: &sink)
    return parser.collected.duplicate().map { .found($0) } ?? .none
  }

  private static func secondPosition(
    of id: Int64, _ input: ByteInput, _ options: ReadOptions, reading offset: Int
  ) throws(FieldpackError) -> FilePosition? {
    var parser = pass(input, options, reading: offset)
    parser.watched = (id, 0, nil)
    var sink = NoSink()
    try parser.run(into: &sink)
    return parser.watched?.position
  }

  mutating func collectID() {
    guard case .integer(let id) = sourceID else { return }
    guard var watch = watched else { return collected.append(id) }
    if watch.id == id {
      watch.count += 1
      if watch.count == 2 { watch.position = featurePosition }
    }
    watched = watch
  }
}
