import FieldpackCore
import FieldpackField
import FieldpackGeoPackage

/// Sending the edits of the file, in their order.
extension SyncRun {
  /// While edits are on their way, the answers to those before are noted and the next edits are read.
  ///
  /// - Returns: whether edits wait for those of another layer.
  func push(
    _ layer: LayerID, of common: [LayerID], _ entry: inout SyncReport.Layer,
    _ conflicts: inout [SyncReport.Conflict]
  ) async throws(FieldpackError) -> Bool {
    var outgoing = try await outgoing(layer, of: common, after: 0)
    var (answered, next): (Exchange?, OutgoingEdits?) = (nil, nil)
    while let last = outgoing.last {
      entry.parked += outgoing.parked
      var rest = outgoing.edits
      while !rest.isEmpty {
        let edits = rest
        async let sending = send(edits, of: layer)
        if let answered { try await note(answered, in: layer, &entry, &conflicts) }
        if next == nil { next = try await self.outgoing(layer, of: common, after: last) }
        let sent = Exchange(edits: edits, receipt: try await sending.get())
        try check(sent)
        answered = sent
        rest.removeFirst(sent.receipt.answers.count)
        if sent.isSmooth { continue }
        try await note(sent, in: layer, &entry, &conflicts)
        if sent.receipt.answers.last?.verdict == .later { return true }
        // Later edits of a refused feature stay here.
        (answered, next) = (nil, nil)
        let refused = sent.refused
        let left = rest.filter { !refused.contains($0.identity) }
        entry.parked += rest.count - left.count
        rest = left
      }
      // What an edit waits for may be sent by now.
      if next == nil || next?.waits == true {
        if let answered { try await note(answered, in: layer, &entry, &conflicts) }
        (answered, next) = (nil, try await self.outgoing(layer, of: common, after: last))
      }
      if let next { outgoing = next }
      next = nil
    }
    if let answered { try await note(answered, in: layer, &entry, &conflicts) }
    return outgoing.waits
  }

  /// Edits that were sent, and what the other side answered to the first of them.
  private struct Exchange {
    var edits: [SyncEdit]
    var receipt: SyncReceipt

    /// Whether the other side has taken all that it answered to.
    var isSmooth: Bool {
      receipt.answers.allSatisfy { $0.verdict == .applied || $0.verdict == .conflict }
    }

    /// The features with an edit that is refused.
    var refused: Set<String> {
      Set(zip(receipt.answers, edits).filter { $0.0.verdict == .refused }.map { $0.1.identity })
    }
  }

  private func outgoing(
    _ layer: LayerID, of common: [LayerID], after number: Int64
  ) async throws(FieldpackError) -> OutgoingEdits {
    let (file, size) = (FileIdentity(store.path), batch)
    return try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try OutgoingEdits(layer, of: common, in: snapshot, at: file, after: number, limit: size)
    }
  }

  private func send(
    _ edits: [SyncEdit], of layer: LayerID
  ) async -> Result<SyncReceipt, FieldpackError> {
    do throws(FieldpackError) { return .success(try await peer.send(edits, of: layer)) } catch {
      return .failure(error)
    }
  }

  private func check(_ exchange: Exchange) throws(FieldpackError) {
    let (edits, answers) = (exchange.edits, exchange.receipt.answers)
    let isSound =
      !answers.isEmpty && answers.count <= edits.count
      && zip(answers, edits).allSatisfy { $0.edit == $1.id }
      && answers.dropLast().allSatisfy { $0.verdict != .later }
    guard isSound else {
      throw FieldpackError(
        .invalidData, "\(peer.name) does not answer the edits that it was sent")
    }
  }

  // MARK: Noting

  private func note(
    _ exchange: Exchange, in layer: LayerID, _ entry: inout SyncReport.Layer,
    _ conflicts: inout [SyncReport.Conflict]
  ) async throws(FieldpackError) {
    let now = clock.now
    let name = peer.name
    conflicts += try await store.write {
      (writer: GeoPackageWriter) throws(FieldpackError) -> [SyncReport.Conflict] in
      let log = try SyncService.log(of: layer, in: writer)
      var sent: [Int64] = []
      var refused: Set<String> = []
      var told: [SyncReport.Conflict] = []
      for (answer, edit) in zip(exchange.receipt.answers, exchange.edits) {
        switch answer.verdict {
        case .applied, .conflict:
          sent.append(edit.position)
          guard !answer.conflicts.isEmpty else { continue }
          let feature = try log.place(of: edit.identity)?.feature
          try SyncTables.note(
            answer.conflicts, of: edit, feature: feature, in: layer, at: now, writer)
          told += answer.conflicts.map { .init(layer: layer, feature: feature, values: $0) }
        case .refused:
          // One parked edit of a feature holds back all later edits of that feature.
          guard refused.insert(edit.identity).inserted else { continue }
          try SyncTables.park(
            edit.id, of: layer, at: Job.target(ofAddress: name), answer.message, now, writer)
        case .later: break
        }
      }
      try writer.markSent(sent, in: log, at: now)
      try Self.goOn(after: exchange.receipt, log, writer)
      return told
    }
    conflicts.removeLast(max(0, conflicts.count - SyncReport.toldConflicts))
    for answer in exchange.receipt.answers {
      switch answer.verdict {
      case .applied, .conflict: entry.sent += 1
      case .refused: entry.parked += 1
      case .later: break
      }
      entry.conflicts += answer.conflicts.count
    }
  }

  /// Notes that the other side's log is known up to its end. This holds where it was known before the
  /// edits came and they were applied as they are: then they would come back without a change.
  private static func goOn(
    after receipt: SyncReceipt, _ log: EditLog, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    let records = PullRecords(layer: log.layer, snapshot: writer)
    guard receipt.position > receipt.before,
      receipt.answers.allSatisfy({ $0.verdict == .applied }),
      try records.last()?.position == receipt.before
    else { return }
    let head = try log.head()
    try records.save(
      .init(first: head &+ 1, last: head, position: receipt.position, edit: receipt.edit), writer)
  }
}
