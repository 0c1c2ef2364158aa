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
    // A check has the server ask an address that the client names.
    guard (isReading && path != ["check"]) || mayWorkWithSensors(request) else {
      return problem(ProblemDocument(403, "You may not change persons and items."), request)
    }
    do throws(FieldpackError) {
      if isReading { return try await read(path, desk, request) }
      let body = try Self.json(request)
      let document = try await desk.change(request.method, path, body)
      try await desk.note(request.method, path, document)
      return Self.document(document)
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

  private static func document(_ value: JSONValue) -> ServerResponse {
    var response = ServerResponse(200, MediaType.json, Array(value.text.utf8))
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
      guard let modality = request.text("modality").flatMap(Modality.init) else {
        throw FieldpackError(
          .invalidArgument, "the parameter 'modality' names no modality. Try: modality=Finger")
      }
      let devices = try await desk.persons.recentDevices(for: modality)
      return Self.document(.members(["devices": .array(devices.map(SensorDocuments.device))]))
    case ["check"]: return try await check(request)
    case ["events"]:
      guard request.method == "GET" else {
        return ServerResponse(200, fields: Self.eventFields)
      }
      let events = SensorEvents(
        desk: desk, room: file.room, isStillAllowed: request.caller.isStillAllowed)
      return ServerResponse(200, fields: Self.eventFields, body: .stream(try events.stream()))
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
    // A browser would run a page; what is no picture is given as bytes to keep.
    let isPicture = SensorDocuments.pictures.contains(file.contentType)
    let type = isPicture ? file.contentType : "application/octet-stream"
    var answer = response(MapPage.File(type: type, bytes: bytes), request)
    answer.fields["Cache-Control"] = "private, no-store"
    return answer
  }

  private func check(_ request: ServerRequest) async throws(FieldpackError) -> ServerResponse {
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
      check = await SensorCheck(of: address, for: modality, type, allowsCameras: false)
    }
    return Self.document(
      .members(["result": .text(check.name), "text": .text(check.text)]))
  }
}
