package import FieldpackCore
package import FieldpackHTTP

/// Asks a service of WS-Biometric Devices over HTTP.
///
/// No redirect is followed, and a status of 300 or more is no answer of a sensor. The namespace of the
/// last answer is that of the requests.
package final class SensorClient: BiometricSensor {
  package struct Options: Sendable {
    /// The time for an operation of which the service does not say how long it may take.
    package var timeout = Duration.seconds(30)
    /// What is added to the time that the service says.
    package var margin = Duration.seconds(10)
    /// The time for a download.
    package var downloadTimeout = Duration.seconds(300)
    /// The longest capture, in bytes.
    package var mostBytes = 256 << 20
    /// Where a capture lies while it comes, by default `TMPDIR`, else `/tmp`.
    package var folder: String?

    package init() {}
  }

  private struct State {
    var namespace = SensorNamespace.standard
    var times: [SensorOperation: Duration] = [:]
  }

  /// The address without a slash at its end.
  package let base: String
  private let http: HTTPClient
  private let options: Options
  private let state = Locked(State())

  /// - Throws: `.invalidArgument` for what is no address.
  package init(
    _ uri: String, http: HTTPClient? = nil, options: Options = Options()
  ) throws(FieldpackError) {
    base = try Self.base(uri)
    self.options = options
    self.http = if let http { http } else { try Self.http() }
  }

  /// An address as a user gives it: `http://` is added where there is no scheme.
  package static func base(_ uri: String) throws(FieldpackError) -> String {
    var text = uri.contains("://") ? uri : "http://\(uri)"
    let address = try HTTPAddress(text)
    guard !text.contains("?"), !text.contains("#"), !address.host.isEmpty else {
      throw FieldpackError(
        .invalidArgument, "the address of a sensor has no query. Try: http://host:port/path")
    }
    while text.hasSuffix("/") { text.removeLast() }
    return text
  }

  /// What answers at an address: a camera of this machine, or a service on the network.
  ///
  /// - Throws: `.permission` for a camera where those are not allowed, `.invalidArgument` for what is no
  ///   address.
  package static func sensor(
    at uri: String, http: HTTPClient? = nil, options: Options = Options(),
    cameras: CameraAccess
  ) throws(FieldpackError) -> any BiometricSensor {
    if let camera = try CameraSensor(uri) {
      guard cameras.allows(camera.path) else {
        throw FieldpackError(.permission, "cameras of the server are not for its clients")
      }
      return camera
    }
    return try SensorClient(uri, http: http, options: options)
  }

  /// A client for any number of sensors: it follows no redirect, and lets a sensor take its time.
  package static func http() throws(FieldpackError) -> HTTPClient {
    var configuration = HTTPConfiguration()
    configuration.maximumRedirects = 0
    configuration.lowSpeed = 0
    configuration.timeout = nil
    return try HTTPClient(configuration)
  }

  /// A client for previews, which have no end: it follows no redirect, and gives a sensor up that has
  /// been silent for 30 s.
  package static func previews() throws(FieldpackError) -> HTTPClient {
    var configuration = HTTPConfiguration()
    configuration.maximumRedirects = 0
    configuration.timeout = nil
    return try HTTPClient(configuration)
  }

  /// The namespace of the requests.
  package var namespace: String { state.withLock { $0.namespace } }

  package func perform(_ request: SensorRequest) async throws(FieldpackError) -> SensorAnswer {
    let stream = try await http.stream(
      httpRequest(for: request), timeout: timeout(of: request.operation))
    guard stream.head.status < 300 else {
      _ = try stream.head.checked(request.operation.name)
      throw FieldpackError(
        .invalidData,
        "\(request.operation.name): the sensor answers with status "
          + "\(stream.head.status)", underlying: HTTPFailure.status(stream.head.status))
    }
    let data = SpooledBytes(folder: options.folder)
    var result: SensorResult
    if request.operation == .rawDownload, stream.head.contentType?.hasSuffix("xml") != true {
      result = try await Self.raw(stream, into: data, limit: options.mostBytes)
    } else {
      result = try await Self.read(stream, into: data, limit: options.mostBytes)
      note(result, of: request.operation)
    }
    if result.data != nil, data.count == 0 { result.data = nil }
    return SensorAnswer(result, httpStatus: stream.head.status)
  }

  private func httpRequest(for request: SensorRequest) -> HTTPRequest {
    let (method, path) = request.line
    var fields: HTTPFields = ["Accept": "application/xml, text/xml"]
    let body = request.body(namespace: namespace)
    // Also without a body: some services look at the type before they look at the method.
    fields["Content-Type"] = "application/xml; charset=utf-8"
    let isDownload = Self.downloads.contains(request.operation)
    return HTTPRequest(
      method, base + path, fields: fields,
      body: body.map { .bytes($0) } ?? (method == .get || method == .delete ? .none : .bytes([])),
      maximumLength: isDownload ? options.mostBytes / 2 * 3 + (8 << 20) : 8 << 20)
  }

  private static let downloads: Set<SensorOperation> = [.download, .thriftyDownload, .rawDownload]

  private static func read(
    _ stream: HTTPStream, into data: SpooledBytes, limit: Int
  ) async throws(FieldpackError) -> SensorResult {
    let parser = try SensorResultParser(into: data, limit: limit)
    while let bytes = try await stream.next() {
      try bytes.span.bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in
        try parser.push(bytes)
      }
    }
    return try parser.finish()
  }

  private static func raw(
    _ stream: HTTPStream, into data: SpooledBytes, limit: Int
  ) async throws(FieldpackError) -> SensorResult {
    while let bytes = try await stream.next() {
      try bytes.span.bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in
        try data.append(bytes, ofCaptureUpTo: limit)
      }
    }
    let type = stream.head.contentType.map { SensorValue.string($0) }
    return SensorResult(
      .success, metadata: type.map { ["contentType": $0] } ?? [:], data: data)
  }

  // MARK: What the service says of itself

  private func timeout(of operation: SensorOperation) -> Duration {
    if Self.downloads.contains(operation) { return options.downloadTimeout }
    return state.withLock { $0.times[operation] }.map { $0 + options.margin } ?? options.timeout
  }

  /// How the parameters are called that say how many milliseconds an operation may take.
  private static let timeKeys: [(key: String, operation: SensorOperation)] = [
    ("initializationTimeout", .initialize), ("uninitializationTimeout", .uninitialize),
    ("getConfigurationTimeout", .getConfiguration), ("setConfigurationTimeout", .configure),
    ("captureTimeout", .capture), ("beginCaptureTimeout", .beginCapture),
    ("endCaptureTimeout", .endCapture), ("getCaptureStatusTimeout", .getStatus),
  ]

  private func note(_ result: SensorResult, of operation: SensorOperation) {
    state.withLock { state in
      if let namespace = result.namespace { state.namespace = namespace }
      guard operation == .getCommonInfo, let metadata = result.metadata else { return }
      for (key, operation) in Self.timeKeys {
        guard let time = metadata.setting(key)?.number, (0...86_400_000).contains(time) else {
          continue
        }
        state.times[operation] = .milliseconds(Int(time))
      }
    }
  }
}
