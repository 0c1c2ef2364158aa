import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackHTTP
import FieldpackSensors

/// The page of an operator of biometric sensors, at `/sensors`, and what it asks for.
///
/// All of it needs the right to read the layers about people, and what changes something the right to
/// write them: whoever has it may have the server ask sensors of any address.
extension ServerRouter {
  func sensors(_ request: ServerRequest) async -> ServerResponse {
    let path = Array(request.path.dropFirst())
    guard let desk, mayRead(SensorLayers.item, request) else {
      return problem(ProblemDocument(404, "There is no such address."), request)
    }
    let methods = Self.methods(of: path)
    if let answer = answer(toMethodOf: request, taking: methods) { return answer }
    let isReading = request.method == "GET" || request.method == "HEAD"
    // A check asks an address that the page gives.
    guard (isReading && path != ["check"]) || mayWorkWithSensors(request) else {
      return problem(ProblemDocument(403, "You may not change persons and items."), request)
    }
    do throws(FieldpackError) {
      if isReading { return try await read(path, desk, request) }
      let body = try Self.json(request)
      return Self.document(
        try await path.first == "persons"
          ? changePerson(Array(path.dropFirst()), body, desk, request)
          : changeItem(Array(path.dropFirst()), body, desk, request))
    } catch {
      // What the path names is not there, be it read or changed.
      let isOfPath = isReading || error.code == .notFound
      return problem(error, request, while: isOfPath ? .resource : .body)
    }
  }

  /// A capture writes all of these layers.
  private func mayWorkWithSensors(_ request: ServerRequest) -> Bool {
    let layers = [SensorLayers.person, SensorLayers.item, SensorLayers.device, SensorLayers.media]
    return layers.allSatisfy { mayWrite($0, request) }
  }

  /// What an address takes; an address that there is not takes nothing but reading.
  private static func methods(of path: [String]) -> [String] {
    switch (path.first, path.count) {
    case ("persons", 1): ["POST"]
    case ("persons", 2): ["PUT", "DELETE"]
    case ("persons", 3): ["POST"]
    case ("items", 2): ["PATCH", "DELETE"]
    case ("items", 3) where path[2] != "data" && path[2] != "thumbnail": ["POST"]
    default: ["GET", "HEAD"]
    }
  }

  private static func json(_ request: ServerRequest) throws(FieldpackError) -> JSONValue {
    guard !request.body.isEmpty else { return .object([]) }
    guard let value = try? JSONValueReader.read(String(decoding: request.body, as: UTF8.self)),
      case .object = value
    else { throw FieldpackError(.invalidData, "the body is no JSON object") }
    return value
  }

  private static func document(_ value: JSONValue, status: Int = 200) -> ServerResponse {
    var response = ServerResponse(status, MediaType.json, Array(value.text.utf8))
    response.fields["Cache-Control"] = "no-store"
    return response
  }

  // MARK: Reading

  private func read(
    _ path: [String], _ desk: SensorDesk, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    switch path {
    case []: return response(mapPage.sensors(base: base(of: request)), request)
    case ["state"]:
      return Self.document(
        .members([
          "words": SensorDocuments.words,
          "isWritable": .boolean(mayWorkWithSensors(request)),
          "persons": try await desk.documents(),
        ]))
    case ["recent"]:
      guard let modality = request.last("modality").flatMap(Modality.init) else {
        throw FieldpackError(.invalidArgument, "'modality' is none")
      }
      let devices = try await desk.persons.recentDevices(for: modality)
      return Self.document(.members(["devices": .array(devices.map(SensorDocuments.device))]))
    case ["check"]: return try await check(request)
    case ["events"]:
      let fields: HTTPFields = [
        "Content-Type": "text/event-stream", "Cache-Control": "no-store, no-transform",
        "X-Accel-Buffering": "no",
      ]
      guard request.method == "GET" else { return ServerResponse(200, fields: fields) }
      let events = SensorEvents(
        desk: desk, room: file.room, isStillAllowed: request.caller.isStillAllowed)
      return ServerResponse(200, fields: fields, body: .stream(try events.stream()))
    default: break
    }
    guard path.count == 3, path[0] == "items",
      let role: ItemFile.Role = path[2] == "data"
        ? .data : path[2] == "thumbnail" ? .thumbnail : nil
    else { return problem(ProblemDocument(404, "There is no such address."), request) }
    let item = try await desk.persons.item(path[1])
    guard let file = try await desk.persons.files(of: item.key).first(where: { $0.role == role }),
      let bytes = try await desk.persons.content(of: file)
    else { return problem(ProblemDocument(404, "The item has no such file."), request) }
    var answer = response(
      MapPage.File(type: Self.shownType(file.contentType), bytes: bytes), request)
    answer.fields["Cache-Control"] = "private, no-store"
    return answer
  }

  /// What a browser may show: anything else, such as a page, is only handed on.
  private static func shownType(_ type: String) -> String {
    ["image/png", "image/jpeg", "image/bmp"].contains(type) ? type : "application/octet-stream"
  }

  private func check(_ request: ServerRequest) async throws(FieldpackError) -> ServerResponse {
    guard let modality = request.last("modality").flatMap(Modality.init),
      let type = request.last("submodality").flatMap(CaptureType.init(named:))
    else { throw FieldpackError(.invalidArgument, "'modality' or 'submodality' is none") }
    var check = SensorCheck.blank
    if let address = SensorAddress(typed: request.last("uri") ?? "", name: "") {
      check = await SensorCheck(of: address, for: modality, type, allowsCameras: false)
    }
    return Self.document(
      .members(["result": .text(check.name), "text": .text(check.text)]))
  }

  // MARK: Changing

  private func changePerson(
    _ path: [String], _ body: JSONValue, _ desk: SensorDesk, _ request: ServerRequest
  ) async throws(FieldpackError) -> JSONValue {
    guard let name = path.first else {
      let person = try await desk.persons.add(try SensorDocuments.details(body))
      return try await changed(person.key, desk)
    }
    let key = try await desk.persons.person(name).key
    switch (request.method, path.count == 2 ? path[1] : nil) {
    case ("PUT", nil): try await desk.persons.edit(key, to: try SensorDocuments.details(body))
    case ("DELETE", nil):
      for item in try await desk.persons.items(of: key) { await desk.reset(item.key) }
      try await desk.persons.delete([key])
      desk.changes.send(.gone(person: key))
      return .object([])
    case ("POST", "duplicate"):
      return try await changed(try await desk.persons.duplicate(key).key, desk)
    case ("POST", "select"): try await desk.select(person: key)
    case ("POST", "items"):
      try await desk.persons.add(try SensorDocuments.draft(body), to: key)
    default: throw FieldpackError(.notFound, "there is no such address")
    }
    return try await changed(key, desk)
  }

  private func changed(_ person: KeyTuple, _ desk: SensorDesk) async throws(FieldpackError)
    -> JSONValue
  {
    desk.changes.send(.person(person))
    return try await desk.document(ofPerson: person)
  }

  private func changeItem(
    _ path: [String], _ body: JSONValue, _ desk: SensorDesk, _ request: ServerRequest
  ) async throws(FieldpackError) -> JSONValue {
    let item = try await desk.persons.item(path.first ?? "")
    switch (request.method, path.count == 2 ? path[1] : nil) {
    case ("DELETE", nil):
      await desk.reset(item.key)
      try await desk.persons.delete(items: [item.key])
      return try await changed(item.person, desk)
    case ("PATCH", nil): return try await edit(item, body, desk)
    case ("POST", "tap"): try await desk.tap(item)
    case ("POST", "select"): try await desk.select(item)
    case ("POST", "clear"):
      await desk.reset(item.key)
      try await desk.persons.clear([item.key])
      desk.changes.send(.item(item.key))
    default: throw FieldpackError(.notFound, "there is no such address")
    }
    return try await desk.document(ofItem: item.key)
  }

  private func edit(
    _ item: Item, _ body: JSONValue, _ desk: SensorDesk
  ) async throws(FieldpackError) -> JSONValue {
    if body["modality"] != nil {
      var draft = try SensorDocuments.draft(body)
      draft.position = item.position
      let address = draft.device?.address
      if var kept = item.device, body["device"] == nil || kept.address.uri == address?.uri {
        // The page knows nothing of the other parameters of the sensor.
        kept.address = address ?? kept.address
        draft.device = kept
      }
      await desk.reset(item.key)
      try await desk.persons.set(item.key, to: draft)
    }
    let annotations = try SensorDocuments.annotations(body)
    let notes = try SensorDocuments.text("notes", body)
    if annotations != nil || notes != nil {
      try await desk.persons.annotate(item.key, annotations, notes: notes)
    }
    if let index = body["index"] {
      guard case .integer(let number) = index, number >= 0 else {
        throw FieldpackError(.invalidData, "'index' is no place in a row")
      }
      try await desk.persons.move(item.key, to: Int(number))
      return try await changed(item.person, desk)
    }
    desk.changes.send(.item(item.key))
    return try await desk.document(ofItem: item.key)
  }
}

extension ServerRequest {
  fileprivate func last(_ name: String) -> String? { query.last { $0.name == name }?.value }
}
