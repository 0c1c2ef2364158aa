import FieldpackCore
import FieldpackServices

extension ServiceLine {
  /// What happens between the device and its backend.
  init(_ event: BackendEvent) {
    service = .backend
    switch event {
    case .offline: (self.event, detail) = ("SC_BACKEND_EVT_OFFLINE", "no network")
    case .connected: (self.event, detail) = ("SC_BACKEND_EVT_CONNECTED", "connected")
    case .disconnected(let error):
      (self.event, detail) = ("SC_BACKEND_EVT_DISCONNECTED", "not connected")
      self.error = error
    case .registered: (self.event, detail) = ("SC_BACKEND_EVT_REGISTERED", "device registered")
    case .configReceived(let origin):
      self.event = "SC_BACKEND_EVT_CONFIG_RECEIVED"
      detail = origin == .cache ? "config of the last time taken" : "config received"
    case .configChanged(let action, let subject):
      (self.event, detail) = ("SC_BACKEND_EVT_CONFIG_CHANGED", "\(action) \(subject)")
      message = action
      if action.hasSuffix("STORE") { store = StoreID(subject) } else { form = subject }
    case .notification(let notification):
      self.event = "SC_BACKEND_EVT_NOTIFICATION"
      let texts = [notification.title, notification.body].filter { !$0.isEmpty }
      message = texts.joined(separator: ": ")
      detail = "\(notification.priority): \(texts.joined(separator: ": "))"
    case .failed(let error):
      (self.event, detail) = ("SC_BACKEND_EVT_FAILED", "failed, and goes on")
      self.error = error
    }
  }
}
