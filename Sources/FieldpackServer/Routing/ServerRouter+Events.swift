import FieldpackCore
import FieldpackField
import FieldpackGeometry
import FieldpackHTTP

/// The events of the file, as server-sent events.
extension ServerRouter {
  private enum Parameter: String, CaseIterable {
    case collections, events, filter, bbox, regions, since, last
    case filterLanguage = "filter-lang"
  }

  /// - Parameter collection: the collection to follow; `nil` for all.
  func follow(_ collection: String?, _ request: ServerRequest) async -> ServerResponse {
    if let answer = answer(toMethodOf: request, taking: ["GET", "HEAD"]) { return answer }
    do throws(FieldpackError) {
      let documents = shown(try await published.documents(), to: request)
      let layer = collection.flatMap { documents.layer(CollectionName.layer($0)) }
      guard collection == nil || layer != nil else {
        return problem(ProblemDocument(404, "There is no such collection."), request)
      }
      var query = try Self.query(request, layer, documents.layers, by: axes)
      // A caller who may not read every layer follows those that the caller may read.
      if query.layers == nil, request.caller.rights?.readEverything == false {
        query.layers = Self.known(documents.layers)
      }
      query.layers = query.layers?.filter { mayRead($0, request) }
      return try await stream(query, request)
    } catch {
      return problem(error, request, while: .parameters)
    }
  }

  /// The fields of an answer of server-sent events.
  static let eventFields: HTTPFields = [
    "Content-Type": "text/event-stream", "Cache-Control": "no-store, no-transform",
    // Without this field nginx keeps events back until it has many.
    "X-Accel-Buffering": "no",
  ]

  private func stream(
    _ query: EventQuery, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let place = try await start(of: request)
    guard request.method == "GET" else { return ServerResponse(200, fields: Self.eventFields) }
    let (channel, client) = try await events.follow(query)
    do throws(FieldpackError) {
      // Events that come while the head is read are sent after the head.
      let position = channel.position
      let head = try await head(request, channel)
      let events = events
      let source = EventStream(
        channel, client: client, head: head, from: place, at: position,
        isStillAllowed: request.caller.isStillAllowed
      ) {
        (place, channel) in await events.missedBytes(after: place, in: channel)
      }
      return ServerResponse(200, fields: Self.eventFields, body: .stream(ResponseStream(source)))
    } catch {
      channel.leave(client)
      throw error
    }
  }

  /// The place that the client has read to; `nil` for a client that begins now. A browser that connects
  /// again sends the field with its first address, so that the field counts before `since`.
  private func start(of request: ServerRequest) async throws(FieldpackError) -> EventPlace? {
    let id = request.fields["Last-Event-ID"].flatMap { $0.isEmpty ? nil : $0 }
    guard let text = id ?? Self.value(.since, request) else { return nil }
    if let place = EventPlace(text) { return place }
    guard id == nil, let time = Instant(text) else {
      throw FieldpackError(
        .invalidArgument,
        "'\(text)' is neither the id of an event nor a time such as 2024-05-01T10:00:00Z")
    }
    return try await events.place(since: time)
  }

  /// What every client gets first.
  private func head(
    _ request: ServerRequest, _ channel: EventChannel
  ) async throws(FieldpackError) -> [UInt8] {
    let layers = channel.test.query.layers
    let unlogged = try await events.unlogged().filter { layers?.contains($0) ?? true }
      .map { String($0.rawValue.map { $0.isNewline ? " " : $0 }) }.sorted()
    var head = "retry: 1000\n"
    if !unlogged.isEmpty {
      head += ": not told again, for want of a change log: \(unlogged.joined(separator: ", "))\n"
    }
    var bytes = Array((head + "\n").utf8)
    guard Self.value(.last, request) == "1" else { return bytes }
    let (positions, _) = try await events.positions(since: [:], in: channel)
    for event in positions { bytes += event.lines() }
    return bytes
  }

  // MARK: Parameters

  private static func value(_ parameter: Parameter, _ request: ServerRequest) -> String? {
    request.text(parameter.rawValue)
  }

  private static func query(
    _ request: ServerRequest, _ layer: ServedLayer?, _ all: [ServedLayer], by axes: CRSAxes
  ) throws(FieldpackError) -> EventQuery {
    for parameter in request.query where Parameter(rawValue: parameter.name) == nil {
      let known = Parameter.allCases.map(\.rawValue)
      throw FieldpackError(
        .invalidArgument,
        "there is no parameter '\(parameter.name)' here"
          + NearNames.question(parameter.name, in: known))
    }
    var query = EventQuery()
    query.layers = try layers(request, layer, all)
    let last = value(.last, request) ?? "0"
    guard last == "0" || last == "1" else {
      throw FieldpackError(.invalidArgument, "last is neither 0 nor 1")
    }
    if let text = value(.events, request) {
      query.kinds = []
      for name in text.split(separator: ",") {
        guard let kind = LiveEvent.Kind(rawValue: String(name)) else {
          let known = LiveEvent.Kind.allCases.map(\.rawValue)
          throw FieldpackError(
            .invalidArgument,
            "there is no event '\(name)'. Try: \(known.joined(separator: ", "))")
        }
        query.kinds.insert(kind)
      }
    }
    if last == "1" {
      query.kinds.insert(.position)
      query.layers?.insert(FieldData.state)
    }
    if let text = value(.bbox, request) { query.box = try box(text) }
    if let name = value(.regions, request) {
      guard
        all.contains(where: { $0.id == CollectionName.layer(name) && $0.schema.geometry != nil })
      else {
        throw FieldpackError(.invalidArgument, "there is no collection '\(name)' with regions")
      }
      query.regions = CollectionName.layer(name)
    }
    if let text = value(.filter, request) {
      let asked = all.filter { query.layers?.contains($0.id) ?? true }
      query.filter = try filter(text, value(.filterLanguage, request), of: asked, by: axes)
    }
    return query
  }

  private static func layers(
    _ request: ServerRequest, _ layer: ServedLayer?, _ all: [ServedLayer]
  ) throws(FieldpackError) -> Set<LayerID>? {
    if let layer { return [layer.id] }
    guard let text = value(.collections, request) else { return nil }
    let known = known(all)
    var layers: Set<LayerID> = []
    for name in text.split(separator: ",") {
      let layer = CollectionName.layer(String(name))
      guard known.contains(layer) else {
        throw FieldpackError(
          .invalidArgument,
          "there is no collection '\(name)'"
            + NearNames.question(String(name), in: known.map(\.rawValue)))
      }
      layers.insert(layer)
    }
    return layers
  }

  private static func known(_ layers: [ServedLayer]) -> Set<LayerID> {
    // The layers of detections and states are made with the first position.
    Set(layers.map(\.id) + [FieldData.detection, FieldData.state])
  }

  private static func box(_ text: String) throws(FieldpackError) -> Envelope {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
      Double($0) ?? .nan
    }
    let isBox = numbers.count == 4 && numbers.allSatisfy(\.isFinite)
    guard isBox, numbers[1] <= numbers[3],
      CQL2.rectangle(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
        != nil
    else {
      throw FieldpackError(
        .invalidArgument, "bbox is not four numbers, west, south, east and north: '\(text)'")
    }
    return Envelope(minX: numbers[0], minY: numbers[1], maxX: numbers[2], maxY: numbers[3])
  }

  /// The condition; at least one of the layers must have its columns.
  private static func filter(
    _ text: String, _ language: String?, of layers: [ServedLayer], by axes: CRSAxes
  ) throws(FieldpackError) -> Filter {
    var failure = FieldpackError(.invalidArgument, "there is no collection to filter")
    for layer in layers {
      do throws(FieldpackError) {
        return try FilterParameter.filter(text, language: language, crs: nil, of: layer, by: axes)
      } catch { failure = error }
    }
    throw failure
  }
}
