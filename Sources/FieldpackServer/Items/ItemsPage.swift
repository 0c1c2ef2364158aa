import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackServices

/// Reads the features that a request asks for and writes them.
struct ItemsPage: Sendable {
  let request: ItemsRequest
  let store: any ServedStore
  /// The condition of the request's box.
  let box: Filter?
  let address: ResourceAddress
  /// Whether a page that is streamed is packed as gzip.
  let packs: Bool
  /// For what a client takes slowly.
  let room: SpillRoom
  /// How long the features of all pages are counted at most.
  let countingTime: Duration

  /// Coordinates of a list are rounded to 8 decimals: for degrees that is a millimetre.
  static let decimals = 8

  private var geoJSON: GeoJSONWriter.Options {
    var options = GeoJSONWriter.Options()
    options.decimals = Self.decimals
    options.swapsAxes = request.swapsAxes
    // The ids in the page are those in the addresses of the features.
    options.usesFeatureIDs = true
    return options
  }

  /// A page as a FeatureCollection, with links.
  func collection(limit: Int) async -> PageStart.Outcome {
    do throws(FieldpackError) {
      if let page = try await short(limit: limit) { return .whole(page) }
    } catch { return .failure(error) }
    return await write { (start, snapshot) throws(FieldpackError) in
      try collection(limit: limit, start: start, snapshot)
    }
  }

  /// The page as a JSON document.
  func document(limit: Int) async throws(FieldpackError) -> JSONValue {
    let bytes = try await store.read { (snapshot) throws(FieldpackError) in
      try collection(limit: limit, start: nil, snapshot)
    }
    return (try? JSONValueReader.read(String(decoding: bytes, as: UTF8.self))) ?? .null
  }

  private func collection(
    limit: Int, start: PageStart?, mostBytes: Int = .max, _ snapshot: any ServedSnapshot
  ) throws(FieldpackError) -> [UInt8] {
    var sink = PageSink(limit, start: start) { GeoJSONWriter($0, options: geoJSON) }
    sink.mostBytes = mostBytes
    try snapshot.scan(request.query(limit: limit + 1, box: box), into: &sink)
    try sink.writer.finish(with: try members(sink, in: snapshot))
    return sink.output.buffer
  }

  /// A page that is certainly made quickly: of few features that are found by their ids or in a box of the
  /// R-tree. The thread of the request makes the page; `nil` for other pages.
  private func short(limit: Int) async throws(FieldpackError) -> [UInt8]? {
    guard limit <= 1_000, request.filter == .all, request.order.isEmpty, request.offset == 0 else {
      return nil
    }
    switch box {
    case nil:
      // The first page counts all features.
      guard request.cursor != nil else { return nil }
      return try await store.readSoon { (snapshot) throws(FieldpackError) in
        try short(limit: limit, snapshot)
      }
    case .envelope(.intersects, let area, let srs)?:
      let layer = request.layer
      guard srs == layer.schema.geometry?.srs else { return nil }
      return try await store.readSoon { (snapshot) throws(FieldpackError) in
        guard try snapshot.isFoundSoon(in: layer.id, touching: area) else { return nil }
        return try short(limit: limit, snapshot)
      }
    default: return nil
    }
  }

  private func short(
    limit: Int, _ snapshot: any ServedSnapshot
  ) throws(FieldpackError) -> [UInt8]? {
    do throws(FieldpackError) {
      return try collection(limit: limit, start: nil, mostBytes: 1 << 20, snapshot)
    } catch {
      // The page is long, and is sent while it is made.
      guard error.code == .full else { throw error }
      return nil
    }
  }

  /// All features a line each, or a page of them.
  func lines() async -> PageStart.Outcome {
    await write { (start, snapshot) throws(FieldpackError) in
      var options = geoJSON
      options.layout = .lines
      return try text(start, snapshot) { GeoJSONWriter($0, options: options) }
    }
  }

  func csv() async -> PageStart.Outcome {
    await write { (start, snapshot) throws(FieldpackError) in
      var options = CSVWriter.Options()
      options.decimals = Self.decimals
      return try text(start, snapshot) { CSVWriter($0, options: options) }
    }
  }

  func gpx() async -> PageStart.Outcome {
    await write { (start, snapshot) throws(FieldpackError) in
      try text(start, snapshot) { GPXWriter($0) }
    }
  }

  private func text<Writer: FeatureTextWriter>(
    _ start: PageStart, _ snapshot: any ServedSnapshot, writer: (ByteOutput) -> Writer
  ) throws(FieldpackError) -> [UInt8] {
    var sink = PageSink(request.limit, start: start, writer: writer)
    try snapshot.scan(request.query(limit: request.limit, box: box), into: &sink)
    try sink.writer.finish()
    return sink.output.buffer
  }

  /// Reads one state of the file. The connection is free again as soon as all is read, however slow the
  /// client is. A task that is cancelled before the first part is there stops the reading.
  private func write(
    _ body: @escaping @Sendable (PageStart, any ServedSnapshot) throws(FieldpackError) -> [UInt8]
  ) async -> PageStart.Outcome {
    let start = PageStart(packs: packs, in: room)
    let store = store
    let reading = Task {
      do throws(FieldpackError) {
        let rest = try await store.read { (snapshot) throws(FieldpackError) in
          try body(start, snapshot)
        }
        start.finish(rest)
      } catch {
        start.fail(error)
      }
    }
    return await withTaskCancellationHandler {
      await start.outcome
    } onCancel: {
      reading.cancel()
    }
  }

  // MARK: Members

  private func members(
    _ sink: PageSink<GeoJSONWriter>, in snapshot: any ServedSnapshot
  ) throws(FieldpackError) -> [UInt8] {
    var text = ",\"timeStamp\":\"\(Instant.now)\",\"numberReturned\":\(sink.count)"
    if let matched = try numberMatched(sink, in: snapshot) {
      text += ",\"numberMatched\":\(matched)"
    }
    text += ",\"links\":"
    return text.utf8 + address.links(next: try next(sink, in: snapshot))
  }

  /// The parameter that the next page begins with; `nil` on the last page.
  private func next(
    _ sink: PageSink<GeoJSONWriter>, in snapshot: any ServedSnapshot
  ) throws(FieldpackError) -> ServerRequest.Parameter? {
    guard sink.hasMore else { return nil }
    // A view without a key has no ids to go on from.
    guard request.layer.schema.idColumn != nil, let id = sink.lastID else {
      return .init(QueryParameter.offset.rawValue, "\(request.offset + sink.count)")
    }
    let cursor = PageCursor(values: try sortValues(of: id, in: snapshot), id: id)
    return .init(QueryParameter.after.rawValue, cursor.text)
  }

  /// The number of features on all pages; `nil` behind the first page, which has told the number, and
  /// where counting takes too long.
  private func numberMatched(
    _ sink: PageSink<GeoJSONWriter>, in snapshot: any ServedSnapshot
  ) throws(FieldpackError) -> Int? {
    guard request.cursor == nil else { return nil }
    if request.offset == 0, !sink.hasMore { return sink.count }
    var all = request
    (all.order, all.offset, all.limit) = ([], 0, nil)
    return try snapshot.count(all.query(limit: nil, box: box), within: countingTime)
  }

  private func sortValues(
    of id: FeatureID, in snapshot: any ServedSnapshot
  ) throws(FieldpackError) -> [Value] {
    guard !request.order.isEmpty else { return [] }
    let feature = try snapshot.feature(id, in: request.layer.id)
    return request.order.map { order in
      if request.layer.idName(order.column) != nil { return id.columnValue }
      return feature?.attributes[order.column] ?? .null
    }
  }
}
