public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage

/// What becomes of the edits of a store on their way to a receiver.
public struct DeliveryEvent: Sendable {
  public var store: StoreID
  /// The outcome, or why edits of the store are not sent any more.
  public var outcome: Result<SyncEvent, FieldpackError>
}

/// Sends the edits of stores to a receiver whenever it can be reached: all at first, and each store's
/// own when it is edited.
///
///     let deliveries = EditDeliveries(by: backend.transport, to: "the backend")
///     await deliveries.add(forms.store, forms: ["potholes": 12])
///     await deliveries.follow(backend.isReady)
public actor EditDeliveries {
  private struct Entry {
    var store: GeoPackageStore
    var delivery: EditDelivery
    var task: Task<Void, Never>?
  }

  private let transport: any EditTransport
  private let target: String
  private let clock: FieldClock
  private var entries: [StoreID: Entry] = [:]
  private var isReady = false
  private nonisolated let log = EventLog<DeliveryEvent>()

  /// - Parameter target: what reports and jobs call the receiver.
  public init(
    by transport: any EditTransport, to target: String, clock: FieldClock = .system
  ) {
    (self.transport, self.target, self.clock) = (transport, target, clock)
  }

  /// What becomes of edits, from now on or from the event of that number.
  public nonisolated func events(from number: Int? = nil) -> EventBatches<DeliveryEvent> {
    log.batches(from: number)
  }

  /// Sends the edits of a store from now on; parameters are those of ``EditDelivery``. A store of the
  /// same id takes the place of the one before.
  public func add(
    _ store: GeoPackageStore, forms: [LayerID: Int64] = [:], newestOnly: Set<LayerID> = []
  ) async {
    await remove(store.id)
    entries[store.id] = Entry(
      store: store,
      delivery: EditDelivery(
        of: store, to: target, by: transport, forms: forms, newestOnly: newestOnly, clock: clock))
    if isReady { begin(store.id) }
  }

  /// Leaves a store alone, once the transaction that runs is done.
  public func remove(_ id: StoreID) async {
    guard let entry = entries.removeValue(forKey: id) else { return }
    entry.task?.cancel()
    await entry.task?.value
  }

  /// Sends while the receiver is ready, until the sequence ends or the task is cancelled.
  public func follow(_ readiness: some AsyncSequence<Bool, Never> & Sendable) async {
    for await isReady in readiness {
      self.isReady = isReady
      for id in entries.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
        if isReady { begin(id) } else { await end(id) }
      }
    }
    isReady = false
    for id in entries.keys { await end(id) }
  }

  private func begin(_ id: StoreID) {
    guard let entry = entries[id], entry.task == nil else { return }
    let following = SyncFollowing(store: entry.store, target: target, clock: clock)
    entries[id]?.task = Task { [log] in
      do throws(FieldpackError) {
        try await following.follow(every: nil) { (event) throws(FieldpackError) in
          log.send(DeliveryEvent(store: id, outcome: .success(event)))
        } _: { (_) async throws(FieldpackError) -> SyncReport in
          try await entry.delivery.run()
        }
      } catch {
        guard error.code != .interrupted else { return }
        // The next time that the receiver is ready it is tried again.
        self.entries[id]?.task = nil
        log.send(DeliveryEvent(store: id, outcome: .failure(error)))
      }
    }
  }

  private func end(_ id: StoreID) async {
    guard let task = entries[id]?.task else { return }
    entries[id]?.task = nil
    task.cancel()
    await task.value
  }
}
