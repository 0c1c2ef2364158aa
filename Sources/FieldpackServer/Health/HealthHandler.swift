#if Server
  import FieldpackCore

  /// Answers `/healthz`, `/readyz` and `/metrics` on a listener of its own, also while the listener of the
  /// file is busy.
  struct HealthHandler: RequestHandling {
    let file: ServedFile
    let journal: ServerJournal
    /// The number of open connections of the server; `nil` once the server takes no more.
    let connections: @Sendable () -> Int?

    func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? {
      bodyLength ?? 0 > 1024 ? Self.text(413, "too long") : nil
    }

    func answerAtOnce(_ request: ServerRequest) -> ServerResponse? {
      guard request.isSafe else { return Self.text(405, "this address is only for reading") }
      switch request.path {
      case ["healthz"]: return Self.text(200, "ok")
      case ["readyz"]:
        let isReady = connections() != nil && file.version() != nil
        return Self.text(isReady ? 200 : 503, isReady ? "ready" : "not ready")
      case ["metrics"]:
        let numbers = journal.text([
          ("connections", "Open connections.", connections() ?? 0),
          ("file_version", "Changes with each commit to the file.", Int(file.version() ?? 0)),
        ])
        return ServerResponse(200, "text/plain; version=0.0.4; charset=utf-8", Array(numbers.utf8))
      default: return Self.text(404, "there is /healthz, /readyz and /metrics")
      }
    }

    func answer(_ request: ServerRequest) async -> ServerResponse {
      answerAtOnce(request) ?? Self.text(404, "nothing")
    }

    private static func text(_ status: Int, _ text: String) -> ServerResponse {
      ServerResponse(status, "text/plain; charset=utf-8", Array((text + "\n").utf8))
    }
  }
#endif
