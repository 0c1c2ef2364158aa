import FieldpackCore

/// What a backend has to tell a user.
public struct BackendNotification: Hashable, Sendable {
  public enum Priority: String, Hashable, Sendable, CaseIterable {
    case info
    /// To be shown at once.
    case alert
    /// For the app, not for its user.
    case background
  }

  /// Whom it is for, such as the id of the device; `nil` where that is not told.
  public var recipient: String?
  public var priority: Priority
  public var title: String
  public var body: String
  /// What the backend adds, as JSON; `nil` where it adds nothing.
  public var payload: String?

  public init(
    to recipient: String? = nil, priority: Priority = .info, title: String = "", body: String = "",
    payload: String? = nil
  ) {
    (self.recipient, self.priority) = (recipient, priority)
    (self.title, self.body, self.payload) = (title, body, payload)
  }

  /// - Throws: `.invalidData` for what is no object.
  init(json: String?) throws(FieldpackError) {
    guard let json, let value = try? JSONValueReader.read(json), case .object = value else {
      throw FieldpackError(.invalidData, "a notification of the backend is no JSON object")
    }
    recipient = value["to"]?.string
    // A priority that is not known is no reason to keep the text from the user.
    priority = value["priority"]?.string.flatMap(Priority.init) ?? .info
    title = value["title"]?.string ?? ""
    body = value["body"]?.string ?? ""
    payload = value["payload"].flatMap { $0 == .null ? nil : $0.text }
  }
}
