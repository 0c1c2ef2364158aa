#if Server
  import CMicrohttpd
  import FieldpackCore
  import FieldpackHTTP

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// One request and its answer. libmicrohttpd keeps it from the request's first line to the end of its
  /// answer, and calls it on the thread of the connection alone.
  final class Exchange {
    private enum Stage {
      case head, body, answering
      /// The rest of the body is read and dropped.
      case refused(ServerResponse)
    }

    /// `@unchecked` because libmicrohttpd allows a connection that was put aside to go on from any thread.
    private struct Connection: @unchecked Sendable {
      let raw: OpaquePointer
      func resume() { MHD_resume_connection(raw) }
    }

    private let target: String
    private let listener: ServerListener
    private var stage = Stage.head
    private var request = ServerRequest("", [])
    /// How much of the body has come.
    private var length = 0
    private var task: Task<Void, Never>?
    /// The listener's number for a request that was not answered at once.
    private var number: Int?
    private let socket: Int32
    /// Kept until the connection is handed over.
    private var handover: SocketStart?
    private var hasBody = false
    /// For the journal.
    private var begun = Duration.zero
    private let sent = SentBytes()
    private var status = 0
    /// `nil` where there is no task.
    private var progress: Locked<Progress>?
    /// The system takes an answer of so many bytes at once.
    private static let mostSentSoon = 64 << 10

    /// How far the task is that makes the answer.
    private struct Progress {
      var answer: ServerResponse?
      /// Whether the connection is put aside until there is an answer.
      var isSuspended = false
    }

    init(target: String, socket: Int32, listener: ServerListener) {
      self.target = target
      self.socket = socket
      self.listener = listener
    }

    /// Called with the head, then with each part of the body, then with none.
    func go(
      on connection: OpaquePointer, method: String, bytes: UnsafeRawBufferPointer
    ) -> MHD_Result {
      switch stage {
      case .head:
        return readHead(of: connection, method)
      case .body where bytes.count > 0:
        listener.peers.read(socket, bytes.count)
        length += bytes.count
        let refusal = listener.handler.refusal(of: request, bodyLength: length)
        if let refusal = refusal ?? request.receiver?.take(bytes) {
          stage = .refused(refusal)
          (request.body, request.receiver) = ([], nil)
        } else if request.receiver == nil {
          request.body.append(contentsOf: bytes)
        }
        return fieldpack_mhd_yes
      case .body:
        return answer(on: connection)
      case .refused where bytes.count > 0:
        listener.peers.read(socket, bytes.count)
        return fieldpack_mhd_yes
      case .refused(let refusal):
        return send(refusal, on: connection)
      case .answering:
        guard let response = progress?.withLock({ $0.answer }) else { return fieldpack_mhd_no }
        return send(response, on: connection)
      }
    }

    private func readHead(of connection: OpaquePointer, _ method: String) -> MHD_Result {
      var fields = HTTPFields()
      fields.fields.reserveCapacity(8)
      withUnsafeMutablePointer(to: &fields) { fields in
        _ = MHD_get_connection_values(connection, fieldpack_mhd_header, addField, fields)
      }
      stage = .body
      if let journal = listener.journal { begun = journal.uptime() }
      hasBody = fields["Content-Length"] != nil || fields["Transfer-Encoding"] != nil
      if hasBody { listener.peers.read(socket, 0) } else { listener.peers.answer(socket) }
      guard let target = RequestTarget(target) else {
        let problem = ProblemDocument(400, "The address is not valid.").document
        return send(ServerResponse(400, problem.contentType, problem.bytes), on: connection)
      }
      request = ServerRequest(method, target.path, query: target.query, fields: fields)
      let length = fields["Content-Length"].flatMap { Int($0) }
      if let refusal = listener.handler.refusal(of: request, bodyLength: length) {
        return send(refusal, on: connection)
      }
      let refused = listener.handler.admit(&request) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
          fieldpack_mhd_address(connection, text.baseAddress, 64)
          return text.baseAddress.map { String(cString: $0) } ?? ""
        }
      }
      if let refused { return send(refused, on: connection) }
      request.receiver = listener.handler.receiver(of: request)
      return fieldpack_mhd_yes
    }

    private func answer(on connection: OpaquePointer) -> MHD_Result {
      if hasBody { listener.peers.answer(socket) }
      if let response = listener.handler.answerAtOnce(request) {
        if case .bytes(let bytes) = response.body, bytes.count > Self.mostSentSoon {
          // A listener that closes waits for the client to take such an answer.
          number = listener.begin(on: socket)
          if let number { listener.set(.whole, for: number) }
        }
        return send(response, on: connection)
      }
      guard let number = listener.begin(on: socket) else {
        return send(
          ServerResponse(503, "text/plain", Array("the server is closing\n".utf8)), on: connection)
      }
      stage = .answering
      self.number = number
      let (request, progress, listener) = (request, Locked(Progress()), listener)
      self.progress = progress
      let kept = Connection(raw: connection)
      let task = StartingExecutor.start {
        let answer = await listener.handler.answer(request)
        progress.withLock { progress in
          progress.answer = answer
          // The listener may close as soon as it knows of no task that has put its connection aside.
          if progress.isSuspended { kept.resume() }
          if case .stream(let stream) = answer.body {
            listener.set(.stream(stream), for: number)
          } else {
            listener.set(.whole, for: number)
          }
        }
      }
      self.task = task
      let answer = progress.withLock { progress in
        guard progress.answer == nil else { return progress.answer }
        listener.set(.task(task), for: number)
        progress.isSuspended = true
        MHD_suspend_connection(connection)
        return nil
      }
      if let answer { return send(answer, on: connection) }
      return fieldpack_mhd_yes
    }

    // MARK: Answers

    private func send(_ answer: ServerResponse, on connection: OpaquePointer) -> MHD_Result {
      // A task that somebody holds keeps some KiB, and a client may follow events for days.
      (task, progress) = (nil, nil)
      status = answer.status
      let made: OpaquePointer?
      switch answer.body {
      case .bytes(let bytes):
        if request.method != "HEAD" { sent.count = bytes.count }
        made = LentBytes.response(of: bytes)
      case .stream(let stream):
        let source = Unmanaged.passRetained(
          StreamSource(stream, sent, Connection(raw: connection).resume) {
            MHD_suspend_connection(connection)
          })
        made = MHD_create_response_from_callback(
          stream.length.map { UInt64($0) } ?? fieldpack_mhd_unknown_size, stream.pieceSize,
          readStream, source.toOpaque(), freeStream)
        if made == nil { source.release() }
      case .socket(let work):
        let (listener, number) = (listener, number)
        let start = SocketStart(work) { if let number { listener.end(number) } }
        handover = start
        made = MHD_create_response_for_upgrade(
          handOver, Unmanaged.passUnretained(start).toOpaque())
      }
      guard let made else { return fieldpack_mhd_no }
      defer { MHD_destroy_response(made) }
      // No browser may take an answer for another media type than the one it names.
      MHD_add_response_header(made, "X-Content-Type-Options", "nosniff")
      for field in answer.fields.fields {
        // Without `withCString` Swift copies each text before C reads it.
        let added = field.name.withCString { name in
          field.value.withCString { MHD_add_response_header(made, name, $0) }
        }
        guard added == fieldpack_mhd_yes else { return fieldpack_mhd_no }
      }
      return MHD_queue_response(connection, UInt32(answer.status), made)
    }

    /// The client has its answer, or has gone.
    func end() {
      task?.cancel()
      if let number { listener.end(number) }
      listener.peers.wait(socket)
      if status != 0 { listener.journal?.note(request, status, bytes: sent.count, since: begun) }
    }
  }

  /// How many bytes of an answer's body the client has been sent.
  private final class SentBytes {
    var count = 0
  }

  /// A connection that goes on with another protocol.
  private final class SocketStart {
    let work: any SocketWork
    let end: @Sendable () -> Void

    init(_ work: any SocketWork, end: @escaping @Sendable () -> Void) {
      (self.work, self.end) = (work, end)
    }
  }

  /// `@unchecked` because libmicrohttpd takes a connection back from any thread.
  private struct UpgradeHandle: @unchecked Sendable {
    let raw: OpaquePointer
  }

  private let handOver:
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutableRawPointer?,
      UnsafePointer<CChar>?, Int, MHD_socket, OpaquePointer?
    ) -> Void = { context, _, _, extra, count, socket, handle in
      guard let context, let handle else { return }
      let start = Unmanaged<SocketStart>.fromOpaque(context).takeUnretainedValue()
      let first = UnsafeRawBufferPointer(start: extra, count: extra == nil ? 0 : count)
      let (bytes, work, end) = (Array(first), start.work, start.end)
      let kept = UpgradeHandle(raw: handle)
      let isRunning = SystemThread.start {
        work.run(on: socket, after: bytes)
        fieldpack_mhd_end_upgrade(kept.raw)
        end()
      }
      guard !isRunning else { return }
      fieldpack_mhd_end_upgrade(handle)
      end()
    }

  /// A stream on its way through libmicrohttpd.
  private final class StreamSource {
    let stream: ResponseStream
    let sent: SentBytes
    let resume: @Sendable () -> Void
    let suspend: () -> Void

    init(
      _ stream: ResponseStream, _ sent: SentBytes, _ resume: @escaping @Sendable () -> Void,
      suspend: @escaping () -> Void
    ) {
      self.stream = stream
      self.sent = sent
      self.resume = resume
      self.suspend = suspend
    }
  }

  private let readStream:
    @convention(c) (
      UnsafeMutableRawPointer?, UInt64, UnsafeMutablePointer<CChar>?, Int
    ) -> Int = { context, _, buffer, count in
      guard let context, let buffer else { return fieldpack_mhd_end_with_error }
      let source = Unmanaged<StreamSource>.fromOpaque(context).takeUnretainedValue()
      let room = UnsafeMutableRawBufferPointer(start: buffer, count: count)
      let piece = source.stream.take(into: room) {
        source.suspend()
        return source.resume
      }
      switch piece {
      case .bytes(let count):
        source.sent.count += count
        return count
      case .nothing: return 0
      case .end: return fieldpack_mhd_end_of_stream
      case .failure: return fieldpack_mhd_end_with_error
      }
    }

  private let freeStream: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    guard let context else { return }
    let source = Unmanaged<StreamSource>.fromOpaque(context).takeRetainedValue()
    source.stream.abandon()
  }

  private let addField:
    @convention(c) (
      UnsafeMutableRawPointer?, MHD_ValueKind, UnsafePointer<CChar>?, UnsafePointer<CChar>?
    ) -> MHD_Result = { fields, _, name, value in
      guard let fields, let name else { return fieldpack_mhd_no }
      // libmicrohttpd 0.9 adds a folded line to the name of its field, where a proxy could see another
      // field. Such a name does not lie directly before its value; it gets a blank, which is refused.
      let mark = value.map { isFollowed(name, by: $0) } ?? true ? "" : " "
      fields.assumingMemoryBound(to: HTTPFields.self).pointee.fields.append(
        .init(String(cString: name) + mark, value.map { String(cString: $0) } ?? ""))
      return fieldpack_mhd_yes
    }

  /// Whether a value follows its name in memory, with at most the end of the name and blanks between.
  private func isFollowed(_ name: UnsafePointer<CChar>, by value: UnsafePointer<CChar>) -> Bool {
    let start = name + strlen(name) + 1
    let gap = value - start
    guard (0...1024).contains(gap) else { return false }
    return (0..<gap).allSatisfy { start[$0] == 0x20 || start[$0] == 9 }
  }

  // MARK: Callbacks

  let beginRequest:
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
    ) -> UnsafeMutableRawPointer? = { context, target, connection in
      guard let context, let target, let connection else { return nil }
      let listener = Unmanaged<ServerListener>.fromOpaque(context).takeUnretainedValue()
      let exchange = Exchange(
        target: String(cString: target), socket: fieldpack_mhd_socket(connection),
        listener: listener)
      return Unmanaged.passRetained(exchange).toOpaque()
    }

  let handleRequest:
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
      UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeMutablePointer<Int>?,
      UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result = { _, connection, _, method, _, data, size, kept in
      guard let connection, let method, let size, let exchange = kept?.pointee else {
        return fieldpack_mhd_no
      }
      let bytes = UnsafeRawBufferPointer(start: data, count: size.pointee)
      size.pointee = 0
      return Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue()
        .go(on: connection, method: String(cString: method), bytes: bytes)
    }

  let completeRequest:
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
      MHD_RequestTerminationCode
    ) -> Void = { _, _, kept, _ in
      guard let exchange = kept?.pointee else { return }
      kept?.pointee = nil
      Unmanaged<Exchange>.fromOpaque(exchange).takeRetainedValue().end()
    }

  let notifyConnection:
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
      MHD_ConnectionNotificationCode
    ) -> Void = { context, connection, _, code in
      guard let context, let connection else { return }
      let listener = Unmanaged<ServerListener>.fromOpaque(context).takeUnretainedValue()
      let socket = fieldpack_mhd_socket(connection)
      if code == fieldpack_mhd_started {
        listener.open(socket)
      } else {
        listener.peers.end(socket)
      }
    }
#endif
