public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
import FieldpackSQLite

/// Answers the requests of devices and stores their readings in a GeoPackage.
///
///     let receiver = MotionReceiver(store)
///     let responses = try await receiver.answer(bodies, at: now)
///
/// Each call is one transaction, and its responses come after it, so nothing that was acknowledged
/// is lost. A batch that was stored before, the same in its time and all its numbers, is acknowledged
/// and not stored again, so that a client may send again what was not acknowledged; a start that is
/// sent again gives another session. The file alone states which sessions are known: several programs
/// may receive at once, and a session that one of them ends is ended for all.
public struct MotionReceiver: Sendable {
  private let store: GeoPackageStore
  private let rate: Double
  private let newSession: @Sendable () -> String

  /// - Parameters:
  ///   - rate: the sampling rate that new sessions are assumed to have, in hertz; more than 0.
  ///   - newSession: gives ids that cannot be guessed, each once.
  public init(
    _ store: GeoPackageStore, rate: Double = MotionSession.standardRate,
    newSession: @escaping @Sendable () -> String = { RandomID.make() }
  ) {
    self.store = store
    self.rate = rate
    self.newSession = newSession
  }

  /// Stores the bodies of requests and gives the answers to them, in their order.
  ///
  /// - Parameters:
  ///   - bodies: a group of requests that came together, such as those of half a second.
  ///   - now: seconds since 1970.
  /// - Throws: what writing throws. Then none of the bodies was stored, and all may be sent again.
  public func answer(
    _ bodies: [[UInt8]], at now: Double
  ) async throws(FieldpackError) -> [MotionIngest.Response] {
    try await answer(
      bodies.map { body in
        Result { () throws(FieldpackError) in try MotionRequest(body: body) }
      }, at: now)
  }

  func answer(
    _ requests: [Result<MotionRequest, FieldpackError>], at now: Double
  ) async throws(FieldpackError) -> [MotionIngest.Response] {
    let sound = requests.compactMap { try? $0.get() }
    guard !sound.isEmpty else { return requests.map { Self.refusal($0) } }
    let (rate, newSession) = (rate, newSession)
    return try await store.write { (writer) throws(FieldpackError) in
      let tables = MotionTables(writer: writer)
      var ingest = try tables.ingest(for: sound, rate: rate, newSession: newSession)
      var records: [MotionRecord] = []
      let responses = requests.map { request in
        guard case .success(let request) = request else { return Self.refusal(request) }
        let answer = ingest.answer(request, at: now)
        if let record = answer.record { records.append(record) }
        return answer.response
      }
      if !records.isEmpty { try MotionLayers.received.prepare(in: writer) }
      for record in records {
        if case .received(let batch) = record, try tables.hasBatch(batch) { continue }
        try tables.store(record)
      }
      return responses
    }
  }

  private static func refusal(
    _ request: Result<MotionRequest, FieldpackError>
  ) -> MotionIngest.Response {
    guard case .failure(let error) = request else { return MotionIngest.Response(200) }
    return MotionIngest.Response(400, error.message)
  }

  /// Ends a session, whose readings get 401 from now on.
  ///
  /// - Throws: `.notFound` where the file has no such session.
  public func revoke(_ session: String, at now: Double) async throws(FieldpackError) {
    try await store.write { (writer) throws(FieldpackError) in
      var isKnown = try writer.hasTable(MotionLayers.session.rawValue)
      if isKnown {
        isKnown = try !writer.rows("SELECT 1 FROM daco_session WHERE uuid = ?", [.text(session)])
          .isEmpty
      }
      guard isKnown else {
        throw FieldpackError(
          .notFound, "there is no session '\(session)'",
          location: .init(layer: MotionLayers.session))
      }
      try writer.execute(
        "UPDATE daco_session SET revoked_at_unix = coalesce(revoked_at_unix, ?) WHERE uuid = ?",
        [.real(now), .text(session)])
      try writer.changed(MotionLayers.session)
    }
  }
}
