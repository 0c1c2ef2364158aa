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
    /// Further fields in the head of each request, such as `Authorization`.
    public var header: HTTPFields = [:]
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
    guard !captures.isEmpty else { return [] }
    let runner = JobRunner(
      CaptureLayers.jobs, in: catalogue.store,
      JobRules(attempts: settings.attempts, backOff: settings.backOff), clock: clock)
    try await catalogue.store.write { (writer) throws(FieldpackError) in
      _ = try CaptureLayers.prepare(writer)
    }
    let jobs = try await runner.queue(
      captures.map { .text($0.info.token) }, with: Job.target(ofAddress: url))
    var outcomes: [Outcome] = []
    for (capture, job) in zip(captures, jobs) {
      outcomes.append(try await send(capture, job, runner, report))
    }
    return outcomes
  }

  private func send(
    _ capture: Capture, _ job: Job, _ runner: JobRunner,
    _ report: @escaping @Sendable (Capture, Event) -> Void
  ) async throws(FieldpackError) -> Outcome {
    var form: MultipartForm?
    let (job, error) = try await runner.run(job) {
      (job: inout Job) async throws(FieldpackError) -> JobAnswer in
      do throws(FieldpackError) {
        if form == nil { form = try await self.form(of: capture) }
      } catch {
        guard error.code == .notFound || error.code == .invalidData else { throw error }
        return .notStarted(error)
      }
      guard let form else { return .done }
      report(capture, .started)
      let answer = try await exchange(form, capture, &job, report)
      job.status = answer.status
      return answer.error.map { .failed($0, again: answer.isWorthAnother, asked: answer.asked) }
        ?? .done
    } waiting: { pause in
      report(capture, .waiting(pause))
    } done: { [clock] writer throws(FieldpackError) in
      let now = clock.unixSeconds
      try writer.update(
        capture.key.feature, in: CaptureLayers.capture,
        set: [
          "uploaded_at": .dateTime(CaptureRows.instant(now)), "uploaded_at_unix": .real(now),
        ])
    }
    report(capture, error.map { .failed($0) } ?? .succeeded)
    return Outcome(capture: capture, error: error, status: job.status, attempts: job.attempt)
  }

  private func exchange(
    _ form: MultipartForm, _ capture: Capture, _ job: inout Job,
    _ report: @escaping @Sendable (Capture, Event) -> Void
  ) async throws(FieldpackError) -> UploadAnswer {
    var fields = settings.header
    fields["Content-Type"] = form.contentType
    let request = HTTPRequest(
      .post, url, fields: fields, body: .multipart(form), maximumLength: 1 << 20)
    let last = Locked(-1.0)
    let bytes = Locked((sent: 0, total: 0))
    defer { (job.bytesSent, job.bytesTotal) = bytes.withLock { ($0.sent, $0.total) } }
    do throws(FieldpackError) {
      let response = try await client.send(request) { sent, total in
        bytes.withLock { $0 = (Int(sent), Int(total)) }
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
