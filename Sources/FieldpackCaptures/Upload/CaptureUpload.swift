public import FieldpackCore
public import FieldpackField
import FieldpackGeoPackage
public import FieldpackHTTP

/// Sends captures to a server: the four files of each as one form.
///
/// The layer `upload_job` keeps what was sent where, so that a later run resumes. A capture counts
/// as uploaded only when the server says so.
///
///     let upload = try CaptureUpload(catalogue, to: "https://example.org/upload")
///     for outcome in try await upload.run(captures) { print(outcome.capture.info.token) }
public struct CaptureUpload: Sendable {
  public struct Settings: Sendable {
    /// Form fields that are sent before the files. They are never stored.
    public var fields: [(name: String, value: String)] = []
    /// Whether to use the fixed boundary of old programs, although media may contain it.
    public var usesOldBoundary = false
    /// How many times a capture is sent before it counts as failed.
    public var attempts = 3
    /// The pause before a capture is sent again: 0.5 s, doubled up to 30 s, or what the server asks
    /// for.
    public var backOff = BackOff(first: .milliseconds(500), limit: .seconds(30))
    public var http = HTTPConfiguration()

    public init() { http.timeout = nil }
  }

  /// What happens to a capture, in order.
  public enum Event: Sendable {
    case started
    /// Between 0 and 1, never less than before; 1 comes before the end.
    case progress(Double)
    /// It did not come through, and is sent again after so long.
    case waiting(Duration)
    case succeeded
    case failed(FieldpackError)
  }

  public struct Outcome: Sendable {
    public var capture: Capture
    /// `nil` where the server has it.
    public var error: FieldpackError?
    public var status: Int?
    public var attempts: Int
  }

  public static let oldBoundary = "0xKhTmLbOuNdArY"

  private let catalogue: CaptureCatalogue
  private let url: String
  private let settings: Settings
  private let client: HTTPClient
  private let clock: FieldClock

  public init(
    _ catalogue: CaptureCatalogue, to url: String, settings: Settings = .init(),
    clock: FieldClock = .system
  ) throws(FieldpackError) {
    self.catalogue = catalogue
    self.url = url
    self.settings = settings
    client = try HTTPClient(settings.http)
    self.clock = clock
  }

  /// Sends captures one after the other.
  ///
  /// - Parameter report: called with each event; with progress on the client's thread.
  /// - Throws: what the file throws, and `.interrupted` when cancelled. The outcomes hold the
  ///   errors of the server and of single captures.
  public func run(
    _ captures: [Capture],
    report: @escaping @Sendable (Capture, Event) -> Void = { _, _ in }
  ) async throws(FieldpackError) -> [Outcome] {
    let jobs = UploadJobs(store: catalogue.store, url: url, clock: clock)
    for capture in captures { try await jobs.set(.queued, of: capture) }
    var outcomes: [Outcome] = []
    for capture in captures {
      do throws(FieldpackError) {
        outcomes.append(try await send(capture, jobs, report))
      } catch {
        let state = error.code == .interrupted ? UploadJobs.State.stopped : .failedToStart
        // The task that is cancelled could not write any more.
        await Task.detached {
          try? await jobs.set(state, of: capture, message: error.message)
        }.value
        throw error
      }
    }
    return outcomes
  }

  private func send(
    _ capture: Capture, _ jobs: UploadJobs,
    _ report: @escaping @Sendable (Capture, Event) -> Void
  ) async throws(FieldpackError) -> Outcome {
    let form: MultipartForm
    do throws(FieldpackError) {
      form = try await self.form(of: capture)
    } catch {
      guard error.code == .notFound || error.code == .invalidData else { throw error }
      try await jobs.set(.failedToStart, of: capture, message: error.message)
      report(capture, .failed(error))
      return Outcome(capture: capture, error: error, attempts: 0)
    }
    var attempt = 0
    while true {
      attempt += 1
      try await jobs.set(.started, of: capture, attempt: attempt)
      report(capture, .started)
      let answer = try await exchange(form, capture, report)
      if answer.error == nil {
        try await jobs.succeed(capture, answer, attempt: attempt)
        report(capture, .succeeded)
      } else if answer.isWorthAnother, attempt < settings.attempts {
        let pause = settings.backOff.pause(after: attempt, asked: answer.asked)
        report(capture, .waiting(pause))
        try await wait(pause)
        continue
      } else if let error = answer.error {
        try await jobs.set(
          .failed, of: capture, attempt: attempt, status: answer.status, message: error.message)
        report(capture, .failed(error))
      }
      return Outcome(
        capture: capture, error: answer.error, status: answer.status, attempts: attempt)
    }
  }

  private func exchange(
    _ form: MultipartForm, _ capture: Capture,
    _ report: @escaping @Sendable (Capture, Event) -> Void
  ) async throws(FieldpackError) -> UploadAnswer {
    let request = HTTPRequest(
      .post, url, fields: ["Content-Type": form.contentType], body: .multipart(form),
      maximumLength: 1 << 20)
    let last = Locked(-1.0)
    do throws(FieldpackError) {
      let response = try await client.send(request) { sent, total in
        let share = total > 0 ? Double(sent) / Double(total) : 1
        let isNew = last.withLock { last in
          defer { last = max(last, share) }
          return share > last
        }
        if isNew { report(capture, .progress(share)) }
      }
      if last.withLock({ $0 < 1 }), response.isSuccess { report(capture, .progress(1)) }
      return UploadAnswer(response, token: capture.info.token, at: clock.now)
    } catch {
      if error.code == .interrupted || error.code == .invalidArgument { throw error }
      return UploadAnswer(error: error, isWorthAnother: error.code == .unavailable)
    }
  }

  private func wait(_ pause: Duration) async throws(FieldpackError) {
    do { try await clock.sleep(for: pause) } catch {
      throw FieldpackError(.interrupted, "the upload was cancelled")
    }
  }

  // MARK: The form

  /// - Throws: `.notFound` where the capture lacks a file.
  func form(of capture: Capture) async throws(FieldpackError) -> MultipartForm {
    let info = capture.info
    let geodata = try await catalogue.geodata(of: capture)
    let files = try await catalogue.store.read { (snapshot) throws(FieldpackError) in
      var files: [CaptureRole: [UInt8]] = [:]
      for file in try snapshot.files(of: capture.key.feature) where files[file.role] == nil {
        files[file.role] = try snapshot.withMedia(file.id, in: CaptureLayers.media) {
          (bytes, _) throws(FieldpackError) in bytes.withUnsafeBytes { Array($0) }
        }
      }
      return files
    }
    guard let media = files[.media], let thumbnail = files[.thumbnail] else {
      let name = files[.media] == nil ? info.mediaFile : info.thumbnailFile
      throw FieldpackError(
        .notFound, "\(info.token) lacks \(name), and only whole captures are uploaded")
    }
    return try Self.form(
      info, media: media, thumbnail: thumbnail, info: Array(info.document.text.utf8),
      geodata: Array(geodata.document.text.utf8), settings)
  }

  static func form(
    _ capture: CaptureInfo, media: [UInt8], thumbnail: [UInt8], info: [UInt8], geodata: [UInt8],
    _ settings: Settings
  ) throws(FieldpackError) -> MultipartForm {
    let names = try CaptureFileNames(capture)
    let stated = capture.kind == .video ? "video/quicktime" : "image/jpeg"
    let json = "application/json"
    let parts: [MultipartForm.Part] =
      settings.fields.map { .init($0.name, .bytes(Array($0.value.utf8))) } + [
        .init(
          "media_file", fileName: names.media,
          contentType: MediaType(media)?.rawValue ?? stated, .bytes(media)),
        .init(
          "thumbnail", fileName: names.thumbnail, contentType: "image/png", .bytes(thumbnail)),
        .init(
          "capture_info", fileName: CaptureReading.infoFile, contentType: json, .bytes(info)),
        .init("geo_data", fileName: names.geodata, contentType: json, .bytes(geodata)),
      ]
    return settings.usesOldBoundary
      ? MultipartForm(parts, boundary: oldBoundary) : MultipartForm(parts)
  }
}
