import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry

/// Reads the features that a request asks for and writes them.
struct ItemsPage: Sendable {
  let request: ItemsRequest
  let store: GeoPackageStore
  /// The condition of the request's box.
  let box: Filter?
  /// The address of the request without its place in the list and its format.
  let address: PageAddress

  /// Coordinates of a list are rounded to less than a millimetre.
  private var decimals: Int { request.crs.srs == .wgs84 ? 8 : 4 }

  private var geoJSON: GeoJSONWriter.Options {
    var options = GeoJSONWriter.Options()
    options.decimals = decimals
    options.swapsAxes = request.swapsAxes
    return options
  }

  /// A page as a FeatureCollection, with links.
  func collection(limit: Int) async -> PageStart.Outcome {
    await write { (start, snapshot) throws(FieldpackError) in
      var sink = PageSink(limit, start: start) { GeoJSONWriter($0, options: geoJSON) }
      try snapshot.scan(request.query(limit: limit + 1, box: box), into: &sink)
      try sink.writer.finish(with: try members(sink, in: snapshot))
      return sink.output.buffer
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
      options.decimals = decimals
      return try text(start, snapshot) { CSVWriter($0, options: options) }
    }
  }

  func gpx() async -> PageStart.Outcome {
    await write { (start, snapshot) throws(FieldpackError) in
      try text(start, snapshot) { GPXWriter($0) }
    }
  }

  private func text<Writer: FeatureTextWriter>(
    _ start: PageStart, _ snapshot: GeoPackageSnapshot, writer: (ByteOutput) -> Writer
  ) throws(FieldpackError) -> [UInt8] {
    var sink = PageSink(request.limit, start: start, writer: writer)
    try snapshot.scan(request.query(limit: request.limit, box: box), into: &sink)
    try sink.writer.finish()
    return sink.output.buffer
  }

  /// Reads one state of the file. The reader goes back as soon as all is read, however slow the client is.
  private func write(
    _ body: @escaping @Sendable (PageStart, GeoPackageSnapshot) throws(FieldpackError) -> [UInt8]
  ) async -> PageStart.Outcome {
    let start = PageStart()
    let store = store
    Task {
      do throws(FieldpackError) {
        let rest = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
          try body(start, snapshot)
        }
        start.finish(rest)
      } catch {
        start.fail(error)
      }
    }
    return await start.outcome
  }

  // MARK: Members

  private func members(
    _ sink: PageSink<GeoJSONWriter>, in snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> String {
    var text = ",\"timeStamp\":\"\(Instant.now)\",\"numberReturned\":\(sink.count)"
    if let matched = try numberMatched(sink, in: snapshot) {
      text += ",\"numberMatched\":\(matched)"
    }
    var cursor: PageCursor?
    if sink.hasMore, let id = sink.lastID {
      cursor = PageCursor(values: try sortValues(of: id, in: snapshot), id: id)
    }
    let links = address.links(next: cursor?.text).map(\.json)
    var bytes: [UInt8] = []
    JSONValue.array(links).append(to: &bytes)
    return text + ",\"links\":" + String(decoding: bytes, as: UTF8.self)
  }

  /// The number of features on all pages. Behind the first page it is left out, because whoever is there
  /// knows it.
  private func numberMatched(
    _ sink: PageSink<GeoJSONWriter>, in snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> Int? {
    guard request.cursor == nil else { return nil }
    if request.offset == 0, !sink.hasMore { return sink.count }
    var all = request
    (all.order, all.offset, all.limit) = ([], 0, nil)
    return try snapshot.count(all.query(limit: nil, box: box))
  }

  private func sortValues(
    of id: FeatureID, in snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> [Value] {
    guard !request.order.isEmpty else { return [] }
    let feature = try snapshot.feature(id, in: request.layer.id)
    return request.order.map { order in
      if request.layer.idName(order.column) != nil, case .integer(let number) = id {
        return .integer(number)
      }
      return feature?.attributes[order.column] ?? .null
    }
  }
}

/// The address of a list of features, from which those of its other pages and formats are made.
struct PageAddress: Sendable {
  let base: LinkBase
  let path: [String]
  let query: [ServerRequest.Parameter]
  /// The name that `f` has for the format of the page.
  let format: String

  /// The links of a page.
  func links(next: String?) -> [ServerLink] {
    var links: [ServerLink] = []
    for (name, type) in ServerOperation.getItems.formats {
      let isOwn = name == format
      links.append(
        ServerLink(
          isOwn ? "self" : "alternate", href(leavingOut: ["f"], adding: [("f", name)]),
          type: MediaType.name(type)))
    }
    if let next {
      links.append(
        ServerLink(
          "next",
          href(leavingOut: ["f", "after", "offset"], adding: [("f", format), ("after", next)]),
          type: MediaType.geoJSON))
    }
    links.append(
      ServerLink("collection", base.href(Array(path.prefix(2))), type: MediaType.json))
    return links
  }

  private func href(leavingOut names: Set<String>, adding more: [(String, String)]) -> String {
    let kept = query.filter { !names.contains($0.name) }.map { ($0.name, $0.value) } + more
    let text = kept.map { "\(PercentText.encode($0.0))=\(PercentText.encode($0.1))" }
    return base.href(path) + (text.isEmpty ? "" : "?" + text.joined(separator: "&"))
  }
}
