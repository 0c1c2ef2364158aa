import FieldpackCore
import FieldpackFormats
import FieldpackHTTP

/// Sends the requests of a store, and reads answers that are documents.
struct WFSConnection: Sendable {
  let client: HTTPClient
  let logger: Logger
  /// What every request has beside what it is about, such as `Authorization`.
  let fields: HTTPFields

  /// The largest document that is no answer of features, in bytes.
  private static let maximumDocument = 64 << 20
  /// The largest answer of features, in bytes. It is read as it comes and never held.
  private static let maximumAnswer = 16 << 30

  /// A whole document.
  ///
  /// - Throws: what an exception report says.
  func document(_ request: WFSRequest) async throws(FieldpackError) -> XMLTree {
    let stream = try await stream(request, maximumLength: Self.maximumDocument)
    let parser = try XMLTreeParser(options: Self.options)
    while let bytes = try await stream.next() { try Self.push(bytes, to: parser) }
    let root = try parser.finish()
    if ExceptionReport.isOne(root) { throw ExceptionReport.error(root) }
    return root
  }

  /// Documents that describe a service with thousands of layers are long.
  private static var options: XMLTree.Options {
    var options = XMLTree.Options()
    options.maximumLength = maximumDocument
    options.maximumNodes = 2_000_000
    return options
  }

  /// An answer of features, to be read as it comes.
  func answer(_ request: WFSRequest) async throws(FieldpackError) -> HTTPStream {
    try await stream(request, maximumLength: Self.maximumAnswer)
  }

  private func stream(
    _ request: WFSRequest, maximumLength: Int
  ) async throws(FieldpackError) -> HTTPStream {
    var sent = HTTPRequest(.get, request.url, fields: fields, maximumLength: maximumLength)
    if let body = request.body {
      sent.method = .post
      sent.body = .bytes(body)
      sent.fields["Content-Type"] = "text/xml; charset=UTF-8"
    }
    logger.debug("request", ["url": .text(request.shownURL)])
    let stream = try await client.stream(sent)
    guard stream.head.isSuccess else { throw await failure(of: stream) }
    return stream
  }

  /// The error for a status that is none of success: the report in the body, where there is one.
  private func failure(of stream: HTTPStream) async -> FieldpackError {
    var body: [UInt8] = []
    do throws(FieldpackError) {
      while body.count < 256 << 10, let bytes = try await stream.next() { body += bytes }
      let root = try XMLTree(body)
      if ExceptionReport.isOne(root) { return ExceptionReport.error(root) }
    } catch {}
    do throws(FieldpackError) {
      _ = try stream.head.checked("the service")
      return FieldpackError(.invalidData, "the service gives no answer")
    } catch { return error }
  }

  static func push(
    _ bytes: [UInt8], to parser: XMLTreeParser
  ) throws(FieldpackError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(FieldpackError) in
      try parser.push(UnsafeRawBufferPointer(bytes))
    }
  }
}

/// A request to a service: an address, and a document where it is too long for one.
struct WFSRequest: Hashable, Sendable {
  var url: String
  var body: [UInt8]?

  /// The address without what may be a secret.
  var shownURL: String { WFSAddress.shown(url) }

  /// The request in words, for people who look for what is asked.
  var description: String {
    guard let body else { return "GET \(shownURL)" }
    return "POST \(shownURL)\n" + String(decoding: body, as: UTF8.self)
  }
}
