import CCURL
import FieldpackCore

/// One exchange with a server, and the handle that makes it.
///
/// Made by the one who asks; from the moment that the loop has it, its thread alone touches anything
/// but `isCancelled`.
final class Transfer: @unchecked Sendable {
  let handle: OpaqueHandle
  let address: HTTPAddress
  /// Set from any thread, read by the loop.
  let isCancelled = Locked(false)
  let reception = Reception()
  /// Whether the server has an address of the internet at large; known when its header is there.
  let isPublic = Locked(false)
  private let body: RequestBody
  private let isPublicOnly: Bool
  private let maximumLength: Int
  private let progress: HTTPClient.Progress?
  /// The fields for the library, which does not copy them.
  private var lines: UnsafeMutablePointer<curl_slist>?
  /// What the library says of a failure, in its own size.
  private let detail: UnsafeMutablePointer<CChar>
  /// The bytes of the body so far.
  private var received = 0
  private var fields: [HTTPFields.Field] = []
  private var headerLength = 0
  private var sent: Int64 = -1
  /// Why we ourselves stopped it.
  private var stop: FieldpackError?

  /// A header longer than this is refused, in bytes.
  private static let maximumHeader = 256 << 10

  /// - Parameter isPublicOnly: whether nothing is sent but to an address of the internet at large.
  init(
    _ request: HTTPRequest, to address: HTTPAddress, _ configuration: HTTPConfiguration,
    timeout: Duration?, isPublicOnly: Bool, progress: HTTPClient.Progress?
  ) throws(FieldpackError) {
    try Self.check(request)
    guard HTTPLibrary.isReady, let handle = OpaqueHandle() else {
      throw FieldpackError(.io, "libcurl cannot be set up")
    }
    self.handle = handle
    self.address = address
    body = try RequestBody(request.body)
    // Where a proxy connects, it decides; its own address says nothing.
    self.isPublicOnly =
      isPublicOnly && !configuration.usesEnvironmentProxy
      && !configuration.privateHosts.contains(address.host)
    maximumLength = max(0, request.maximumLength)
    self.progress = progress
    detail = .allocate(capacity: Int(CURL_ERROR_SIZE))
    detail.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    set(configuration, timeout)
    set(request)
  }

  deinit {
    handle.close()
    curl_slist_free_all(lines)
    detail.deallocate()
  }

  private static func check(_ request: HTTPRequest) throws(FieldpackError) {
    guard HTTPSyntax.isToken(request.method.rawValue) else {
      throw FieldpackError(.invalidArgument, "'\(request.method.rawValue)' is no method of HTTP")
    }
    for field in request.fields.fields where !field.isSound {
      throw FieldpackError(
        .invalidArgument, "the header field '\(field.name)' has a line break or a control sign")
    }
  }

  // MARK: Settings

  private func set(_ configuration: HTTPConfiguration, _ timeout: Duration?) {
    let raw = handle.raw
    // Without signals: they would hit other threads.
    number(CURLOPT_NOSIGNAL, 1)
    text(CURLOPT_PROTOCOLS_STR, "http,https")
    number(CURLOPT_FOLLOWLOCATION, 0)
    number(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    number(CURLOPT_SSL_VERIFYPEER, 1)
    number(CURLOPT_SSL_VERIFYHOST, 2)
    if !configuration.usesEnvironmentProxy { text(CURLOPT_PROXY, "") }
    text(CURLOPT_USERAGENT, configuration.userAgent.filter { !$0.isNewline })
    number(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.milliseconds)
    if let timeout { number(CURLOPT_TIMEOUT_MS, timeout.milliseconds) }
    number(CURLOPT_LOW_SPEED_LIMIT, configuration.lowSpeed)
    number(CURLOPT_LOW_SPEED_TIME, max(1, configuration.lowSpeedTime.milliseconds / 1000))
    _ = fieldpack_curl_set_text(raw, CURLOPT_ERRORBUFFER, detail)
    let context = Unmanaged.passUnretained(self).toOpaque()
    let data = [
      CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA,
      CURLOPT_XFERINFODATA, CURLOPT_PREREQDATA,
    ]
    for option in data { _ = fieldpack_curl_set_pointer(raw, option, context) }
    _ = fieldpack_curl_set_bytes(raw, CURLOPT_WRITEFUNCTION, takeBody)
    _ = fieldpack_curl_set_bytes(raw, CURLOPT_HEADERFUNCTION, takeHeader)
    _ = fieldpack_curl_set_bytes(raw, CURLOPT_READFUNCTION, giveBody)
    _ = fieldpack_curl_set_seek(raw, seekBody)
    _ = fieldpack_curl_set_progress(raw, takeProgress)
    _ = fieldpack_curl_set_connected(raw, takePeer)
    number(CURLOPT_NOPROGRESS, 0)
    _ = fieldpack_curl_set_size(raw, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(maximumLength))
  }

  private func set(_ request: HTTPRequest) {
    text(CURLOPT_URL, address.url)
    if request.body != .none {
      number(CURLOPT_POST, 1)
      _ = fieldpack_curl_set_size(handle.raw, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.length))
    } else if request.method == .post {
      number(CURLOPT_POST, 1)
      _ = fieldpack_curl_set_size(handle.raw, CURLOPT_POSTFIELDSIZE_LARGE, 0)
    }
    if request.method == .head {
      number(CURLOPT_NOBODY, 1)
    } else {
      text(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }
    var fields = request.fields
    if case .multipart(let form) = request.body, fields["Content-Type"] == nil {
      fields["Content-Type"] = form.contentType
    }
    // The library would make up a type for bytes that have none, and would wait a second for
    // servers that know no 100 Continue.
    for name in ["Content-Type", "Expect"] where fields[name] == nil { add("\(name):") }
    for field in fields.fields {
      add(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    _ = fieldpack_curl_set_list(handle.raw, CURLOPT_HTTPHEADER, lines)
  }

  private func add(_ line: String) { lines = curl_slist_append(lines, line) ?? lines }

  private func number(_ option: CURLoption, _ value: Int) {
    _ = fieldpack_curl_set_number(handle.raw, option, value)
  }

  private func text(_ option: CURLoption, _ value: String) {
    _ = fieldpack_curl_set_text(handle.raw, option, value)
  }

  // MARK: While it runs

  /// - Parameter peer: the address that is connected.
  fileprivate func mayAsk(_ peer: String) -> Bool {
    let isPublic = NetworkAddress.isPublic(peer)
    self.isPublic.withLock { $0 = isPublic }
    guard isPublicOnly, !isPublic else { return true }
    stop = FieldpackError(
      .invalidData, .redirect, address.shown,
      "a server on the internet leads to the private address \(peer), and is not followed")
    return false
  }

  /// - Returns: how many bytes were taken; fewer than there are stop the transfer or let it wait.
  fileprivate func take(body bytes: UnsafeRawBufferPointer) -> Int {
    guard bytes.count <= maximumLength - received else {
      stop = FieldpackError(
        .invalidData, .tooLong, address.shown,
        "the answer is longer than \(maximumLength) bytes")
      return 0
    }
    guard reception.take(body: bytes) else { return Int(CURL_WRITEFUNC_PAUSE) }
    received += bytes.count
    return bytes.count
  }

  fileprivate func take(header bytes: UnsafeRawBufferPointer) -> Int {
    headerLength += bytes.count
    guard headerLength <= Self.maximumHeader else {
      stop = FieldpackError(
        .invalidData, .tooLong, address.shown,
        "the header is longer than \(Self.maximumHeader) bytes")
      return 0
    }
    let line = String(decoding: bytes, as: UTF8.self).trimmedOfSpace
    // Each answer begins with its status; one of 100 comes before another.
    if line.hasPrefix("HTTP/") {
      fields = []
    } else if line.isEmpty {
      takeHead()
    } else if let field = HTTPSyntax.field(line) {
      fields.append(field)
    }
    return bytes.count
  }

  private func takeHead() {
    var status = 0
    _ = fieldpack_curl_info_number(handle.raw, CURLINFO_RESPONSE_CODE, &status)
    guard status >= 200 else { return }
    reception.take(
      head: HTTPResponse(status: status, fields: HTTPFields(fields), body: [], url: address.url))
  }

  fileprivate func give(_ space: UnsafeMutableRawBufferPointer) -> Int {
    let count = body.read(into: space)
    guard count >= 0 else {
      stop = FieldpackError(.io, "a file changed, or could not be read, while it was sent")
      return Int(CURL_READFUNC_ABORT)
    }
    return count
  }

  fileprivate func seek(to offset: Int64) -> Bool { body.seek(to: offset) }

  fileprivate func take(sent count: Int64) {
    // After a start from the beginning there is nothing new to tell for a while.
    guard let progress, body.length > 0, count > sent else { return }
    sent = count
    progress(min(count, body.length), body.length)
  }

  // MARK: At its end

  /// Why it failed; `nil` where the answer is whole.
  func failure(_ result: CURLcode) -> FieldpackError? {
    if let stop { return stop }
    guard result == CURLE_OK else {
      return FieldpackError(result, address.shown, String(cString: detail))
    }
    take(sent: body.length)
    return nil
  }

  var cancelled: FieldpackError {
    FieldpackError(.interrupted, "\(address.shown): the exchange was cancelled")
  }
}

/// An easy handle; closed once.
struct OpaqueHandle: @unchecked Sendable, Hashable {
  // Moved between threads as a whole with its transfer, never shared.
  let raw: UnsafeMutableRawPointer

  init?() {
    guard let made = curl_easy_init() else { return nil }
    raw = made
  }

  func close() { curl_easy_cleanup(raw) }
}

extension Duration {
  /// Whole milliseconds, at least 1.
  var milliseconds: Int {
    let (seconds, attoseconds) = components
    let whole = seconds.multipliedReportingOverflow(by: 1000)
    guard !whole.overflow else { return Int(Int32.max) }
    let sum = whole.partialValue + attoseconds / 1_000_000_000_000_000
    return Int(max(1, min(Int64(Int32.max), sum)))
  }
}

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
  context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

private let takeBody: fieldpack_curl_bytes = { bytes, size, count, context in
  transfer(context)?.take(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

private let takeHeader: fieldpack_curl_bytes = { bytes, size, count, context in
  transfer(context)?.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

private let giveBody: fieldpack_curl_bytes = { bytes, size, count, context in
  let space = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
  return transfer(context)?.give(space) ?? Int(CURL_READFUNC_ABORT)
}

private let seekBody: fieldpack_curl_seek = { context, offset, origin in
  guard origin == SEEK_SET, transfer(context)?.seek(to: Int64(offset)) == true else {
    return CURL_SEEKFUNC_FAIL
  }
  return CURL_SEEKFUNC_OK
}

private let takePeer: fieldpack_curl_connected = { context, peer, _, _, _ in
  let text = peer.map { String(cString: $0) } ?? ""
  return transfer(context)?.mayAsk(text) == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private let takeProgress: fieldpack_curl_progress = { context, _, _, _, sent in
  guard let transfer = transfer(context) else { return 1 }
  transfer.take(sent: Int64(sent))
  return 0
}
