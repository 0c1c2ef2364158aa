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

  /// - Parameters:
  ///   - resource: as the sensor's parameter `stream` or `livePreview` has it; its address may be
  ///     relative to that of the sensor.
  ///   - base: the address of the sensor. No other host is asked.
  /// - Throws: `.invalidData` for an address that leads elsewhere.
  package init(
    _ resource: SensorResource, of base: String, http: HTTPClient, limit: Int = 16 << 20
  ) throws(FieldpackError) {
    let url = try Self.address(resource.uri, base)
    let (stream, continuation) = AsyncStream.makeStream(
      of: Result<PreviewFrame, FieldpackError>.self, bufferingPolicy: .bufferingNewest(1))
    (self.stream, self.continuation) = (stream, continuation)
    task = Task {
      do throws(FieldpackError) {
        let request = HTTPRequest(.get, url, maximumLength: .max)
        let answer = try await http.stream(request, timeout: nil)
        let head = try answer.head.checked("the preview")
        var reader = try PreviewReader(
          contentType: head.fields["Content-Type"] ?? "", limit: limit)
        while let bytes = try await answer.next() {
          for frame in try reader.push(bytes) { continuation.yield(.success(frame)) }
        }
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

  package func stop() {
    task.cancel()
    continuation.finish()
  }

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
  /// Begins the live preview, which the next capture stops.
  ///
  /// - Parameter http: of a client as ``SensorClient/http()`` makes it.
  /// - Throws: `.unsupported` for a sensor without one.
  package func startPreview(http: HTTPClient) async throws(FieldpackError) -> SensorPreview {
    stopPreview()
    let information = try await ask(SensorRequest(.getCommonInfo))
    guard let resource = information.metadata?.preview, let client = service as? SensorClient
    else {
      throw FieldpackError(.unsupported, "the sensor '\(address.name)' has no live preview")
    }
    let started = try SensorPreview(resource, of: client.base, http: http)
    preview = started
    return started
  }

  func stopPreview() {
    preview?.stop()
    preview = nil
  }
}
