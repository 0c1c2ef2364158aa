import Fieldpack
import FieldpackCore
import FieldpackHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes a piece of an upload to its file while it comes.
final class PieceReceiver: BodyReceiving {
  private struct State {
    var received = 0
    var digest: SHA256?
  }

  let name: String
  let piece: UploadPiece
  private let uploads: ResumableUploads
  /// The number of this writer of the upload.
  let writer: Int
  private let descriptor: Int32
  private let state: Locked<State>

  /// - Throws: what ``ResumableUploads/begin(_:of:)`` throws.
  init(
    _ piece: UploadPiece, of name: String, _ uploads: ResumableUploads
  ) throws(FieldpackError) {
    self.name = name
    self.piece = piece
    self.uploads = uploads
    (writer, descriptor) = try uploads.begin(piece, of: name)
    state = Locked(State(digest: piece.pieceDigest == nil ? nil : SHA256()))
  }

  deinit {
    uploads.end(writer, of: name)
    close(descriptor)
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> ServerResponse? {
    do throws(FieldpackError) {
      try uploads.write(to: name, as: writer) { () throws(FieldpackError) in
        try state.withLock { (state) throws(FieldpackError) in
          guard state.received + bytes.count <= piece.range.count else {
            throw FieldpackError(.invalidData, "the piece is longer than Content-Range says")
          }
          do throws(FieldpackError) {
            try FileSystem.write(bytes, to: descriptor, path: "an upload")
          } catch {
            // The part of the piece that was written would keep the disk full.
            try? FileSystem.cut(descriptor, to: piece.range.lowerBound, path: "an upload")
            throw error
          }
          state.received += bytes.count
          state.digest?.update(bytes)
        }
      }
      return nil
    } catch {
      return UploadRefusal.response(to: error)
    }
  }

  /// Makes the piece durable.
  ///
  /// - Throws: `.invalidData` where the piece is not the one that was announced.
  func finish() throws(FieldpackError) {
    let (received, digest) = state.withLock { ($0.received, $0.digest?.digest()) }
    guard received == piece.range.count,
      digest.map({ String(hex: $0) == piece.pieceDigest }) ?? true
    else {
      try uploads.write(to: name, as: writer) { () throws(FieldpackError) in
        try FileSystem.cut(descriptor, to: piece.range.lowerBound, path: "an upload")
      }
      throw FieldpackError(
        .invalidData,
        received == piece.range.count
          ? "the bytes are not those of Content-Digest"
          : "the piece is shorter than Content-Range says")
    }
    try FileSystem.sync(descriptor, path: "an upload")
  }
}

/// Takes no body, because the answer to the request is known already.
final class RefusingReceiver: BodyReceiving {
  let answer: ServerResponse

  init(_ answer: ServerResponse) { self.answer = answer }

  func take(_ bytes: UnsafeRawBufferPointer) -> ServerResponse? { answer }
}

/// Ignores the body, because the upload is whole already.
final class DoneReceiver: BodyReceiving {
  func take(_ bytes: UnsafeRawBufferPointer) -> ServerResponse? { nil }
}

enum UploadRefusal {
  static func response(to error: FieldpackError) -> ServerResponse {
    // A body that is wrong is a mistake of the request.
    let problem = ProblemDocument(error, while: .parameters)
    return ServerResponse(problem.status, problem.document.contentType, problem.document.bytes)
  }
}
