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
      let found = try Self.capture(in: try UploadPart.all(in: body, contentType))
      let token = found.info.token
      let answer = JSONValue.object([.init(name: "token", value: .text(token))])
      let isNew = tokens.insert(token).inserted
      return Reply(
        status: 200, body: Array(answer.text.utf8),
        capture: isNew ? Received(found: found) : nil)
    } catch {
      let answer = JSONValue.object([
        .init(name: "error", value: .text("true")),
        .init(name: "message", value: .text(error.message)),
      ])
      return Reply(status: 400, body: Array(answer.text.utf8))
    }
  }

  private static func capture(
    in parts: [UploadPart]
  ) throws(FieldpackError) -> FoundCapture {
    var files: [String: UploadPart] = [:]
    for name in ["media_file", "thumbnail", "capture_info", "geo_data"] {
      let found = parts.filter { $0.name == name }
      guard found.count == 1, let part = found.first, !part.content.isEmpty else {
        throw FieldpackError(.invalidData, "the form does not have one file '\(name)'")
      }
      files[name] = part
    }
    guard let info = files["capture_info"], let geodata = files["geo_data"],
      let media = files["media_file"], let thumbnail = files["thumbnail"]
    else { throw FieldpackError(.invalidData, "the form lacks a file") }
    let geodataNode = try CaptureFolder.document(geodata.content, of: "geo_data")
    let reading = try CaptureReading(
      info: try CaptureFolder.document(info.content, of: "capture_info"),
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
    return FoundCapture(
      info: reading.info, geodata: reading.geodata,
      media: CaptureFile(name: names.media, bytes: media.content),
      thumbnail: CaptureFile(name: names.thumbnail, bytes: thumbnail.content))
  }
}

extension CaptureCatalogue {
  /// Stores a received capture. Where the file has one of that token, nothing changes.
  @discardableResult
  public func store(
    _ received: CaptureReceiver.Received
  ) async throws(FieldpackError) -> KeyTuple {
    let id = try await store.write { (writer) throws(FieldpackError) in
      let rows = CaptureRows(relation: try CaptureLayers.prepare(writer))
      let same = try writer.features(
        Query(CaptureLayers.capture, where: Column<String>("token") == received.info.token)
          .withoutGeometry().select([]))
      if let id = same.first?.id { return id }
      return try rows.store(received.found, writer)
    }
    return KeyTuple(store: store.id, layer: CaptureLayers.capture, feature: id)
  }
}
