import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP

/// The captures of the file, at `/captures`.
extension ServerRouter {
  func captures(
    _ path: [String], _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let catalogue = CaptureCatalogue(try published.store)
    guard let token = path.first else { return try await list(of: catalogue, request) }
    let capture: Capture
    do throws(FieldpackError) {
      capture = try await catalogue.capture(token)
    } catch {
      guard error.code == .notFound else { throw error }
      return problem(ProblemDocument(404, "There is no such capture."), request)
    }
    switch path.dropFirst().first {
    case nil: return document(try await description(of: capture, in: catalogue, request), request)
    case "info": return document(capture.info.document, request)
    case "geodata": return document(try await catalogue.geodata(of: capture).document, request)
    case "media": return try await media(.media, of: capture, in: catalogue, request)
    case "thumbnail": return try await media(.thumbnail, of: capture, in: catalogue, request)
    default: return problem(ProblemDocument(404, "There is no such address."), request)
    }
  }

  private func document(_ json: JSONValue, _ request: ServerRequest) -> ServerResponse {
    let bytes = Array(json.text.utf8)
    let tag = PublishedStore.tag(of: bytes)
    if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
      return ServerResponse(304, fields: ["ETag": tag])
    }
    return ServerResponse(
      200, fields: ["Content-Type": MediaType.json, "ETag": tag], body: .bytes(bytes))
  }

  // MARK: Lists

  private func list(
    of catalogue: CaptureCatalogue, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    func number(
      _ name: String, _ usual: Int, _ allowed: ClosedRange<Int>
    ) throws(FieldpackError) -> Int {
      guard let text = request.text(name) else { return usual }
      guard let number = Int(text), allowed.contains(number) else {
        throw FieldpackError(
          .invalidArgument,
          "\(name) is no number from \(allowed.lowerBound) to \(allowed.upperBound)")
      }
      return number
    }
    let limit: Int
    let offset: Int
    do throws(FieldpackError) {
      limit = try number("limit", 100, 1...1000)
      offset = try number("offset", 0, 0...1_000_000_000)
    } catch {
      return problem(error, request, while: .parameters)
    }
    let (captures, total) = try await catalogue.page(limit: limit, offset: offset)
    let base = base(of: request).text + "/captures"
    let hasMore = offset + captures.count < total && !captures.isEmpty
    return document(
      .members([
        "captures": .array(
          captures.map { capture in
            Self.members(
              [("href", .text(address(of: capture, request)))], before: capture.info.document)
          }),
        "numberMatched": JSONValue(total), "numberReturned": JSONValue(captures.count),
        "next": hasMore
          ? .text("\(base)?limit=\(limit)&offset=\(offset + captures.count)") : nil,
      ]), request)
  }

  private static func members(
    _ first: [(String, JSONValue)], before json: JSONValue
  ) -> JSONValue {
    guard case .object(let members) = json else { return json }
    return .object(first.map { .init(name: $0.0, value: $0.1) } + members)
  }

  func address(of capture: Capture, _ request: ServerRequest) -> String {
    "\(base(of: request).text)/captures/\(PercentText.encode(capture.info.token))"
  }

  // MARK: One capture

  /// The capture with its geo-data, and its files with their digests.
  private func description(
    of capture: Capture, in catalogue: CaptureCatalogue, _ request: ServerRequest
  ) async throws(FieldpackError) -> JSONValue {
    [
      "token": .text(capture.info.token), "key": .text(capture.key.description),
      "info": capture.info.document,
      "geodata": try await catalogue.geodata(of: capture).document,
      "files": .array(
        try await catalogue.files(of: capture).map { file in
          Self.members(
            [("href", .text("\(address(of: capture, request))/\(file.role.rawValue)"))],
            before: file.json)
        }),
    ]
  }

  // MARK: Files

  func media(
    _ role: CaptureRole, of capture: Capture, in catalogue: CaptureCatalogue,
    _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let found = try await catalogue.files(of: capture).first { $0.role == role }
    let layer = CaptureLayers.media
    guard let found,
      let length = try await published.store.read({
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        try snapshot.mediaLength(found.id, in: layer)
      })
    else {
      return problem(ProblemDocument(404, "The capture does not have that file."), request)
    }
    var fields = Self.fields(of: found)
    if Negotiation.has(fields["ETag"] ?? "", in: request.fields["If-None-Match"]) {
      return ServerResponse(304, fields: fields)
    }
    // A client that goes on with another version of the file needs the whole file.
    let isSame = request.fields["If-Range"].map { $0 == fields["ETag"] } ?? true
    var range = 0..<length
    switch ByteRange(isSame ? request.fields["Range"] : nil, length: length) {
    case .whole: break
    case .part(let part):
      range = part
      fields["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
    case .unsatisfiable:
      var response = problem(ProblemDocument(416, "The file has no such bytes."), request)
      response.fields["Content-Range"] = "bytes */\(length)"
      return response
    }
    let needsRoom = request.method != "HEAD" && range.count > ResponseStream.fewBytes
    let place = needsRoom ? published.room.place(for: range.count, of: request.caller.name) : nil
    guard !needsRoom || place != nil else {
      var busy = problem(
        ProblemDocument(503, "Too many files are on their way. Try again soon."), request)
      busy.fields["Retry-After"] = "5"
      return busy
    }
    let stream = ResponseStream(length: range.count, in: place)
    if request.method != "HEAD" { send(range, of: found, to: stream) }
    return ServerResponse(
      fields["Content-Range"] == nil ? 200 : 206, fields: fields, body: .stream(stream))
  }

  private static func fields(of found: StoredFile) -> HTTPFields {
    var fields: HTTPFields = [
      "Content-Type": found.contentType, "Accept-Ranges": "bytes",
      // A file of HTML must not run as a page of this site.
      "Content-Security-Policy": "default-src 'none'; sandbox",
    ]
    if isDigest(found.sha256) { fields["ETag"] = "\"\(found.sha256)\"" }
    return fields
  }

  /// Whether a text is a SHA-256 digest in small hexadecimal digits; a file by others may hold any
  /// text in its place.
  private static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Reads the bytes once, in one state of the file; a client that takes them slowly keeps no reader.
  private func send(_ range: Range<Int>, of found: StoredFile, to stream: ResponseStream) {
    let (published, logger) = (published, logger)
    Task {
      do throws(FieldpackError) {
        try await published.store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
          try snapshot.readMedia(found.id, in: CaptureLayers.media, range) {
            (bytes) throws(FieldpackError) in try stream.send(bytes)
          }
        }
        stream.finish()
      } catch {
        if error.code != .interrupted {
          logger.error("a file was not sent", ["reason": .text("\(error)")])
        }
        stream.fail()
      }
    }
  }
}

extension StoredFile {
  var json: JSONValue {
    [
      "role": .text(role.rawValue), "file_name": JSONValue(name),
      "content_type": .text(contentType), "byte_count": JSONValue(byteCount),
      "sha256": .text(sha256),
    ]
  }
}
