public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
import FieldpackSQLite

/// Sends the edits of a file one way, to a receiver that acknowledges each of them.
///
/// The edits of a layer go in their order. One counts as sent when the receiver said so, never before.
/// One that the receiver refuses for good is parked with the later ones of its feature, and others go
/// on. Whatever ends a run, the next one sends what is left; an edit whose answer was lost goes again
/// under the same UUID, so that a receiver that knows it keeps it once.
///
///     let report = try await EditDelivery(of: store, to: "office", by: transport).run()
public struct EditDelivery: Sendable {
  private let store: GeoPackageStore
  private let target: String
  private let transport: any EditTransport
  private let clock: FieldClock
  /// How many edits are handed to the transport at once.
  private let batch: Int
  /// The number of the form that each layer is of.
  private let forms: [LayerID: Int64]
  /// Layers of which the newest feature says all, such as a last position.
  private let newestOnly: Set<LayerID>

  /// - Parameters:
  ///   - target: what reports and jobs call the receiver; no secret may stand in it.
  ///   - forms: the numbers of forms, for layers of what was submitted to them.
  ///   - newestOnly: layers of which only the newest edit is sent. The older ones count as sent with it,
  ///     and the file names the edit that stands for them.
  public init(
    of store: GeoPackageStore, to target: String, by transport: any EditTransport,
    forms: [LayerID: Int64] = [:], newestOnly: Set<LayerID> = [], clock: FieldClock = .system,
    batch: Int = 32
  ) {
    (self.store, self.target, self.transport) = (store, Job.target(ofAddress: target), transport)
    (self.forms, self.newestOnly, self.clock) = (forms, newestOnly, clock)
    self.batch = max(1, batch)
  }

  /// Sends what is pending in all logged layers.
  ///
  /// - Throws: why the receiver does not answer, once what it answered is noted; `.unavailable` may go
  ///   well later.
  public func run() async throws(FieldpackError) -> SyncReport {
    let layers = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try snapshot.loggedLayers()
    }
    guard !layers.isEmpty else { return SyncReport() }
    let target = target
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try SyncTables.create(in: writer)
      // The address of a backend may change; a file that synchronises both ways has another receiver.
      try SyncTables.setReceiver("one way", called: target, writer)
    }
    var report = SyncReport()
    for layer in layers {
      var entry = SyncReport.Layer(layer)
      let failure =
        newestOnly.contains(layer)
        ? try await sendNewest(of: layer, &entry) : try await sendAll(of: layer, &entry)
      report.layers.append(entry)
      if let failure { throw failure }
    }
    return report
  }

  /// An edit as it is sent, with its number in the log.
  private struct Pending {
    var number: Int64
    var edit: OutgoingEdit
  }

  private func sendAll(
    of layer: LayerID, _ entry: inout SyncReport.Layer
  ) async throws(FieldpackError) -> FieldpackError? {
    var last: Int64 = 0
    while true {
      let (after, size) = (last, batch)
      let (edits, end, parked) = try await store.read {
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) -> ([Pending], Int64?, Int) in
        let log = try SyncService.log(of: layer, in: snapshot)
        let refused = try OutgoingEdits.refused(log, snapshot)
        let pending = try log.pending(after: after, limit: size)
        var (edits, features, parked): ([Pending], Set<Int64>, Int) = ([], [], 0)
        var end: Int64?
        for edit in pending {
          if edit.number >= refused[edit.feature] ?? .max {
            parked += 1
          } else {
            // The receiver tells its id of a new feature, which the next edit of it needs.
            guard features.insert(edit.feature).inserted else { break }
            edits.append(try outgoing(edit, log, snapshot))
          }
          end = edit.number
        }
        return (edits, end, parked)
      }
      entry.parked += parked
      guard let end else { return nil }
      last = end
      guard !edits.isEmpty else { continue }
      let answers = await transport.send(edits.map(\.edit))
      if let failure = try await note(answers, to: edits, in: layer, &entry) { return failure }
    }
  }

  /// Sends the last edit that is pending, which stands for those before it.
  private func sendNewest(
    of layer: LayerID, _ entry: inout SyncReport.Layer
  ) async throws(FieldpackError) -> FieldpackError? {
    let newest = try await store.read {
      (snapshot: GeoPackageSnapshot) throws(FieldpackError) -> Pending? in
      let log = try SyncService.log(of: layer, in: snapshot)
      guard let edit = try log.lastPending(),
        try OutgoingEdits.refused(log, snapshot)[edit.feature] == nil
      else { return nil }
      return try outgoing(edit, log, snapshot)
    }
    guard let newest else { return nil }
    let answers = await transport.send([newest.edit])
    let failure = try await note(answers, to: [newest], in: layer, &entry)
    guard failure == nil, case .accepted? = answers.first else { return failure }
    let now = clock.now
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      let log = try SyncService.log(of: layer, in: writer)
      while true {
        let older = try log.pending(limit: 1000).filter { $0.number < newest.number }
        guard !older.isEmpty else { break }
        for edit in older {
          guard let id = edit.id else { continue }
          try SyncTables.supersede(id, by: newest.edit.id, writer)
        }
        try writer.markSent(older.map(\.number), in: log, at: now)
      }
    }
    return nil
  }

  private func outgoing(
    _ edit: LoggedEdit, _ log: EditLog, _ snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> Pending {
    Pending(
      number: edit.number,
      edit: OutgoingEdit(
        id: edit.id ?? "", store: store.id, layer: log.layer,
        operation: .init(rawValue: Int(edit.operation.rawValue)) ?? .update,
        feature: try snapshot.feature(of: edit, in: log), time: edit.time, author: edit.author,
        device: edit.device, form: forms[log.layer],
        serverID: try SyncTables.serverID(of: edit.feature, in: log.layer, at: target, snapshot)))
  }

  /// - Returns: why the receiver did not answer all.
  private func note(
    _ answers: [EditAnswer], to edits: [Pending], in layer: LayerID,
    _ entry: inout SyncReport.Layer
  ) async throws(FieldpackError) -> FieldpackError? {
    let (now, target) = (clock.now, target)
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      let log = try SyncService.log(of: layer, in: writer)
      var refused: Set<FeatureID?> = []
      for (answer, pending) in zip(answers, edits) {
        switch answer {
        case .accepted(let serverID):
          try writer.markSent([pending.number], in: log, at: now)
          if let serverID, let feature = pending.edit.feature.id {
            try SyncTables.note(serverID, of: feature, in: layer, at: target, writer)
          }
        case .refused(let error):
          guard refused.insert(pending.edit.feature.id).inserted else { continue }
          try SyncTables.park(pending.edit.id, of: layer, at: target, error.message, now, writer)
        case .later: break
        }
      }
    }
    var failure: FieldpackError?
    for answer in answers {
      switch answer {
      case .accepted: entry.sent += 1
      case .refused: entry.parked += 1
      case .later(let error): failure = error
      }
    }
    guard failure == nil, answers.count < edits.count else { return failure }
    return FieldpackError(.unavailable, "\(target) did not answer all edits")
  }
}
