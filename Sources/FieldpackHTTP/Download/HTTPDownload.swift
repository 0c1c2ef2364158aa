package import FieldpackCore

/// A file that comes from a server, in as many attempts as it takes.
///
///     let download = try HTTPDownload(address, to: path, overwrite: true)
///     let head = try await download.attempt(by: client) { show($0.fraction) }
///
/// The bytes go into a hidden file beside the target, see `PendingFile`, which takes the target's
/// name when it is whole and on the disk. Until then the target is as it was. After an attempt that
/// failed the bytes stay where the server can go on from them, and the next attempt asks for the
/// rest only. The hidden file goes with this value, unless it has a name to be kept under: then the
/// download of another process goes on with it, also where this one is killed. All writing is done on
/// a thread of its own.
///
/// Redirects to other servers are followed, but never from https to http; the fields of the request
/// that may hold a secret stay behind.
package actor HTTPDownload {
  /// How much of a file is there. The fraction never falls from one call to the next; the number of
  /// bytes does where the file changed on the server, and comes anew.
  package struct Progress: Hashable, Sendable {
    /// The number of bytes that are there.
    package var received: Int
    /// The number of bytes of the whole file, where the server tells it.
    package var total: Int?
    /// From 0 to 1; 1 when the file has its name.
    package var fraction: Double? {
      total.map { $0 == 0 ? 1 : Double(received) / Double($0) }
    }
  }

  /// Called with what is there so far, on the download's thread, at most once a piece; it should
  /// return quickly.
  package typealias Report = @Sendable (Progress) -> Void

  /// What is there so far, and what the next attempt can go on from.
  package private(set) var partial = HTTPPartial()
  private let executor: ThreadExecutor
  private let request: HTTPRequest
  /// The address for messages, without what may be secret in it.
  private let address: String
  private let file: PendingFile
  /// What the bytes are of, beside a file that is kept.
  private let record: HTTPPartialRecord?
  /// Whether what another process left was looked at.
  private var isTakenUp: Bool
  /// The digest of the file that is wanted, in lower case.
  private let sha256: String?
  private var digest = SHA256()
  private var told = (fraction: -1.0, received: -1)
  private var isClosed = false

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// - Parameters:
  ///   - fields: further fields of the request, such as `Authorization`.
  ///   - overwrite: whether a file that exists is replaced.
  ///   - sha256: the digest that the file must have, as 64 hexadecimal digits.
  ///   - maximumLength: the size of the largest file that is accepted, in bytes.
  ///   - hidden: the path to keep the bytes under from one process to the next, and beside it what
  ///     they are of. While another process has it, this one keeps nothing.
  /// - Throws: `.cannotCreate` where the target exists and may not be overwritten, or its folder is
  ///   missing; `.invalidArgument` for what is no address or no digest.
  package init(
    _ url: String, fields: HTTPFields = [:], to target: String, overwrite: Bool = false,
    sha256: String? = nil, maximumLength: Int = 2_000_000_000, keptAs hidden: String? = nil
  ) throws(FieldpackError) {
    address = try HTTPAddress(url).shown
    guard sha256.map({ $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) }) ?? true else {
      throw FieldpackError(.invalidArgument, "a SHA-256 digest is 64 hexadecimal digits")
    }
    self.sha256 = sha256?.lowercased()
    var request = HTTPRequest(.get, url, fields: fields, maximumLength: maximumLength)
    request.followsToOtherServers = true
    request.fields["Accept-Encoding"] = "identity"
    self.request = request
    let kept = try hidden.flatMap { (path) throws(FieldpackError) in
      try PendingFile(target: target, overwrite: overwrite, keptAs: path)
    }
    isTakenUp = kept == nil
    record = kept.map { HTTPPartialRecord(of: url, beside: $0.path) }
    if let kept {
      file = kept
    } else {
      file = try PendingFile(target: target, overwrite: overwrite)
    }
    executor = try .started()
  }

  /// Asks for the file, or for the rest of it, and gives it its name.
  ///
  /// The client's limits hold but for its ``HTTPConfiguration/timeout``: a download may take as long
  /// as bytes come. It does not try again by itself. Cancelling the task stops it.
  /// - Returns: the head of the answer, with status 206 where the rest was asked for.
  /// - Throws: as ``HTTPClient/send(_:progress:)`` and ``HTTPResponse/checked(_:at:)``; with the
  ///   failure `.cutShort` where a part is missing, `.tooLong` beyond the limit, `.digest` for
  ///   another file than the one that is wanted; `.full` for a full disk; `.busy` while another
  ///   attempt runs, and after one that succeeded.
  package func attempt(
    by client: HTTPClient, report: Report? = nil
  ) async throws(FieldpackError) -> HTTPResponse {
    guard !isClosed else {
      throw FieldpackError(.busy, "\(address): the download runs already, or is at its end")
    }
    isClosed = true
    do throws(FieldpackError) {
      let stream = try await open(client)
      try await receive(stream, report)
      try finish()
      report?(Progress(received: partial.length, total: partial.length))
      return stream.head
    } catch {
      isClosed = false
      // The disk may be what is short: what is there would keep it full.
      if isTakenUp, error.code == .full || partial.fieldsForRest == nil { try? restart() }
      throw error
    }
  }

  // MARK: Asking

  /// The answer whose body comes next in the file.
  private func open(_ client: HTTPClient) async throws(FieldpackError) -> HTTPStream {
    try takeUp()
    if let fields = partial.fieldsForRest {
      let stream = try await ask(client, fields)
      switch stream.head.status {
      case 206 where partial.goesOn(with: stream.head):
        // A write that failed may have left more.
        try FileSystem.cut(file.descriptor, to: partial.length, path: file.target)
        return stream
      case 206, 412, 416: break  // What is asked for is not what is there: all of it comes anew.
      default:
        try begin(with: stream.head)
        return stream
      }
    }
    try restart()
    let stream = try await ask(client, [:])
    try begin(with: stream.head)
    return stream
  }

  private func ask(
    _ client: HTTPClient, _ fields: [String: String]
  ) async throws(FieldpackError) -> HTTPStream {
    var request = request
    for name in ["Range", "If-Range"] { request.fields[name] = fields[name] }
    return try await client.stream(request, timeout: nil)
  }

  private func begin(with head: HTTPResponse) throws(FieldpackError) {
    _ = try head.checked(address)
    guard head.status == 200 else {
      throw malformed("the answer has status \(head.status), not 200 for the whole file")
    }
    if let coding = head.contentCoding {
      throw malformed("the file comes in the coding '\(coding)', which was not asked for")
    }
    try restart()
    partial = HTTPPartial(head)
    guard let record, partial.validator != nil else { return }
    do throws(FieldpackError) {
      try record.write(partial)
      file.isKept = true
    } catch {
      // Without its record the part serves this process alone.
      guard error.code != .full else { throw error }
    }
  }

  private func restart() throws(FieldpackError) {
    // Other bytes must never lie beside the record.
    record?.remove()
    file.isKept = false
    partial = HTTPPartial()
    digest = SHA256()
    try FileSystem.cut(file.descriptor, to: 0, path: file.target)
  }

  /// Goes on with what another process left, if that is of this address.
  private func takeUp() throws(FieldpackError) {
    guard let record, !isTakenUp else { return }
    let size = FileSystem.size(file.path) ?? 0
    guard var found = record.read(), size <= found.total ?? .max, size <= request.maximumLength
    else {
      isTakenUp = true
      return try restart()
    }
    // At least one byte is asked for: else the server could not tell that it is still that version.
    found.length = min(size, (found.total ?? .max) - 1)
    if sha256 != nil { try digest(first: found.length) }
    partial = found
    isTakenUp = true
  }

  private func digest(first length: Int) throws(FieldpackError) {
    let input = try ByteInput(path: file.path, name: file.target)
    var left = length
    digest = SHA256()
    while left > 0 {
      try checkCancellation()
      let bytes = try input.next(min(left, 1 << 20))
      guard !bytes.isEmpty else {
        throw FieldpackError(.io, "\(file.target): another program has cut the download")
      }
      bytes.withUnsafeBytes { digest.update($0) }
      left -= bytes.count
    }
  }

  // MARK: Receiving

  private func receive(_ stream: HTTPStream, _ report: Report?) async throws(FieldpackError) {
    tell(report)
    while let bytes = try await stream.next() {
      try check(partial.length + bytes.count)
      guard partial.length + bytes.count <= partial.total ?? .max else {
        partial.validator = nil
        throw malformed("the answer is longer than it says")
      }
      try FileSystem.write(bytes.span.bytes, to: file.descriptor, path: file.target)
      if sha256 != nil { bytes.withUnsafeBytes { digest.update($0) } }
      partial.length += bytes.count
      tell(report)
    }
    guard partial.total == nil || partial.isWhole else {
      throw FieldpackError(
        .unavailable, .cutShort, address,
        "the answer ends after \(partial.length) of \(partial.total ?? 0) bytes")
    }
  }

  private func check(_ length: Int) throws(FieldpackError) {
    guard length > request.maximumLength else { return }
    partial.validator = nil
    throw FieldpackError(
      .invalidData, .tooLong, address, "the file is longer than \(request.maximumLength) bytes")
  }

  private func malformed(_ message: String) -> FieldpackError {
    FieldpackError(.invalidData, .malformed, address, message)
  }

  private func tell(_ report: Report?) {
    let progress = Progress(received: partial.length, total: partial.total)
    // That all is there is told when the file has its name.
    guard let report, !partial.isWhole else { return }
    if let fraction = progress.fraction {
      guard fraction > told.fraction else { return }
      told.fraction = fraction
    } else {
      guard progress.received > told.received else { return }
      told.received = progress.received
    }
    report(progress)
  }

  // MARK: At the end

  private func finish() throws(FieldpackError) {
    if let sha256 {
      let found = String(hex: digest.digest())
      guard found == sha256 else {
        partial.validator = nil
        throw FieldpackError(
          .invalidData, .digest, address, "the file's SHA-256 digest is \(found), not \(sha256)")
      }
    }
    try file.commit { () throws(FieldpackError) in try checkCancellation() }
    record?.remove()
  }

  private func checkCancellation() throws(FieldpackError) {
    guard !Task.isCancelled else {
      throw FieldpackError(.interrupted, "\(address): the download was cancelled")
    }
  }
}
