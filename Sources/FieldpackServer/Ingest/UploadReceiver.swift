import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP

/// Takes the form of a capture while it comes: long parts lie in unnamed files in the folder of the
/// GeoPackage, whose disk they will need anyway.
final class UploadReceiver: BodyReceiving {
  private let reception: Locked<Result<CaptureReception, FieldpackError>>

  init(_ head: ServerRequest, folder: String) {
    reception = Locked(
      Result { () throws(FieldpackError) in
        try CaptureReception(
          contentType: head.fields["Content-Type"] ?? "", folder: folder.isEmpty ? "." : folder)
      })
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> ServerResponse? {
    reception.withLock { reception in
      do throws(FieldpackError) {
        var taken = try reception.get()
        // The only copy, so that it is changed in place.
        reception = .failure(FieldpackError(.interrupted, "the body has not ended"))
        try taken.take(Array(bytes)[...])
        reception = .success(taken)
        return nil
      } catch {
        reception = .failure(error)
        return Self.refusal(ofForm: error)
      }
    }
  }

  /// - Throws: `.invalidData` where the form is not that of one whole capture.
  func finish() throws(FieldpackError) -> CaptureReceiver.Received {
    try reception.withLock { $0 }.get().finish()
  }

  /// The answer to what was sent, in the words of the protocol.
  static func refusal(ofForm error: FieldpackError) -> ServerResponse {
    guard error.code == .invalidData else { return refusal(error) }
    return ServerResponse(400, MediaType.json, CaptureReceiver.refusal(error.message))
  }

  static func refusal(_ error: FieldpackError) -> ServerResponse {
    let problem = ProblemDocument(error, while: .resource)
    return ServerResponse(
      problem.status, MediaType.json, CaptureReceiver.refusal(problem.detail))
  }
}

extension ServerRouter {
  /// `POST /upload`: the capture is stored, and on the disk, before it is answered.
  func upload(_ request: ServerRequest) async -> ServerResponse {
    let received: CaptureReceiver.Received
    do throws(FieldpackError) {
      guard let receiver = request.receiver as? UploadReceiver else {
        throw FieldpackError(.invalidData, "the request has no form")
      }
      received = try receiver.finish()
    } catch {
      return UploadReceiver.refusal(ofForm: error)
    }
    do throws(FieldpackError) {
      try await CaptureCatalogue(try published.store).store(received)
    } catch {
      logger.error("a capture was not stored", ["reason": .text("\(error)")])
      return UploadReceiver.refusal(error)
    }
    return ServerResponse(200, MediaType.json, CaptureReceiver.answer(received.info.token))
  }
}
