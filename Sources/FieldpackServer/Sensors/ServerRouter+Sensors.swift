import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackHTTP
import FieldpackSensors

/// The page of an operator of biometric sensors, at `/sensors`, and what it asks for.
///
/// A client needs the right to read the layers about people, and for changes the right to write them. Whoever
/// may write them can have the server ask any address for a sensor.
extension ServerRouter {
  func sensors(_ request: ServerRequest) async -> ServerResponse {
    let path = Array(request.path.dropFirst())
    guard let desk, mayRead(SensorLayers.item, request) else {
      return problem(ProblemDocument(404, "There is no such address."), request)
    }
    let methods = Self.methods(of: path)
    if let answer = answer(toMethodOf: request, taking: methods) { return answer }
    let isReading = request.method == "GET" || request.method == "HEAD"
    // A check and a preview have the server ask an address that a client has named.
    let isOfFile = isReading && path != ["check"] && path.last != "preview"
    guard isOfFile || mayWorkWithSensors(request) else {
      return problem(ProblemDocument(403, "You may not change persons and items."), request)
    }
    let isOwn = ["same-origin", "none"].contains(request.fields["Sec-Fetch-Site"] ?? "none")
    guard isOfFile || !isReading || isOwn else {
      return problem(ProblemDocument(403, "Pages of other sites may not ask this."), request)
    }
    do throws(FieldpackError) {
      if isReading { return try await read(path, desk, request) }
      return try await change(path, desk, request)
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

  /// The methods of an address. An address that is not there is only read.
  private static func methods(of path: [String]) -> [String] {
    switch (path.first, path.count) {
    case ("persons", 1): ["POST"]
    case ("persons", 2): ["GET", "HEAD", "PUT", "DELETE"]
    case ("persons", 3): ["POST"]
    case ("items", 2): ["PATCH", "DELETE"]
    case ("items", 3) where !["data", "thumbnail", "preview"].contains(path[2]): ["POST"]
    default: ["GET", "HEAD"]
    }
  }

  private func change(
    _ path: [String], _ desk: SensorDesk, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let conditions = EditConditions(request.fields)
    guard request.method != "PUT" || conditions.match != nil || !published.options.requiresIfMatch
    else {
      return problem(
        ProblemDocument(
          428, "A change needs the field If-Match with the ETag of the person as it was read."),
        request)
    }
    let body = try Self.json(request)
    guard let document = try await desk.change(request.method, path, body, conditions) else {
      return problem(
        ProblemDocument(412, "The person has been changed since it was read."), request)
    }
    do throws(FieldpackError) {
      try await desk.note(request.method, path, document)
    } catch {
      // The change is done. A client that is told of a failure would ask for the change again.
      logger.warning("a click was not logged: \(error.code.name)")
    }
    return Self.document(document)
  }

  private static func json(_ request: ServerRequest) throws(FieldpackError) -> JSONValue {
    guard !request.body.isEmpty else { return .object([]) }
    guard let value = try? JSONValueReader.read(String(decoding: request.body, as: UTF8.self)),
      case .object = value
    else { throw FieldpackError(.invalidData, "the body is no JSON object") }
    return value
  }

  private static func document(_ value: JSONValue) -> ServerResponse {
    var response = ServerResponse(200, MediaType.json, Array(value.text.utf8))
    response.fields["Cache-Control"] = "no-store"
    response.fields["ETag"] = value["tag"]?.string
    return response
  }

  // MARK: Reading

  private func read(
    _ path: [String], _ desk: SensorDesk, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    switch path {
    case []: return response(mapPage.sensors(base: base(of: request)), request)
    case ["state"]:
      let ready = await desk.ready.sorted { ($0.uri, $0.name) < ($1.uri, $1.name) }
      return Self.document(
        .members([
          "words": SensorDocuments.words,
          "isWritable": .boolean(mayWorkWithSensors(request)),
          "ready": .array(ready.map { SensorDocuments.device(SensorDevice($0)) }),
          "persons": try await desk.documents(),
        ]))
    case ["recent"]:
      guard let modality = request.text("modality").flatMap(Modality.init) else {
        throw FieldpackError(
          .invalidArgument, "the parameter 'modality' names no modality. Try: modality=Finger")
      }
      let devices = try await desk.persons.recentDevices(for: modality)
      return Self.document(.members(["devices": .array(devices.map(SensorDocuments.device))]))
    case ["check"]: return try await check(desk, request)
    case ["events"]:
      guard request.method == "GET", let sensorEvents else {
        return ServerResponse(200, fields: Self.eventFields)
      }
      let events = try await sensorEvents.stream(
        in: published.room, while: request.caller.isStillAllowed)
      return ServerResponse(200, fields: Self.eventFields, body: .stream(events))
    case _ where path.count == 2 && path[0] == "persons":
      let key = try await desk.persons.person(path[1]).key
      return Self.document(try await desk.document(ofPerson: key))
    case _ where path.count == 3 && path[0] == "items":
      return try await part(path[2], of: try await desk.persons.item(path[1]), desk, request)
    default: return problem(ProblemDocument(404, "There is no such address."), request)
    }
  }

  /// What was captured for an item, its thumbnail, or what its sensor sees now.
  private func part(
    _ name: String, of item: Item, _ desk: SensorDesk, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let role: ItemFile.Role
    switch name {
    case "data": role = .data
    case "thumbnail": role = .thumbnail
    case "preview": return try await preview(of: item, desk, request)
    default: return problem(ProblemDocument(404, "There is no such address."), request)
    }
    guard let file = try await desk.persons.files(of: item.key).first(where: { $0.role == role }),
      let bytes = try await desk.persons.content(of: file)
    else { return problem(ProblemDocument(404, "The item has no such file."), request) }
    // A browser would run a page; what is no picture is given as bytes to keep.
    let isPicture = SensorDocuments.pictures.contains(file.contentType)
    let type = isPicture ? file.contentType : "application/octet-stream"
    var answer = response(MapPage.File(type: type, bytes: bytes), request)
    answer.fields["Cache-Control"] = "private, no-store"
    return answer
  }

  private func preview(
    of item: Item, _ desk: SensorDesk, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let boundary = RandomID.make()
    let fields: HTTPFields = [
      "Content-Type": "multipart/x-mixed-replace; boundary=\(boundary)",
      "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no",
    ]
    guard request.method == "GET" else { return ServerResponse(200, fields: fields) }
    do throws(FieldpackError) {
      let frames = try await desk.preview(of: item)
      let source = PreviewSource(
        frames, boundary: boundary, while: request.caller.isStillAllowed)
      return ServerResponse(200, fields: fields, body: .stream(ResponseStream(source)))
    } catch {
      guard error.code == .unsupported || error.code == .constraint else { throw error }
      return problem(ProblemDocument(404, "The sensor of this item has no live preview."), request)
    }
  }

  private func check(
    _ desk: SensorDesk, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    guard let modality = request.text("modality").flatMap(Modality.init),
      let type = request.text("submodality").flatMap(CaptureType.init(named:))
    else {
      throw FieldpackError(
        .invalidArgument,
        "the parameters do not name what is to be captured. Try: modality=Finger&submodality=LeftSlap"
      )
    }
    var check = SensorCheck.blank
    if let address = SensorAddress(typed: request.text("uri") ?? "", name: "") {
      check = await SensorCheck(of: address, for: modality, type, cameras: desk.cameras)
    }
    return Self.document(
      .members(["result": .text(check.name), "text": .text(check.text)]))
  }
}
