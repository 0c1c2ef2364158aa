import FieldpackCore

/// The receiver for whoever listens by HTTP.
extension SyncPeer {
  /// Answers a request, whatever it is.
  ///
  /// ```
  /// GET  /sync/layers                         {"layers": […]}
  /// GET  /sync/edits?layer=&after=&limit=     {"edits": […], "position": 7, "last": true}
  /// GET  /sync/edit?layer=&position=          {"edit_id": "…"}
  /// POST /sync/edits?layer=                   {"edits": […]} gives
  ///                                           {"answers": […], "before": 5, "position": 7, "edit_id": "…"}
  /// ```
  ///
  /// A body is at most 16 MiB, with at most 10,000 edits; so is `limit`, which is 1000 where it is not
  /// given. Errors are `{"error": {"code", "message"}}` with one of the statuses 400, 404, 405, 409,
  /// 413, 422, 500 and 503.
  ///
  /// - Parameters:
  ///   - path: from the root of the server on.
  ///   - query: as it came, without the question mark.
  public func respond(
    to method: String, path: String, query: String = "", body: [UInt8] = []
  ) async -> SyncResponse {
    do throws(FieldpackError) {
      guard body.count <= SyncResponse.Limit.request else {
        throw Self.refusal(413, "the body is larger than 16 MiB")
      }
      return SyncResponse(status: 200, body: try await answer(method, path, query, body))
    } catch {
      return SyncResponse(error)
    }
  }

  private static func refusal(
    _ status: Int, _ message: String, _ code: FieldpackError.Code = .invalidArgument
  ) -> FieldpackError {
    FieldpackError(code, message, underlying: SyncStatus(number: status))
  }

  private func answer(
    _ method: String, _ path: String, _ query: String, _ body: [UInt8]
  ) async throws(FieldpackError) -> [UInt8] {
    guard ["/sync/layers", "/sync/edits", "/sync/edit"].contains(path) else {
      throw FieldpackError(.notFound, "the receiver has no such address")
    }
    let values = try Self.values(of: query)
    switch (method, path) {
    case ("GET", "/sync/layers"):
      let layers = try await layers()
      return SyncJSON.bytes(JSONValue.members(["layers": .array(layers.map(\.json))]))
    case ("GET", "/sync/edits"):
      let after = try Self.number("after", in: values, 0...(.max), default: 0)
      let limit = try Self.number(
        "limit", in: values, 1...Int64(SyncResponse.Limit.edits), default: 1000)
      return try await page(of: Self.layer(in: values), after: after, limit: Int(limit))
    case ("GET", "/sync/edit"):
      let position = try Self.number("position", in: values, 0...(.max))
      let id = try await edit(at: position, of: Self.layer(in: values))
      return SyncJSON.bytes(JSONValue.members(["edit_id": id.map { .text($0) } ?? .null]))
    case ("POST", "/sync/edits"):
      return try await receive(body, of: Self.layer(in: values))
    default:
      throw Self.refusal(405, "the receiver does not take \(method) there")
    }
  }

  // MARK: Queries

  private static func values(of query: String) throws(FieldpackError) -> [String: String] {
    guard let pairs = PercentText.decodePairs(query[...]) else {
      throw refusal(400, "the query has a broken percent escape")
    }
    return Dictionary(pairs.map { ($0.name, $0.value) }) { _, last in last }
  }

  private static func layer(in values: [String: String]) throws(FieldpackError) -> LayerID {
    guard let name = values["layer"], !name.isEmpty else {
      throw refusal(400, "the query names no layer")
    }
    return LayerID(name)
  }

  private static func number(
    _ name: String, in values: [String: String], _ range: ClosedRange<Int64>,
    default standard: Int64? = nil
  ) throws(FieldpackError) -> Int64 {
    guard let text = values[name] else {
      if let standard { return standard }
      throw refusal(400, "the query has no \(name)")
    }
    guard let number = Int64(text), range.contains(number) else {
      throw refusal(
        400, "\(name) is no number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  // MARK: Giving out

  /// A page that ends with the edit that makes it larger than 1 MiB, or after so many edits.
  private func page(
    of layer: LayerID, after start: Int64, limit: Int
  ) async throws(FieldpackError) -> [UInt8] {
    var bytes = Array(#"{"edits":["#.utf8)
    var (position, left, isLast, isFull) = (start, limit, false, false)
    while left > 0, !isLast, !isFull {
      let size = min(left, 200)
      left -= size
      let page = try await edits(of: layer, after: position, limit: size)
      for edit in page.edits where !isFull {
        if bytes.last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
        edit.append(to: &bytes)
        position = edit.position
        isFull = bytes.count >= SyncResponse.Limit.page
      }
      guard !isFull else { break }
      (position, isLast) = (page.position, page.isLast)
    }
    bytes += #"],"position":\#(position),"last":\#(isLast)}"#.utf8
    return bytes
  }

  // MARK: Receiving

  private func receive(
    _ body: [UInt8], of layer: LayerID
  ) async throws(FieldpackError) -> [UInt8] {
    let document: JSONValue
    do throws(FieldpackError) { document = try SyncJSON.read(body) } catch {
      throw Self.refusal(400, error.message, error.code)
    }
    let items = try SyncJSON.list("edits", of: document)
    guard items.count <= SyncResponse.Limit.edits else {
      throw Self.refusal(413, "the body has more than \(SyncResponse.Limit.edits) edits")
    }
    var edits: [SyncEdit] = []
    edits.reserveCapacity(items.count)
    for item in items { edits.append(try SyncEdit(fromOutside: item)) }
    return try await send(edits, of: layer).bytes
  }
}

extension SyncEdit {
  /// An edit that somebody else wrote.
  init(fromOutside json: JSONValue) throws(FieldpackError) {
    try self.init(json)
    for name in [id, identity] where name.isEmpty || name.utf8.count > SyncResponse.Limit.name {
      throw SyncJSON.broken("a name of 1 to \(SyncResponse.Limit.name) bytes")
    }
  }
}
