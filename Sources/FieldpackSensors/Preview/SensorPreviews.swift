package import FieldpackCore
package import FieldpackField
import FieldpackHTTP
import FieldpackMedia

/// The live previews of sensors: one stream from each, however many look at it.
///
/// The stream ends when its last viewer leaves. A capture, for which the link stops the stream, makes only a
/// pause. Only pictures that browsers show are passed on, by what their bytes say.
package actor SensorPreviews {
  private struct Running {
    /// Tells the stream from one before it from the same sensor.
    var number: Int
    var viewers = 0
    let frames: Broadcast<PreviewFrame>
    /// The frame that a new viewer gets first: the next one may come only after a capture.
    let last: Locked<PreviewFrame?>
    /// Gives why the stream could not begin.
    let beginning: Task<Result<SensorPreview, FieldpackError>, Never>
    let showing: Task<Void, Never>
  }

  private let links: SensorLinks
  private var running: [SensorAddress: Running] = [:]
  private var count = 0
  private var isClosed = false
  private let http = Locked<HTTPClient?>(nil)

  /// How many sensors show what they see at a time.
  private static let most = 16
  /// In bytes: a BMP of 1920 x 1080 pixels has 6 MiB.
  private static let longestFrame = 8 << 20
  /// After so many frames that are no pictures, no more are looked at.
  private static let mostBad = 100

  package init(_ links: SensorLinks) { self.links = links }

  // MARK: Viewers

  /// What a sensor sees from now on. A viewer that is slow gets the newest frame.
  ///
  /// - Throws: `.unsupported` for a sensor without a preview, `.busy` where too many sensors show theirs,
  ///   `.unavailable` where the sensor does not answer.
  package func follow(
    _ address: SensorAddress
  ) async throws(FieldpackError) -> Subscription<PreviewFrame> {
    let present = if let known = running[address] { known } else { try begin(address) }
    running[address]?.viewers += 1
    let number = present.number
    let leave: @Sendable () -> Void = { [weak self] in
      Task { [weak self] in await self?.leave(address, number) }
    }
    let frames = present.frames.subscribe(begin: { viewer in
      if let frame = present.last.withLock({ $0 }) { viewer.send(frame) }
      return leave
    })
    if case .failure(let error) = await present.beginning.value { throw error }
    return frames
  }

  private func begin(_ address: SensorAddress) throws(FieldpackError) -> Running {
    guard !isClosed else { throw FieldpackError(.unavailable, "the desk is closed") }
    guard running.count < Self.most else {
      throw FieldpackError(
        .busy, "\(Self.most) sensors show what they see already. Try again when one is closed")
    }
    count += 1
    let number = count
    let frames = Broadcast<PreviewFrame>(capacity: 1)
    let last = Locked<PreviewFrame?>(nil)
    let beginning = Task { await self.open(address) }
    let showing = Task {
      var next = await beginning.value
      while case .success(let preview) = next, await Self.pass(preview, to: frames, last) {
        next = await self.open(address)
      }
      frames.finish()
      self.forget(address, number)
    }
    let begun = Running(
      number: number, frames: frames, last: last, beginning: beginning, showing: showing)
    running[address] = begun
    return begun
  }

  private func leave(_ address: SensorAddress, _ number: Int) {
    guard var left = running[address], left.number == number else { return }
    left.viewers -= 1
    running[address] = left
    guard left.viewers == 0 else { return }
    running[address] = nil
    left.beginning.cancel()
    left.showing.cancel()
  }

  private func forget(_ address: SensorAddress, _ number: Int) {
    if running[address]?.number == number { running[address] = nil }
  }

  /// Ends all streams.
  package func close() {
    isClosed = true
    for one in running.values {
      one.beginning.cancel()
      one.showing.cancel()
    }
    running = [:]
  }

  // MARK: Frames

  private nonisolated func open(
    _ address: SensorAddress
  ) async -> Result<SensorPreview, FieldpackError> {
    do throws(FieldpackError) {
      let http = try http.withLock { (http) throws(FieldpackError) -> HTTPClient in
        if let http { return http }
        let made = try SensorClient.previews()
        http = made
        return made
      }
      return .success(
        try await links.preview(of: address, http: http, limit: Self.longestFrame))
    } catch { return .failure(error) }
  }

  /// Passes the frames on until the preview ends.
  ///
  /// - Returns: whether the link has stopped the preview, so that another one may follow.
  private static func pass(
    _ preview: SensorPreview, to frames: Broadcast<PreviewFrame>, _ last: Locked<PreviewFrame?>
  ) async -> Bool {
    var bad = 0
    do throws(FieldpackError) {
      while bad < mostBad, let frame = try await preview.next() {
        if let shown = shown(frame) {
          last.withLock { $0 = shown }
          frames.send(shown)
          bad = 0
        } else {
          bad += 1
        }
      }
    } catch {}
    let wasStopped = preview.wasStopped
    preview.stop()
    return wasStopped && !Task.isCancelled
  }

  private static func shown(_ frame: PreviewFrame) -> PreviewFrame? {
    guard let type = MediaType(Array(frame.bytes.prefix(MediaType.length))),
      [.jpeg, .png, .bmp].contains(type), let size = PictureSize(of: frame.bytes),
      size.width > 0, size.height > 0, size.width <= ItemThumbnail.pixelLimit / size.height
    else { return nil }
    return PreviewFrame(contentType: type.rawValue, bytes: frame.bytes)
  }
}
