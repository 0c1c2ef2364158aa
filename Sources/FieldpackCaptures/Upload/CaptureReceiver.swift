public import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackHTTP

/// The receiving side of an upload without a network: a request in; an answer and a capture out.
///
///     let reply = receiver.receive(contentType: type, body: bytes)
///     if let capture = reply.capture { try await catalogue.store(capture) }
public struct CaptureReceiver: Sendable {
  /// A capture that was received completely.
  public struct Received: Sendable {
    let found: FoundCapture

    public var info: CaptureInfo { found.info }
    public var geodata: CaptureGeodata { found.geodata }
  }

  public struct Reply: Sendable {
    public var status: Int
    /// JSON: `{"token":…}`, or `{"error":"true","message":…}`.
    public var body: [UInt8]
    /// The capture to be stored; `nil` where the request is refused or the capture is known.
    public var capture: Received?
  }

  /// The tokens that are known.
  public private(set) var tokens: Set<String>

  public init(tokens: Set<String> = []) { self.tokens = tokens }

  public mutating func receive(contentType: String, body: [UInt8]) -> Reply {
    do throws(FieldpackError) {
      var reception = try CaptureReception(contentType: contentType)
      try reception.take(body[...])
      let received = try reception.finish()
      let isNew = tokens.insert(received.info.token).inserted
      return Reply(
        status: 200, body: Self.answer(received.info.token), capture: isNew ? received : nil)
    } catch {
      return Reply(status: 400, body: Self.refusal(error.message))
    }
  }

  /// The body of the answer to a capture that is taken.
  package static func answer(_ token: String) -> [UInt8] {
    let answer: JSONValue = ["token": .text(token)]
    return Array(answer.text.utf8)
  }

  /// The body of the answer to a capture that is refused.
  package static func refusal(_ message: String) -> [UInt8] {
    // Clients of this protocol look for the text "true", and not for a boolean.
    let answer: JSONValue = ["error": "true", "message": .text(message)]
    return Array(answer.text.utf8)
  }

  fileprivate static func capture(
    in parts: [UploadPart]
  ) throws(FieldpackError) -> FoundCapture {
    var files: [String: UploadPart] = [:]
    for name in ["media_file", "thumbnail", "capture_info", "geo_data"] {
      let found = parts.filter { $0.name == name }
      guard found.count == 1, let part = found.first, part.content.count > 0 else {
        throw FieldpackError(.invalidData, "the form does not have one file '\(name)'")
      }
      files[name] = part
    }
    guard let info = files["capture_info"], let geodata = files["geo_data"],
      let media = files["media_file"], let thumbnail = files["thumbnail"]
    else { throw FieldpackError(.invalidData, "the form lacks a file") }
    let geodataNode = try CaptureFolder.document(Self.bytes(geodata), of: "geo_data")
    let reading = try CaptureReading(
      info: try CaptureFolder.document(Self.bytes(info), of: "capture_info"),
      file: CaptureReading.infoFile, stem: ""
    ) { (_) throws(FieldpackError) in geodataNode }
    let token = reading.info.token
    let names = try CaptureFileNames(reading.info)
    for (part, name) in [
      (media, names.media), (thumbnail, names.thumbnail), (geodata, names.geodata),
    ] {
      guard part.fileName == name, name.split(separator: ".").first == Substring(token) else {
        throw FieldpackError(
          .invalidData, "'\(part.fileName ?? part.name)' is not of the capture '\(token)'")
      }
    }
    var found = FoundCapture(
      info: reading.info, geodata: reading.geodata,
      media: CaptureFile(name: names.media, media.content),
      thumbnail: CaptureFile(name: names.thumbnail, thumbnail.content))
    // The digests are made here, because other writers wait for the transaction that stores them.
    found.media?.sha256 = try media.content.sha256()
    found.thumbnail?.sha256 = try thumbnail.content.sha256()
    return found
  }

  private static func bytes(_ part: UploadPart) throws(FieldpackError) -> [UInt8] {
    try part.content.prefix(part.content.count)
  }
}

/// An upload that comes in pieces. What is long of it lies in unnamed files, so that it need not fit in
/// memory.
package struct CaptureReception: Sendable {
  private var form: UploadForm

  /// - Parameter folder: where the unnamed files lie.
  /// - Throws: `.invalidData` for a type that is that of no form.
  package init(contentType: String, folder: String? = nil) throws(FieldpackError) {
    form = try UploadForm(contentType: contentType, folder: folder)
  }

  /// Takes the next bytes of the body.
  ///
  /// - Throws: `.invalidData`, `.full`, `.io`.
  package mutating func take(_ bytes: ArraySlice<UInt8>) throws(FieldpackError) {
    try form.take(bytes)
  }

  /// - Throws: `.invalidData` where the form is not that of one whole capture.
  package func finish() throws(FieldpackError) -> CaptureReceiver.Received {
    try form.finish()
    return .init(found: try CaptureReceiver.capture(in: form.parts))
  }
}

extension CaptureCatalogue {
  /// Stores a received capture. Where the file has one of that token, it gets the files that it lacks, and
  /// nothing else changes.
  @discardableResult
  public func store(
    _ received: CaptureReceiver.Received
  ) async throws(FieldpackError) -> KeyTuple {
    let outcome = try await store.write { (writer) throws(FieldpackError) in
      try CaptureRows.take(received.found, writer)
    }
    return KeyTuple(
      store: store.id, layer: CaptureLayers.capture, feature: outcome.id)
  }
}
