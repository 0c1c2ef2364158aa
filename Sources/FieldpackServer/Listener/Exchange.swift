#if Server
  import CMicrohttpd
  import FieldpackCore
  import FieldpackHTTP

  /// One request and its answer. libmicrohttpd keeps it from the request's first line to the end of its
  /// answer, and calls it on the thread of the connection alone.
  final class Exchange {
    private enum Stage {
      case head, body, answering
      /// The rest of the body is passed over.
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
    private var task: Task<Void, Never>?
    /// The listener's number for a request that was not answered at once.
    private var number: Int?
    /// Set by the task before it lets the connection go on.
    private let response = Locked<ServerResponse?>(nil)
    /// Kept until the connection is handed over to it.
    private var socket: SocketStart?

    init(target: String, listener: ServerListener) {
      self.target = target
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
        let length = request.body.count + bytes.count
        if let refusal = listener.handler.refusal(of: request, bodyLength: length) {
          stage = .refused(refusal)
          request.body = []
        } else {
          request.body.append(contentsOf: bytes)
        }
        return fieldpack_mhd_yes
      case .body:
        return answer(on: connection)
      case .refused where bytes.count > 0:
        return fieldpack_mhd_yes
      case .refused(let refusal):
        return send(refusal, on: connection)
      case .answering:
        guard let response = response.withLock({ $0 }) else { return fieldpack_mhd_no }
        return send(response, on: connection)
      }
    }

    private func readHead(of connection: OpaquePointer, _ method: String) -> MHD_Result {
      var fields = HTTPFields()
      withUnsafeMutablePointer(to: &fields) { fields in
        _ = MHD_get_connection_values(connection, fieldpack_mhd_header, addField, fields)
      }
      stage = .body
      guard let target = RequestTarget(target) else {
        return send(
          ServerResponse(400, "text/plain", Array("the address is not valid\n".utf8)),
          on: connection)
      }
      request = ServerRequest(method, target.path, query: target.query, fields: fields)
      let length = fields["Content-Length"].flatMap { Int($0) }
      if let refusal = listener.handler.refusal(of: request, bodyLength: length) {
        return send(refusal, on: connection)
      }
      return fieldpack_mhd_yes
    }

    private func answer(on connection: OpaquePointer) -> MHD_Result {
      if let response = listener.handler.answerAtOnce(request) {
        return send(response, on: connection)
      }
      guard let number = listener.begin() else {
        return send(
          ServerResponse(503, "text/plain", Array("the server is closing\n".utf8)), on: connection)
      }
      stage = .answering
      MHD_suspend_connection(connection)
      let (request, response, listener) = (request, response, listener)
      let kept = Connection(raw: connection)
      // The task may be done before it is noted; it must not be taken for one that runs then.
      let noted = Locked(false)
      self.number = number
      let task = Task {
        let answer = await listener.handler.answer(request)
        response.withLock { $0 = answer }
        kept.resume()
        noted.withLock { isDone in
          isDone = true
          if case .stream(let stream) = answer.body {
            listener.set(.stream(stream), for: number)
          } else {
            listener.set(.whole, for: number)
          }
        }
      }
      noted.withLock { isDone in
        if !isDone { listener.set(.task(task), for: number) }
      }
      self.task = task
      return fieldpack_mhd_yes
    }

    // MARK: Answers

    private func send(_ answer: ServerResponse, on connection: OpaquePointer) -> MHD_Result {
      let made: OpaquePointer?
      switch answer.body {
      case .bytes(let bytes):
        made = bytes.withUnsafeBytes { bytes in
          MHD_create_response_from_buffer(
            bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
            fieldpack_mhd_copy)
        }
      case .stream(let stream):
        let source = Unmanaged.passRetained(
          StreamSource(stream, Connection(raw: connection).resume) {
            MHD_suspend_connection(connection)
          })
        made = MHD_create_response_from_callback(
          fieldpack_mhd_unknown_size, 64 << 10, readStream, source.toOpaque(), freeStream)
        if made == nil { source.release() }
      case .socket(let work):
        let (listener, number) = (listener, number)
        let start = SocketStart(work) { if let number { listener.end(number) } }
        socket = start
        made = MHD_create_response_for_upgrade(
          handOver, Unmanaged.passUnretained(start).toOpaque())
      }
      guard let made else { return fieldpack_mhd_no }
      defer { MHD_destroy_response(made) }
      // No browser is to take an answer for something else than it says.
      let fields = answer.fields.fields + [.init("X-Content-Type-Options", "nosniff")]
      for field in fields {
        guard MHD_add_response_header(made, field.name, field.value) == fieldpack_mhd_yes else {
          return fieldpack_mhd_no
        }
      }
      return MHD_queue_response(connection, UInt32(answer.status), made)
    }

    /// The client has its answer, or has gone.
    func end() {
      task?.cancel()
      if let number { listener.end(number) }
    }
  }

  /// A connection that goes over to other work.
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
    let resume: @Sendable () -> Void
    let suspend: () -> Void

    init(
      _ stream: ResponseStream, _ resume: @escaping @Sendable () -> Void,
      suspend: @escaping () -> Void
    ) {
      self.stream = stream
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
      case .bytes(let count): return count
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
      fields.assumingMemoryBound(to: HTTPFields.self).pointee.fields.append(
        .init(String(cString: name), value.map { String(cString: $0) } ?? ""))
      return fieldpack_mhd_yes
    }

  // MARK: Callbacks

  let beginRequest:
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
    ) -> UnsafeMutableRawPointer? = { context, target, _ in
      guard let context, let target else { return nil }
      let listener = Unmanaged<ServerListener>.fromOpaque(context).takeUnretainedValue()
      let exchange = Exchange(target: String(cString: target), listener: listener)
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
#endif
