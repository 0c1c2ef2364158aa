public import FieldpackCore
import FieldpackGeoPackage

extension SyncRun {
  /// What ``run()`` would do now, edit by edit. Neither side is written.
  ///
  /// Which values of both stand is known only when the other side has got the edits.
  ///
  /// - Throws: as ``run()``.
  public func plan() async throws(FieldpackError) -> SyncPlan {
    var plan = SyncPlan()
    for layer in try await commonLayers(&plan.notes).names {
      let known = try await knownPosition(layer)
      // What both have because one file is a copy of the other is not sent.
      let common = if let known { known } else { try await commonHead(layer) }
      try await planSending(layer, after: known == nil ? common : 0, &plan)
      try await planTaking(layer, after: common, &plan)
    }
    return plan
  }

  private func planSending(
    _ layer: LayerID, after start: Int64, _ plan: inout SyncPlan
  ) async throws(FieldpackError) {
    let (size, retries) = (batch, retriesParked)
    var last = start
    while true {
      let after = last
      let (steps, parked, end) = try await store.read {
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        let log = try SyncService.log(of: layer, in: snapshot)
        let links = try LinkColumns(of: log, in: snapshot)
        let refused = retries ? [:] : try OutgoingEdits.refused(log, snapshot)
        var (steps, parked): ([SyncPlan.Step], Int) = ([], 0)
        let pending = try log.pending(after: after, limit: size)
        for edit in pending {
          if let first = refused[edit.feature], edit.number >= first {
            parked += 1
          } else if let made = try SyncEdit(
            edit, changed: log.changedColumns(edit), in: log, links, snapshot)
          {
            steps.append(.init(.send, made, in: layer, feature: edit.feature))
          }
        }
        return (steps, parked, pending.last?.number)
      }
      plan.steps += steps
      plan.parked += parked
      guard let end else { return }
      last = end
    }
  }

  private func planTaking(
    _ layer: LayerID, after start: Int64, _ plan: inout SyncPlan
  ) async throws(FieldpackError) {
    var last = start
    while true {
      let page = try await peer.edits(of: layer, after: last, limit: batch)
      guard page.position > last else { return }
      last = page.position
      plan.steps += try await store.read {
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        let log = try SyncService.log(of: layer, in: snapshot)
        var steps: [SyncPlan.Step] = []
        for edit in page.edits where try log.edit(edit.id) == nil {
          let feature = try log.place(of: edit.identity)?.feature
          steps.append(.init(.receive, edit, in: layer, feature: feature))
        }
        return steps
      }
      if page.isLast { return }
    }
  }
}

extension SyncPlan.Step {
  fileprivate init(
    _ direction: Direction, _ edit: SyncEdit, in layer: LayerID, feature: Int64?
  ) {
    self.init(
      direction: direction, layer: layer, edit: edit.id, operation: edit.operation,
      feature: feature, identity: edit.identity, columns: edit.changed, time: edit.time,
      author: edit.author, device: edit.device)
  }
}
