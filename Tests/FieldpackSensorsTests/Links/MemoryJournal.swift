import FieldpackCore
import FieldpackField
import FieldpackSensors

/// A journal in memory that holds links to the order of their work.
actor MemoryJournal: SensorJournal {
  private(set) var entries: [SensorLogEntry] = []
  private(set) var sessions: [SensorAddress: SensorSession] = [:]
  private(set) var pending: [PendingCapture] = []
  private(set) var stored: [String: [UInt8]] = [:]
  private(set) var metadata: [String: String] = [:]
  private(set) var lost: [String: String] = [:]
  /// All ids that were ever kept.
  private(set) var known: Set<String> = []
  /// Whether items are gone.
  var hasNoItems = false
  private var refusal: FieldpackError?

  /// The names of the operations after the first question, without those that `keeping` leaves out.
  func operations(
    of sequence: SensorSequence? = nil, _ keeping: (SensorLogEntry) -> Bool = { _ in true }
  ) -> [String] {
    entries.filter { $0.operation != .getCommonInfo }
      .filter { (sequence == nil || $0.sequence == sequence) && keeping($0) }
      .map(\.operation.name)
  }

  func forget() { entries = [] }
  func refuse(_ error: FieldpackError?) { refusal = error }
  func loseItems() { hasNoItems = true }
  func leave(_ session: SensorSession) { sessions[session.device] = session }

  func operation(_ entry: SensorLogEntry) async throws(FieldpackError) { entries.append(entry) }

  func session(_ session: SensorSession) async throws(FieldpackError) {
    sessions[session.device] = session.id == nil ? nil : session
  }

  func forget(_ session: SensorSession) async throws(FieldpackError) {
    if sessions[session.device]?.id == session.id { sessions[session.device] = nil }
  }

  func captured(
    _ ids: [String], by device: SensorAddress, for item: KeyTuple?
  ) async throws(FieldpackError) {
    if let refusal { throw refusal }
    for id in ids {
      // One that is settled names a new capture.
      let wasSettled = stored.removeValue(forKey: id) != nil || lost.removeValue(forKey: id) != nil
      guard known.insert(id).inserted || wasSettled else { continue }
      pending.append(PendingCapture(id: id, device: device, item: item))
    }
  }

  func post(_ download: SensorDownload) async throws(FieldpackError) -> KeyTuple? {
    if let refusal { throw refusal }
    if hasNoItems { throw FieldpackError(.notFound, "the item is gone") }
    guard stored[download.captureId] == nil else { return nil }
    let capture = pending.first { $0.id == download.captureId }
    stored[download.captureId] = try download.content.all()
    metadata[download.captureId] = download.metadata
    pending.removeAll { $0.id == download.captureId }
    return download.item ?? capture?.item
      ?? KeyTuple(store: "store", layer: "bio_item", feature: 1)
  }

  func lost(
    _ captureId: String, by device: SensorAddress, because: FieldpackError
  ) async throws(FieldpackError) {
    guard stored[captureId] == nil else { return }
    lost[captureId] = because.message
    pending.removeAll { $0.id == captureId }
  }

  func unfinished() async throws(FieldpackError) -> UnfinishedWork {
    UnfinishedWork(sessions: Array(sessions.values), captures: pending)
  }
}

/// A sensor that is simulated, and a link to it.
struct LinkedSensor {
  let simulator: SensorSimulator
  let journal = MemoryJournal()
  let link: SensorLink
  let events: Broadcast<SensorEvent>
  let told: Subscription<SensorEvent>

  static let item = KeyTuple(store: "store", layer: "bio_item", feature: 7)
  static let configuration: SensorDictionary = ["width": .integer(640), "stream": .string("x")]

  /// - Parameter thrifty: whether the picture is larger than what is downloaded.
  init(
    clock: FieldClock, thrifty: Bool = true,
    _ change: (inout SensorSimulator.Options) -> Void = { _ in }
  ) {
    var options = SensorSimulator.Options()
    options.picture.longerSide = 32
    change(&options)
    simulator = SensorSimulator(options, clock: clock)
    events = Broadcast(capacity: 10_000)
    told = events.subscribe()
    var linking = SensorLink.Options()
    linking.maximumSize = thrifty ? 16 : 1024
    link = SensorLink(
      SensorAddress(uri: "http://127.0.0.1/a", name: "a"), service: simulator, journal: journal,
      events: events, options: linking, clock: clock)
  }

  /// What was told so far; nobody is told anything after that.
  func allTold() async -> [SensorEvent] {
    events.finish()
    var all: [SensorEvent] = []
    for await event in told.stream { all.append(event) }
    return all
  }
}
