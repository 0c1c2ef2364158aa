/// What a message of a backend is about. The first backends know actions by number, later ones by
/// `v1/` and a name.
package struct BackendAction: Hashable, Sendable, CustomStringConvertible {
  /// `nil` for an action that has a name alone.
  package let number: Int32?
  /// Without `v1/`; `nil` for a number that no action is known for.
  package let name: String?

  private init(_ number: Int32?, _ name: String?) { (self.number, self.name) = (number, name) }

  package static let createFeature = BackendAction(114, "DATASERVICE_CREATEFEATURE")
  package static let updateFeature = BackendAction(115, "DATASERVICE_UPDATEFEATURE")
  package static let deleteFeature = BackendAction(116, "DATASERVICE_DELETEFEATURE")
  package static let configFull = BackendAction(500, "CONFIG_FULL")
  package static let storeList = BackendAction(501, "CONFIG_STORE_LIST")
  package static let addStore = BackendAction(502, "CONFIG_ADD_STORE")
  package static let removeStore = BackendAction(503, "CONFIG_REMOVE_STORE")
  package static let updateStore = BackendAction(504, "CONFIG_UPDATE_STORE")
  package static let formList = BackendAction(505, "CONFIG_FORM_LIST")
  package static let addForm = BackendAction(506, "CONFIG_ADD_FORM")
  package static let removeForm = BackendAction(507, "CONFIG_REMOVE_FORM")
  package static let updateForm = BackendAction(508, "CONFIG_UPDATE_FORM")
  package static let registerDevice = BackendAction(509, "CONFIG_REGISTER_DEVICE")
  package static let notifications = BackendAction(600, "NOTIFICATIONS")
  package static let notificationAlert = BackendAction(601, "NOTIFICATION_ALERT")
  package static let notificationInfo = BackendAction(602, "NOTIFICATION_INFO")
  /// Shares its number with ``notificationInfo``.
  package static let notificationContent = BackendAction(602, "NOTIFICATION_CONTENT_AVAILABLE")
  package static let deviceInfo = BackendAction(nil, "DEVICE_INFO")

  /// All that backends exchange. Of two with one number the first is meant.
  package static let all: [BackendAction] = [
    createFeature, updateFeature, deleteFeature, configFull, storeList, addStore, removeStore,
    updateStore, formList, addForm, removeForm, updateForm, registerDevice, notifications,
    notificationAlert, notificationInfo, notificationContent, deviceInfo,
  ]

  /// The action of that number; `nil` for 0, which says that there is none.
  package init?(number: Int32) {
    guard number != 0 else { return nil }
    self = Self.all.first { $0.number == number } ?? BackendAction(number, nil)
  }

  /// The action of that name, with or without the version before it; `nil` for an empty one.
  package init?(name: String) {
    let plain = name.hasPrefix("v1/") ? String(name.dropFirst(3)) : name
    guard !plain.isEmpty else { return nil }
    self = Self.all.first { $0.name == plain } ?? BackendAction(nil, plain)
  }

  package var description: String { name ?? number.map(String.init) ?? "none" }
}
