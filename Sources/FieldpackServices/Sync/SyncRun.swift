public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
import FieldpackSQLite

/// Brings the edits of a file and of another side together, in both directions.
///
/// First the edits of this file go, in their order. Then the edits of others come from the other side.
/// Where others edited first, the edits of this file come back as well, with what became of them there.
/// Each step is one transaction on each side: a run that ends anywhere leaves nothing half done, and the
/// next run goes on. An edit that the other side did not acknowledge is sent again with its UUID, and is
/// applied once.
///
///     let report = try await SyncRun(of: device, with: SyncService(of: office)).run()
///
/// The files must have a common origin: one began as a copy of the other, after its layers were logged.
public struct SyncRun: Sendable {
  let store: GeoPackageStore
  let peer: any SyncPeer
  let clock: FieldClock
  /// How many edits are sent, and taken, at once.
  let batch: Int
  /// Whether edits that the other side has refused are sent again, and later ones of their features.
  public var retriesParked = false

  public init(
    of store: GeoPackageStore, with peer: any SyncPeer, clock: FieldClock = .system,
    batch: Int = 2000
  ) {
    (self.store, self.peer, self.clock, self.batch) = (store, peer, clock, max(1, batch))
  }

  /// What reports call the other side.
  package var receiver: String { peer.name }

  /// Synchronises all layers that both sides log.
  ///
  /// - Throws: `.constraint` for files without a common origin or with other columns, `.unavailable`
  ///   where the other side cannot be reached; what was done stays done.
  public func run() async throws(FieldpackError) -> SyncReport {
    var report = SyncReport()
    let layers = try await commonLayers(&report.notes)
    let (retries, name) = (retriesParked, peer.name)
    try await store.keepStatementJournals()
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try SyncTables.create(in: writer)
      if retries { try SyncTables.forgetRefusals(writer) }
    }
    for layer in layers.names { try await findBase(layer) }
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      // A receiver has a UUID since its first edit came: one without is not the receiver that is known.
      let known = try SyncTables.file(in: writer).receiver
      if known != nil || layers.receiver != nil {
        try SyncTables.setReceiver(layers.receiver ?? "", called: name, writer)
      }
    }
    for layer in layers.names {
      var entry = SyncReport.Layer(layer)
      if try await push(layer, of: layers.names, &entry, &report.conflicts) {
        report.notes.append("edits of layer '\(layer)' wait for those of another layer")
      }
      try await pull(layer, &entry, &report.conflicts)
      report.layers.append(entry)
    }
    if layers.receiver == nil { try await keepReceiver() }
    return report
  }

  /// Keeps the UUID of the other side, which has one since its first edit came.
  private func keepReceiver() async throws(FieldpackError) {
    guard let receiver = try await peer.layers().compactMap(\.replica).first else { return }
    let name = peer.name
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try SyncTables.setReceiver(receiver, called: name, writer)
    }
  }

  // MARK: Layers

  private func ownLayers() async throws(FieldpackError) -> [SyncLayer] {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try SyncLayer.all(in: snapshot)
    }
  }

  /// The layers that both sides log, in the order in which their edits go, and the UUID of the other
  /// side.
  func commonLayers(
    _ notes: inout [String]
  ) async throws(FieldpackError) -> (names: [LayerID], receiver: String?) {
    let own = try await ownLayers()
    let others = try await peer.layers()
    if let id = own.first?.replica, others.contains(where: { $0.receiver == id }) {
      throw FieldpackError(
        .constraint,
        "\(store.path) receives the edits of \(peer.name), and not the other way round. "
          + "Try: name \(peer.name) first")
    }
    var common: [LayerID] = []
    for layer in own {
      guard let other = others.first(where: { $0.name == layer.name }) else {
        notes.append("layer '\(layer.name)' is logged here only, and stays as it is")
        continue
      }
      try layer.checkFits(other, at: peer.name)
      common.append(layer.name)
    }
    for other in others where !own.contains(where: { $0.name == other.name }) {
      notes.append("layer '\(other.name)' is logged in \(peer.name) only, and stays as it is")
    }
    guard !common.isEmpty else {
      throw FieldpackError(
        .constraint,
        "\(store.path) and \(peer.name) have no logged layer in common. Try: log the edits of a "
          + "layer, and begin the other file as a copy")
    }
    return (common, others.compactMap(\.replica).first)
  }

  // MARK: Where both logs are the same

  private func lastPull(_ layer: LayerID) async throws(FieldpackError) -> PullRecords.Pull? {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try PullRecords(layer: layer, snapshot: snapshot).last()
    }
  }

  /// The place in the other side's log up to which this file knows it; `nil` the first time.
  ///
  /// - Throws: `.constraint` where that log does not go on from where it was last.
  func knownPosition(_ layer: LayerID) async throws(FieldpackError) -> Int64? {
    guard let last = try await lastPull(layer) else { return nil }
    guard try await peer.edit(at: last.position, of: layer) == last.edit else {
      throw FieldpackError(
        .constraint,
        "the log of layer '\(layer)' in \(peer.name) is not the one that was seen before: it is "
          + "another file, or an older copy of it. Try: a new copy of \(peer.name)",
        location: .init(store: store.id, layer: layer))
    }
    return last.position
  }

  /// The first time, finds how far both logs are the same because one file is a copy of the other. What
  /// both have is not sent.
  private func findBase(_ layer: LayerID) async throws(FieldpackError) {
    guard try await knownPosition(layer) == nil else { return }
    let common = try await commonHead(layer)
    let now = clock.now
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      let log = try SyncService.log(of: layer, in: writer)
      try log.markSent(upTo: common, at: now)
      try PullRecords(layer: layer, snapshot: writer)
        .save(.init(first: 1, last: common, position: common, edit: log.id(at: common)), writer)
    }
  }

  /// The last place up to which both logs have the same edits, by halving.
  func commonHead(_ layer: LayerID) async throws(FieldpackError) -> Int64 {
    var (low, found): (Int64, Int64) = (0, 0)
    var high = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try SyncService.log(of: layer, in: snapshot).head()
    }
    while low < high {
      let middle = high - (high - low) / 2
      let (place, id) = try await store.read {
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        try SyncService.log(of: layer, in: snapshot).lastEdit(upTo: middle)
      }
      guard let place, place > low else {
        // No edit is there, only states of before.
        low = middle
        continue
      }
      if try await peer.edit(at: place, of: layer) == id {
        (low, found) = (middle, place)
      } else {
        high = place - 1
      }
    }
    return found
  }

  // MARK: Taking

  private func pull(
    _ layer: LayerID, _ entry: inout SyncReport.Layer, _ conflicts: inout [SyncReport.Conflict]
  ) async throws(FieldpackError) {
    while true {
      let start = try await lastPull(layer)?.position ?? 0
      let page = try await peer.edits(of: layer, after: start, limit: batch)
      guard page.position > start else { return }
      let now = clock.now
      let count = page.edits.count
      let (changed, waits, unfit) = try await store.write {
        (writer: GeoPackageWriter) throws(FieldpackError)
          -> (Int, Bool, [SyncReport.Conflict]) in
        let records = PullRecords(layer: layer, snapshot: writer)
        // Another run of this file may have taken the page meanwhile.
        guard try (records.last()?.position ?? 0) == start else { return (0, false, []) }
        let log = try SyncService.log(of: layer, in: writer)
        let intake = try EditIntake(log, writer, records, at: now)
        var (changed, unfit): (Int, [SyncReport.Conflict]) = (0, [])
        var page = page
        for (index, edit) in page.edits.enumerated() {
          guard let isChange = try intake.takeOrTell(edit, &unfit) else {
            // The feature that the edit names comes with another layer, in the next run.
            page.edits.removeSubrange(index...)
            page.position = page.edits.last?.position ?? start
            page.edge = nil
            break
          }
          if isChange { changed += 1 }
        }
        guard page.position > start else { return (changed, true, unfit) }
        let edge =
          page.edits.last.flatMap { $0.position == page.position ? $0.id : nil } ?? page.edge
        try records.save(
          .init(first: intake.first, last: log.head(), position: page.position, edit: edge), writer)
        return (changed, page.edits.count < count, unfit)
      }
      entry.received += changed
      entry.conflicts += unfit.count
      conflicts += unfit.prefix(max(0, SyncReport.toldConflicts - conflicts.count))
      if page.isLast || waits { return }
    }
  }
}

extension SyncLayer {
  /// Checks that two layers can exchange edits.
  func checkFits(_ other: SyncLayer, at place: String) throws(FieldpackError) {
    guard origin == other.origin else {
      throw FieldpackError(
        .constraint,
        "layer '\(name)' of \(place) has another origin: neither file began as a copy of the other, "
          + "so that nobody can tell which features are the same. Try: begin with a copy",
        location: .init(layer: name))
    }
    guard references == other.references else {
      throw FieldpackError(
        .constraint,
        "layer '\(name)' links other layers in \(place). Try: give both files the same relations",
        location: .init(layer: name))
    }
    let (mine, theirs) = (Set(columns), Set(other.columns))
    guard columns == other.columns else {
      let differing = mine.symmetricDifference(theirs).sorted().joined(separator: ", ")
      throw FieldpackError(
        .constraint,
        "layer '\(name)' has other columns in \(place)"
          + (differing.isEmpty ? ", or in another order" : ": \(differing)")
          + ". Try: give both files the same columns", location: .init(layer: name))
    }
  }
}

extension EditLog {
  /// The UUID of the edit at a place; `nil` where there is none.
  func id(at number: Int64) throws(FieldpackError) -> String? {
    try edits(after: number &- 1, limit: 1).first { $0.number == number }?.id
  }

  /// The place and the UUID of the last edit up to a place.
  func lastEdit(upTo number: Int64) throws(FieldpackError) -> (place: Int64?, id: String?) {
    let edit = try last(upTo: number)
    return (edit?.number, edit?.id)
  }
}
