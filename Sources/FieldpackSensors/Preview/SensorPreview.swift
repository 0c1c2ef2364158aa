package import FieldpackCore
import FieldpackField
package import FieldpackHTTP

/// The live preview of a sensor: pictures without an end, of which only the newest waits for a reader.
///
/// It ends by ``stop()``, with the sensor's answer, or when it is released. A capture stops the preview
/// of its link.
package final class SensorPreview: Sendable {
  private let stream: AsyncStream<Result<PreviewFrame, FieldpackError>>
  private let continuation: AsyncStream<Result<PreviewFrame, FieldpackError>>.Continuation
  private let task: Task<Void, Never>
  private let isStopped = Locked(false)

  /// The pause after each piece of the stream, so that at most 66 frames a second are shown. What a sensor
  /// sends beyond that waits on the sensor's side of the network.
  private static let pause = Duration.milliseconds(15)

  /// - Parameters:
  ///   - resource: as the sensor's parameter `stream` or `livePreview` has it; its address may be
  ///     relative to that of the sensor.
  ///   - base: the address of the sensor. No other host is asked.
  /// - Throws: `.invalidData` for an address that leads elsewhere.
  package convenience init(
    _ resource: SensorResource, of base: String, http: HTTPClient, limit: Int = 16 << 20
  ) throws(FieldpackError) {
    let url = try Self.address(resource.uri, base)
    self.init { (show) throws(FieldpackError) in
      let request = HTTPRequest(.get, url, maximumLength: .max)
      let answer = try await http.stream(request, timeout: nil)
      let head = try answer.head.checked("the preview")
      var reader = try PreviewReader(contentType: head.fields["Content-Type"] ?? "", limit: limit)
      while let bytes = try await answer.next() {
        let frames = try reader.push(bytes)
        guard let last = frames.last else { continue }
        show(last)
        try? await Task.sleep(for: Self.pause)
      }
    }
  }

  /// - Parameter make: shows frames until it returns or its task is cancelled.
  init(
    _ make:
      @escaping @Sendable (
        _ show: @escaping @Sendable (PreviewFrame) -> Void
      ) async throws(FieldpackError) -> Void
  ) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Result<PreviewFrame, FieldpackError>.self, bufferingPolicy: .bufferingNewest(1))
    (self.stream, self.continuation) = (stream, continuation)
    task = Task {
      do throws(FieldpackError) {
        try await make { continuation.yield(.success($0)) }
      } catch {
        if error.code != .interrupted { continuation.yield(.failure(error)) }
      }
      continuation.finish()
    }
  }

  deinit { stop() }

  /// The next frame, or the newest of those that came meanwhile; `nil` after the end.
  ///
  /// - Throws: what ended the preview. One task at a time may wait.
  package func next() async throws(FieldpackError) -> PreviewFrame? {
    var iterator = stream.makeAsyncIterator()
    guard let result = await iterator.next() else { return nil }
    return try result.get()
  }

  /// Whether the preview was ended by ``stop()``, and not by the sensor.
  package var wasStopped: Bool { isStopped.withLock { $0 } }

  package func stop() {
    isStopped.withLock { $0 = true }
    task.cancel()
    continuation.finish()
  }

  /// Waits until nothing is asked of the sensor any more.
  func untilEnded() async { await task.value }

  private static func address(_ uri: String, _ base: String) throws(FieldpackError) -> String {
    guard uri.contains("://") else {
      return base + (uri.hasPrefix("/") ? uri : "/\(uri)")
    }
    let (address, own) = (try HTTPAddress(uri), try HTTPAddress(base))
    guard address.host == own.host || address.isLoopback && own.isLoopback else {
      throw FieldpackError(
        .invalidData,
        "the sensor's preview is of another host, \(address.host), which is not asked")
    }
    return uri
  }
}

extension SensorDictionary {
  /// Where the preview is, by what a service says of itself.
  package var preview: SensorResource? {
    for key in ["stream", "livePreview"] {
      switch setting(key) {
      case .resource(let resource)?: return resource
      case .array(let values)?:
        // The last is that for everybody, where there is one for who holds the lock.
        for case .resource(let resource) in values.reversed() { return resource }
      default: break
      }
    }
    return nil
  }
}

extension SensorLink {
  /// Begins the live preview once nothing else runs. The next capture stops it.
  ///
  /// - Parameters:
  ///   - http: of a client as ``SensorClient/previews()`` makes it.
  ///   - limit: a frame of more bytes ends the preview.
  /// - Throws: `.unsupported` for a sensor without one.
  package func startPreview(
    http: HTTPClient, limit: Int = 16 << 20
  ) async throws(FieldpackError) -> SensorPreview {
    var information: SensorResult
    // Another preview may have begun while this one waited.
    repeat {
      await stopPreview()
      await untilIdle()
      information = try await ask(SensorRequest(.getCommonInfo))
    } while work != nil || preview != nil
    guard !Task.isCancelled else {
      throw FieldpackError(.interrupted, "the preview was cancelled")
    }
    let started: SensorPreview
    if let camera = service as? CameraSensor {
      started = camera.preview(limit: limit)
    } else if let client = service as? SensorClient, let resource = information.metadata?.preview {
      started = try SensorPreview(resource, of: client.base, http: http, limit: limit)
    } else {
      throw FieldpackError(.unsupported, "the sensor '\(address.name)' has no live preview")
    }
    preview = started
    return started
  }

  func stopPreview() async {
    let stopped = preview
    preview = nil
    stopped?.stop()
    await stopped?.untilEnded()
  }
}
