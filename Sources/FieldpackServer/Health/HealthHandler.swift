#if Server
  import FieldpackCore
  import FieldpackServices

  /// Answers `/healthz`, `/readyz` and `/metrics` on a listener of its own, also while the listener of the
  /// file is busy.
  struct HealthHandler: RequestHandling {
    let published: PublishedStore
    let journal: ServerJournal
    /// The number of open connections of the server; `nil` once the server takes no more.
    let connections: @Sendable () -> Int?
    /// The receivers of webhooks that are switched off.
    var switchedOff: @Sendable () -> [String] = { [] }

    func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? {
      bodyLength ?? 0 > 1024 ? Self.text(413, "too long") : nil
    }

    func answerAtOnce(_ request: ServerRequest) -> ServerResponse? {
      guard request.isSafe else { return Self.text(405, "this address is only for reading") }
      switch request.path {
      case ["healthz"]: return Self.text(200, "ok")
      case ["readyz"]:
        guard connections() != nil, let ownFile = published.ownFile else {
          // A database is asked, which takes a moment.
          return connections() == nil ? readiness("the server closes") : nil
        }
        return readiness(ownFile.commitNumber == nil ? "" : nil)
      case ["metrics"]:
        let numbers = journal.text([
          ("connections", "Open connections.", connections() ?? 0),
          (
            "file_version", "Changes with each commit to the file.",
            Int(published.ownFile?.commitNumber ?? 0)
          ),
          (
            "webhooks_switched_off", "Webhooks that get no more events until the next start.",
            switchedOff().count
          ),
        ])
        return ServerResponse(200, "text/plain; version=0.0.4; charset=utf-8", Array(numbers.utf8))
      default: return Self.text(404, "there is /healthz, /readyz and /metrics")
      }
    }

    func answer(_ request: ServerRequest) async -> ServerResponse {
      if let answer = answerAtOnce(request) { return answer }
      do throws(FieldpackError) {
        try await published.database?.check()
        return readiness(nil)
      } catch { return readiness(error.message) }
    }

    /// - Parameter reason: why clients get no answers now; `nil` where they do.
    private func readiness(_ reason: String?) -> ServerResponse {
      let state = reason.map { $0.isEmpty ? "not ready" : "not ready: \($0)" } ?? "ready"
      // Clients are answered all the same, so that the status stays.
      let off = switchedOff().map { "\nswitched off until the next start: webhook \($0)" }
      return Self.text(reason == nil ? 200 : 503, state + off.joined())
    }

    private static func text(_ status: Int, _ text: String) -> ServerResponse {
      ServerResponse(status, "text/plain; charset=utf-8", Array((text + "\n").utf8))
    }
  }
#endif
