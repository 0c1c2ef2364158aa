import FieldpackCore
import FieldpackLocation

/// The topics that a device and its backend use.
struct BackendTopics: Hashable {
  let replies: String
  let will: String
  let ownNotifications: String

  static let configUpdates = "/config/update"
  static let notifications = "/notify"
  static let registration = "/config/register"
  static let config = "/config"
  static let ping = "/ping"
  static let deviceInfo = "/device/info"

  /// - Throws: `.invalidArgument` for a device whose id cannot stand in a topic.
  init(device: String) throws(FieldpackError) {
    try Self.check(device, "device")
    replies = "/device/\(device)-replyTo"
    will = "/device/\(device)-will"
    ownNotifications = "/notify/\(device)"
  }

  /// What is subscribed to.
  var incoming: [String] {
    [replies, Self.configUpdates, Self.notifications, ownNotifications]
  }

  /// Where edits go.
  ///
  /// - Throws: `.invalidArgument` for a store whose id cannot stand in a topic, or means another one.
  static func edits(of edit: OutgoingEdit) throws(FieldpackError) -> String {
    if edit.form != nil { return "/store/form" }
    if edit.store == LocationStore.id { return "/store/tracking" }
    let id = edit.store.rawValue
    try check(id, "store")
    guard id != "form", id != "tracking" else {
      throw FieldpackError(
        .invalidArgument, "the store '\(id)' has the name of another channel of the backend",
        location: .init(store: edit.store))
    }
    return "/store/\(id)"
  }

  /// An id is one level of a topic, so that it names no other's.
  private static func check(_ id: String, _ what: String) throws(FieldpackError) {
    guard !id.isEmpty, !id.contains("/") else {
      throw FieldpackError(
        .invalidArgument,
        "the id of the \(what) '\(id)' is empty or has a '/', and cannot stand in a topic")
    }
    try BrokerMessage.check(topic: id)
  }
}
