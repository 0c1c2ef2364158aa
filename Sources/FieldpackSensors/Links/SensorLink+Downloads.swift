package import FieldpackCore
import FieldpackField
import FieldpackHTTP

extension SensorLink {
  /// What became of a capture.
  package enum Download: Hashable, Sendable {
    case stored
    /// It cannot be had any more.
    case lost(String)
    /// It may be had later, and stays in the journal.
    case pending(String)
  }

  private static let mostTries = 6

  /// How long is waited before a try, the first one being 1.
  static func pause(before number: Int) -> Duration {
    .milliseconds(500) * ((1 << (number - 1)) - 1)
  }

  /// Downloads all captures of the present work, until the task is cancelled.
  ///
  /// - Returns: why not all are stored.
  func downloadAll() async -> FieldpackError? {
    var failure: FieldpackError?
    for id in work?.captures ?? [] {
      do throws(FieldpackError) {
        switch try await download(id, for: work?.item) {
        case .stored: work?.stored.append(id)
        case .lost(let message):
          failure = failure ?? FieldpackError(.notFound, "a capture is lost: \(message)")
        case .pending(let message):
          failure =
            failure ?? FieldpackError(.unavailable, "a capture is not here yet: \(message)")
        }
      } catch { return error }
    }
    return failure
  }

  /// Downloads a capture and stores it, which is told once.
  ///
  /// - Parameter isLast: whether a capture is lost that cannot be had now, although the sensor answers.
  /// - Throws: where the journal fails.
  @discardableResult
  package func download(
    _ id: String, for item: KeyTuple?, isLast: Bool = false
  ) async throws(FieldpackError) -> Download {
    var request = SensorRequest(.thriftyDownload, capture: id, maximumSize: options.maximumSize)
    var number = 1
    var reason = "the link is closed"
    var hasAnswered = false
    while !Task.isCancelled, number <= (options.retriesDownloads ? Self.mostTries : 1) {
      if number > 1 {
        do { try await clock.sleep(for: Self.pause(before: number)) } catch {
          return .pending(reason)
        }
      }
      switch try await attempt(request, for: item) {
      case .success(let result):
        hasAnswered = true
        switch result.status {
        case .success: return try await store(result, id, item)
        case .preparingDownload: reason = result.text
        // The whole picture is small enough.
        case .unsupported where request.operation == .thriftyDownload:
          request = SensorRequest(.download, capture: id)
          continue
        default: return try await lose(id, result.text)
        }
      case .failure(let error): reason = error.message
      }
      number += 1
    }
    guard isLast, hasAnswered, !Task.isCancelled else { return .pending(reason) }
    return try await lose(id, reason)
  }

  /// The answer of the sensor, or why there is none.
  ///
  /// - Throws: where the journal fails.
  private func attempt(
    _ request: SensorRequest, for item: KeyTuple?
  ) async throws(FieldpackError) -> Result<SensorResult, FieldpackError> {
    do throws(FieldpackError) {
      return .success(try await ask(request, for: item))
    } catch {
      // What the disk refuses the sensor cannot help.
      guard
        error.httpFailure != nil || error.code == .invalidData || error.code == .unavailable
          || error.code == .interrupted
      else { throw error }
      return .failure(error)
    }
  }

  private func store(
    _ result: SensorResult, _ id: String, _ item: KeyTuple?
  ) async throws(FieldpackError) -> Download {
    guard let data = result.data, data.count > 0 else {
      return try await lose(id, "the answer holds no capture")
    }
    let download = SensorDownload(
      captureId: id, device: address, item: item,
      metadata: result.metadata.map { $0.json.text }, content: data,
      contentType: result.metadata?.setting("contentType")?.text)
    let stored: KeyTuple?
    do throws(FieldpackError) {
      stored = try await journal.post(download)
    } catch {
      guard error.code == .notFound else { throw error }
      return try await lose(id, error.message)
    }
    if let stored {
      var event = SensorEvent(
        .downloadPosted, device: address, item: stored, operation: .thriftyDownload,
        sequence: work?.sequence)
      event.captureId = id
      events.send(event)
    }
    return .stored
  }

  private func lose(_ id: String, _ reason: String) async throws(FieldpackError) -> Download {
    let reason = String(reason.prefix(500))
    try await journal.lost(id, by: address, because: FieldpackError(.notFound, reason))
    var event = SensorEvent(
      .operationFailed, device: address, item: work?.item, operation: .thriftyDownload,
      sequence: work?.sequence)
    (event.captureId, event.message) = (id, "the capture is lost: \(reason)")
    events.send(event)
    return .lost(reason)
  }
}
