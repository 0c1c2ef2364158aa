public import FieldpackCore

/// What happens between a ``BackendService`` and its backend.
public enum BackendEvent: Sendable {
  /// Where a config comes from.
  public enum Origin: String, Hashable, Sendable {
    /// What was kept of the last time.
    case cache
    case backend
  }

  /// No other machine can be reached.
  case offline
  case connected
  /// The connection is lost, or could not be made; another attempt follows.
  case disconnected(FieldpackError)
  /// The backend was told of this device.
  case registered
  /// A whole config is there, and what it describes was taken.
  case configReceived(Origin)
  /// The backend changed one store or form.
  ///
  /// - Parameters:
  ///   - action: such as `CONFIG_ADD_STORE`.
  ///   - subject: the id of the store, or the key of the form.
  case configChanged(action: String, subject: String)
  case notification(BackendNotification)
  /// A message of the backend was of no use, or a request was not answered. The service goes on.
  case failed(FieldpackError)
}
