import Fieldpack
import FieldpackCore
import FieldpackServices

/// What is told of a service, a store or a form: its state, or what happened to it.
struct ServiceLine: Sendable {
  /// The name that bridges know, such as `SC_DATASTORE_EVT_RUNNING`; `nil` for a state.
  var event: String?
  var service: ServiceID?
  var store: StoreID?
  var form: String?
  /// In the words of JSON.
  var state: String?
  var progress: StoreProgress?
  /// What was changed in a store.
  var key: KeyTuple?
  var layer: LayerID?
  /// What else a person is told.
  var detail: String?
  /// What a backend says.
  var message: String?
  var error: FieldpackError?

  /// For people, `nil` for what tells them nothing.
  var text: String? {
    let subject = service?.rawValue ?? store?.rawValue ?? form.map { "form \($0)" }
    let words = state.map(Self.words) ?? detail
    guard let subject, let words else { return nil }
    var line = "\(subject): \(words)"
    if let progress {
      line += ", \(ProgressDisplay.amount(progress.received))"
      if let total = progress.total { line += " of \(ProgressDisplay.amount(total))" }
    }
    if state != nil, let detail { line += " (\(detail))" }
    return DisplayText.lines(line, error?.text)
  }

  private static func words(_ state: String) -> String {
    state == "unreachable" ? "not reachable" : state.replacing("_", with: " ")
  }

  var document: JSONValue {
    [
      "event": JSONValue(event), "service": JSONValue(service?.rawValue),
      "store": JSONValue(store?.rawValue), "layer": JSONValue(layer?.rawValue),
      "key": JSONValue(key?.description), "form": JSONValue(form), "state": JSONValue(state),
      "received_bytes": JSONValue(progress?.received),
      "total_bytes": JSONValue(progress?.total), "message": JSONValue(message),
      "error": error.map { JSONValue(reason: $0) } ?? .null,
    ]
  }
}

// MARK: States

extension ServiceLine {
  init(_ service: ServiceID, _ status: ServiceStatus?, _ error: FieldpackError?) {
    self.service = service
    state = status?.word
    self.error = error
  }

  init(_ member: Workspace.Member) {
    let config = member.config
    store = config.id
    state = member.state.word
    error = member.state.error
    if case .downloading(let progress) = member.state { self.progress = progress }
    let name = config.name == config.id.rawValue ? nil : config.name
    detail = [name, config.typeIdentifier, config.shownURI].compactMap { $0 }
      .joined(separator: ", ")
  }

  /// A store that was not taken, such as one of a type that is not known.
  init(_ config: StoreConfig, _ error: FieldpackError) {
    store = config.id
    state = "failed"
    self.error = error
    detail = "\(config.typeIdentifier), \(config.shownURI)"
  }
}

extension ServiceStatus {
  fileprivate var word: String {
    switch self {
    case .paused: "paused"
    case .running: "running"
    case .stopped: "stopped"
    case .error: "failed"
    }
  }
}

extension StoreState {
  fileprivate var word: String {
    switch self {
    case .open: "running"
    case .opening: "starting"
    case .paused: "paused"
    case .stopped, .notAsked: "stopped"
    case .downloading: "downloading"
    case .downloadFailed: "download_failed"
    case .failed: "failed"
    }
  }
}

// MARK: Events

extension ServiceLine {
  init(_ event: ServiceEvent, error: FieldpackError?) {
    self.event = event.kind.name
    service = event.service
    switch event.kind {
    case .running: state = "running"
    case .started: state = "starting"
    case .error: state = "failed"
    case .stopped: state = "stopped"
    case .paused: state = "paused"
    case .allStarted: state = nil
    }
    if event.kind == .error { self.error = error }
  }

  /// - Parameter member: the store as it is now; `nil` where it is gone.
  init(_ event: StoreEvent, _ member: Workspace.Member?) {
    self.event = event.kind.name
    store = event.store
    progress = event.progress
    switch event.kind {
    case .removed: state = "removed"
    case .startFailed:
      state = event.status == .downloadFailed ? "download_failed" : "failed"
      error = member?.state.error
    case .running, .resumed: state = "running"
    case .paused: state = "paused"
    case .stopped: state = "stopped"
    case .downloadProgress: state = "downloading"
    case .statusChange:
      switch event.status {
      case .started: state = "starting"
      case .downloading: state = "downloading"
      // What failed is told by itself.
      case .running, .paused, .stopped, .downloadFailed, nil: state = nil
      }
    case .allStarted: state = nil
    case .changed: detail = event.changes.map(Self.counts)
    case .pollFailed:
      detail = "asked again without success, so it stays as it is"
      error = event.reason.map { FieldpackError(.unavailable, $0) }
    }
  }

  private static func counts(_ changes: FeedChanges) -> String {
    let counts = [
      (changes.created.count, "created"), (changes.updated.count, "updated"),
      (changes.deleted.count, "deleted"), (changes.untold, "more changed"),
    ]
    return counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
  }

  init(_ event: ConfigEvent) {
    self.event = event.kind.name
    switch event.kind {
    case .serviceAdded, .serviceRemoved: service = .backend
    case .storeAdded, .storeRemoved: store = event.subject.map { StoreID($0) }
    case .formAdded, .formRemoved: form = event.subject
    }
    switch event.kind {
    case .serviceAdded, .storeAdded, .formAdded: detail = "added to the config"
    case .serviceRemoved, .storeRemoved, .formRemoved: detail = "removed from the config"
    }
  }

  init(_ change: FeatureChange) {
    event = change.kind.rawValue
    (store, layer, key) = (change.store, change.layer, change.key)
    let place = [change.layer?.rawValue, change.key?.feature.description].compactMap { $0 }
    detail =
      switch change.kind {
      case .created, .updated, .deleted: "\(place.joined(separator: "/")) \(change.kind)"
      case .layer: "layer \(place.joined()) changed"
      case .external: "changed by another program, or opened anew"
      }
  }
}

extension ServiceLine {
  /// What became of edits on their way to a backend.
  init(_ event: DeliveryEvent) {
    store = event.store
    switch event.outcome {
    case .success(.finished(let report)):
      let sent = report.layers.reduce(0) { $0 + $1.sent }
      let parked = report.layers.reduce(0) { $0 + $1.parked }
      guard sent + parked > 0 else { return }
      self.event = "SYNC_SENT"
      detail = "\(sent) edits sent" + (parked == 0 ? "" : ", \(parked) refused")
    case .success(.waiting(_, let reason)):
      self.event = "SYNC_WAITING"
      (detail, error) = ("edits wait", reason)
    case .failure(let reason):
      self.event = "SYNC_FAILED"
      (detail, error) = ("edits are not sent any more", reason)
    }
  }
}
