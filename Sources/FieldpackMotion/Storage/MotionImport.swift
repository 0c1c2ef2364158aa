public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
import FieldpackSQLite

/// What an import of recorded requests did.
public struct MotionImportReport: Hashable, Sendable {
  /// How many sessions are new in the file.
  public var sessions = 0
  public var batches = 0
  public var samples = 0
  /// How many batches the file had already.
  public var known = 0
  /// How many requests got no answer, or another status than 200, and were therefore not imported.
  public var refused = 0
  /// How many starts belong to no session of the logs.
  public var startsWithoutSession = 0
  /// How many requests were skipped because they could not be read.
  public var skipped = 0
  /// The first 1,000 of them.
  public var skippedRequests: [SkippedRequest] = []

  public init() {}

  public struct SkippedRequest: Hashable, Sendable {
    public var position: FilePosition
    public var reason: String
  }
}

extension MotionImportReport: CustomStringConvertible {
  /// `120 samples of 3 batches in 1 session`, and what was left out.
  public var description: String {
    var text = samples.counting("sample") + " of " + batches.counting("batch", "batches")
    text += " in " + sessions.counting("session")
    if known > 0 { text += "; \(known) known" }
    if refused > 0 { text += "; \(refused) refused" }
    if skipped > 0 { text += "; \(skipped) skipped" }
    return text
  }
}

extension GeoPackageStore {
  /// Imports recorded requests, in one transaction.
  ///
  /// A file is one body of the protocol, or a log with one a line: the body alone, or an object
  /// that holds it as `body`, with `time`, `status` and `response`. Without responses a start is
  /// taken to belong to the next new session; a session without a start gets a device without
  /// names. Batches that the file has already are skipped, so a second import changes nothing.
  /// - Parameters:
  ///   - rate: samples a second of sessions that are new; more than 0.
  ///   - skipsErrors: whether requests that cannot be read are passed over.
  /// - Throws: `.invalidData` with file and line.
  public func importMotion(
    from paths: [String], rate: Double = MotionSession.standardRate, skipsErrors: Bool = false
  ) async throws(FieldpackError) -> MotionImportReport {
    guard rate > 0, rate.isFinite else {
      throw FieldpackError(.invalidArgument, "the rate of samples is more than 0")
    }
    return try await write { (writer) throws(FieldpackError) in
      try MotionLayers.received.prepare(in: writer)
      var work = try MotionImport(writer, rate: rate, skipsErrors: skipsErrors)
      for path in paths { try work.read(path) }
      return work.finish()
    }
  }
}

/// An import that is going on.
private struct MotionImport {
  private let tables: MotionTables
  private let rate: Double
  private let skipsErrors: Bool
  /// Batches up to this one were there before.
  private let lastBatch: Int64
  /// The rates of the sessions seen.
  private var rates: [String: Double] = [:]
  /// A start whose session is not known yet.
  private var pending: MotionSession?
  private var report = MotionImportReport()

  init(
    _ writer: GeoPackageWriter, rate: Double, skipsErrors: Bool
  ) throws(FieldpackError) {
    tables = MotionTables(writer: writer)
    self.rate = rate
    self.skipsErrors = skipsErrors
    lastBatch = try writer.rows("SELECT max(id) FROM daco_batch").first?[0].int.map(Int64.init) ?? 0
  }

  mutating func finish() -> MotionImportReport {
    if pending != nil { report.startsWithoutSession += 1 }
    return report
  }

  mutating func read(_ path: String) throws(FieldpackError) {
    try MotionLog(path: path).read { (entry, line) throws(FieldpackError) in
      let position = FilePosition(file: path, line: line)
      switch entry {
      case .success(let entry): try take(entry)
      case .failure(let error):
        guard skipsErrors else { throw error.adding(position: position) }
        report.skipped += 1
        if report.skippedRequests.count < 1000 {
          report.skippedRequests.append(.init(position: position, reason: error.message))
        }
      }
    }
  }

  private mutating func take(_ entry: MotionLogEntry) throws(FieldpackError) {
    guard entry.status == 200 else {
      report.refused += 1
      return
    }
    switch entry.request {
    case .start(let start):
      var session = MotionSession(
        id: "", device: start.device, startedAt: entry.time ?? start.timestamp, rate: rate)
      if let id = entry.response, !id.isEmpty {
        session.id = id
        _ = try rate(of: session)
      } else {
        if pending != nil { report.startsWithoutSession += 1 }
        pending = session
      }
    case .data(let data): try take(data, at: entry.time ?? data.timestamp)
    }
  }

  private mutating func take(
    _ data: MotionRequest.Data, at moment: Double
  ) throws(FieldpackError) {
    var session =
      pending
      ?? MotionSession(
        id: "", device: .unknown, startedAt: moment, rate: rate)
    session.id = data.session
    let rate = try rate(of: session)
    guard try !isKnown(data) else {
      report.known += 1
      return
    }
    let batch = MotionBatch(
      session: data.session, sentAt: data.timestamp, receivedAt: moment, sections: data.sections,
      samples: MotionSample.samples(of: data.readings, sentAt: data.timestamp, rate: rate))
    try tables.store(.received(batch))
    report.batches += 1
    report.samples += batch.samples.count
  }

  /// The rate of a session, which is stored where it is new and then takes the start that waits.
  private mutating func rate(of session: MotionSession) throws(FieldpackError) -> Double {
    if let rate = rates[session.id] { return rate }
    let rate: Double
    if let known = try tables.session(session.id) {
      rate = known.rate
      // The start of a session that an earlier import brought.
      pending = nil
    } else {
      try tables.store(.started(session))
      report.sessions += 1
      if pending?.device == session.device { pending = nil }
      rate = session.rate
    }
    rates[session.id] = rate
    return rate
  }

  private func isKnown(_ data: MotionRequest.Data) throws(FieldpackError) -> Bool {
    guard lastBatch > 0 else { return false }
    let found = try tables.writer.rows(
      "SELECT 1 FROM daco_batch WHERE session_id = (SELECT id FROM daco_session WHERE uuid = ?) "
        + "AND sent_at_unix = ? AND sample_count = ? AND sections = ? AND id <= ? LIMIT 1",
      [
        .text(data.session), .real(data.timestamp), .integer(Int64(data.readings.count)),
        .integer(data.sections.rawValue), .integer(lastBatch),
      ])
    return !found.isEmpty
  }
}
