/// What changed in the configs of a ``ConfigService``.
public struct ConfigEvent: Hashable, Sendable {
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// A config names a backend, and did not before.
    case serviceAdded = 0
    /// No config names a backend any more.
    case serviceRemoved = 1
    case storeAdded = 2
    case storeRemoved = 3
    case formAdded = 4
    case formRemoved = 5

    /// The name that bridges know; those of forms are ours.
    public var name: String {
      switch self {
      case .serviceAdded: "SC_CONFIG_SERVICE_ADDED"
      case .serviceRemoved: "SC_CONFIG_SERVICE_REMOVED"
      case .storeAdded: "SC_CONFIG_DATASERVICE_STORE_ADDED"
      case .storeRemoved: "SC_CONFIG_DATASERVICE_STORE_REMOVED"
      case .formAdded: "SC_CONFIG_DATASERVICE_FORM_ADDED"
      case .formRemoved: "SC_CONFIG_DATASERVICE_FORM_REMOVED"
      }
    }
  }

  public var kind: Kind
  /// The id of the store, or the key of the form; `nil` for a service.
  public var subject: String?

  public init(_ kind: Kind, _ subject: String? = nil) {
    (self.kind, self.subject) = (kind, subject)
  }
}
