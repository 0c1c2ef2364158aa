import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP

/// Captures that come in pieces, at `/uploads/NAME`.
extension ServerRouter {
  func resume(
    _ name: String, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let uploads = try devices.uploads
    switch request.method {
    case "PUT": return await put(request, in: uploads)
    case "DELETE":
      guard uploads.record(of: name) != nil else { return missing(request) }
      do throws(FieldpackError) { try uploads.discard(name) } catch {
        return UploadRefusal.response(to: error)
      }
      return ServerResponse(204)
    default:
      guard let record = uploads.record(of: name) else { return missing(request) }
      if request.method == "GET", record.token != nil || uploads.isWhole(name, record) {
        return await complete(name, record, as: nil, request, in: uploads)
      }
      return state(of: name, record, 200, in: uploads)
    }
  }

  private func missing(_ request: ServerRequest) -> ServerResponse {
    problem(ProblemDocument(404, "There is no such upload."), request)
  }

  private func put(
    _ request: ServerRequest, in uploads: ResumableUploads
  ) async -> ServerResponse {
    if let refusing = request.receiver as? RefusingReceiver { return refusing.answer }
    let name = request.path[1]
    if request.receiver is DoneReceiver, let record = uploads.record(of: name) {
      return await complete(name, record, as: nil, request, in: uploads)
    }
    guard let receiver = request.receiver as? PieceReceiver else { return missing(request) }
    do throws(FieldpackError) {
      try receiver.finish()
    } catch {
      return UploadRefusal.response(to: error)
    }
    guard let record = uploads.record(of: receiver.name) else { return missing(request) }
    guard receiver.piece.range.upperBound == record.total else {
      // The client may send its next request as soon as it has this answer. That request has to find the
      // upload without a writer.
      uploads.end(receiver.writer, of: receiver.name)
      return state(of: receiver.name, record, 202, in: uploads)
    }
    return await complete(receiver.name, record, as: receiver.writer, request, in: uploads)
  }

  /// How far an upload is.
  private func state(
    of name: String, _ record: ResumableUploads.Record, _ status: Int,
    in uploads: ResumableUploads
  ) -> ServerResponse {
    let offset = record.token == nil ? uploads.offset(of: name) : record.total
    let json: JSONValue = [
      "id": .text(name), "state": record.token == nil ? "incomplete" : "complete",
      "offset": JSONValue(offset), "length": JSONValue(record.total),
    ]
    return ServerResponse(
      status,
      fields: [
        "Content-Type": MediaType.json, "Cache-Control": "no-store",
        "Upload-Offset": "\(offset)", "Upload-Length": "\(record.total)",
      ], body: .bytes(Array(json.text.utf8)))
  }

  // MARK: At the end

  /// Stores the capture of an upload that is whole, where that is not done yet, and gives the receipt.
  private func complete(
    _ name: String, _ record: ResumableUploads.Record, as writer: Int?, _ request: ServerRequest,
    in uploads: ResumableUploads
  ) async -> ServerResponse {
    do throws(FieldpackError) {
      if let token = record.token { return try await receipt(of: name, token, 200, request) }
      let token = try await uploads.store(name, record, as: writer) {
        () async throws(FieldpackError) in try await store(name, record, in: uploads)
      }
      return try await receipt(of: name, token, 201, request)
    } catch {
      let document = ProblemDocument(error, while: .parameters)
      if document.status >= 500 {
        logger.error("an upload was not stored", ["reason": .text("\(error)")])
      }
      return UploadRefusal.response(to: error)
    }
  }

  /// - Returns: the token of the capture.
  private func store(
    _ name: String, _ record: ResumableUploads.Record, in uploads: ResumableUploads
  ) async throws(FieldpackError) -> String {
    do throws(FieldpackError) {
      let received = try await self.received(record, at: uploads.path(of: name))
      try await CaptureCatalogue(try published.store).store(received)
      try uploads.complete(name, record, as: received.info.token)
      return received.info.token
    } catch {
      // The same bytes would be refused again.
      if error.code == .invalidData { uploads.remove(name) }
      throw error
    }
  }

  @concurrent private func received(
    _ record: ResumableUploads.Record, at path: String
  ) async throws(FieldpackError) -> CaptureReceiver.Received {
    let input = try ByteInput(path: path, name: "the upload")
    let folder = FileSystem.split(try published.store.path).folder
    var reception = try CaptureReception(
      contentType: record.contentType, folder: folder.isEmpty ? "." : folder)
    var digest = record.digest.map { _ in SHA256() }
    while true {
      let bytes = try input.next(256 << 10)
      guard !bytes.isEmpty else { break }
      bytes.withUnsafeBytes { digest?.update($0) }
      try reception.take(bytes[...])
    }
    guard digest.map({ String(hex: $0.digest()) == record.digest }) ?? true else {
      throw FieldpackError(.invalidData, "the upload has another SHA-256 digest than it should")
    }
    return try reception.finish()
  }

  /// What is stored of the upload: the record, and every file with its digest.
  private func receipt(
    of name: String, _ token: String, _ status: Int, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let catalogue = CaptureCatalogue(try published.store)
    let capture = try await catalogue.capture(token)
    let address = address(of: capture, request)
    let json: JSONValue = [
      "id": .text(name), "state": "complete", "token": .text(token),
      "record": ["layer": .text(CaptureLayers.capture.rawValue), "key": .text("\(capture.key)")],
      "media": .array(try await catalogue.files(of: capture).map(\.json)),
    ]
    return ServerResponse(
      status,
      fields: [
        "Content-Type": MediaType.json, "Cache-Control": "no-store", "Location": address,
      ], body: .bytes(Array(json.text.utf8)))
  }
}

extension ResumableUploads {
  /// What takes the body of a `PUT`; it may be the answer already.
  func receiver(of head: ServerRequest) -> (any BodyReceiving)? {
    let name = head.path[1]
    guard Self.isName(name) else {
      return RefusingReceiver(
        UploadRefusal.response(
          to: FieldpackError(
            .invalidArgument, "an upload is named by up to 128 letters, digits, dashes and lines")))
    }
    do throws(FieldpackError) {
      let piece = try UploadPiece(head)
      guard piece.total <= Self.longest else {
        let document = ProblemDocument(413, "The upload is larger than \(Self.longest >> 20) MiB.")
          .document
        return RefusingReceiver(ServerResponse(413, document.contentType, document.bytes))
      }
      // A type that is that of no form is refused now, and not when the whole body has come.
      _ = try CaptureReception(contentType: piece.contentType)
      if let done = record(of: name), done.token != nil {
        guard done.total == piece.total, piece.fits(done.digest) else {
          throw FieldpackError(.constraint, "another upload had that name")
        }
        return DoneReceiver()
      }
      return try PieceReceiver(piece, of: name, self)
    } catch {
      var answer = UploadRefusal.response(to: error)
      if error.code == .constraint { answer.fields["Upload-Offset"] = "\(offset(of: name))" }
      return RefusingReceiver(answer)
    }
  }
}
