import FieldpackCore
import FieldpackField
import FieldpackGeoPackage

/// The rows of `upload_job` for one address: one for each capture that was ever sent there.
struct UploadJobs: Sendable {
  enum State: String {
    case queued, started, failedToStart, succeeded, failed, stopped
  }

  let store: GeoPackageStore
  /// Without the query, where keys stand.
  let url: String
  let clock: FieldClock

  init(store: GeoPackageStore, url: String, clock: FieldClock) {
    self.store = store
    self.clock = clock
    self.url = url.split(separator: "?", maxSplits: 1).first.map(String.init) ?? url
  }

  func set(
    _ state: State, of capture: Capture, attempt: Int? = nil, status: Int? = nil,
    message: String? = nil
  ) async throws(FieldpackError) {
    try await store.write { (writer) throws(FieldpackError) in
      try set(state, of: capture, attempt: attempt, status: status, message: message, writer)
    }
  }

  /// Says of job and capture that the server has it.
  func succeed(
    _ capture: Capture, _ answer: UploadAnswer, attempt: Int
  ) async throws(FieldpackError) {
    let now = clock.unixSeconds
    try await store.write { (writer) throws(FieldpackError) in
      try set(.succeeded, of: capture, attempt: attempt, status: answer.status, writer)
      try writer.update(
        capture.key.feature, in: CaptureLayers.capture,
        set: [
          "uploaded_at": .dateTime(CaptureRows.instant(now)), "uploaded_at_unix": .real(now),
        ])
    }
  }

  private func set(
    _ state: State, of capture: Capture, attempt: Int?, status: Int?, message: String? = nil,
    _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    var values: Attributes = [
      "state": .text(state.rawValue), "updated_at": .dateTime(clock.now),
      "http_status": status.map { .integer(Int64($0)) } ?? .null,
      "server_message": message.map(Value.text) ?? .null,
    ]
    if let attempt { values["attempt"] = .integer(Int64(attempt)) }
    let token = capture.info.token
    let isThis = Column<String>("capture_token") == token && Column<String>("url") == url
    let known = try writer.features(
      Query(CaptureLayers.job, where: isThis).select([]).limit(1))
    if let id = known.first?.id {
      return try writer.update(id, in: CaptureLayers.job, set: values)
    }
    values["capture_token"] = .text(token)
    values["url"] = .text(url)
    try writer.create(Feature(attributes: values), in: CaptureLayers.job)
  }
}
