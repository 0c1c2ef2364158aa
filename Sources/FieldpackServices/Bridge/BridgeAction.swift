/// What a page asks of its bridge. The raw values are the numbers of version 0.10; what came later has
/// none there, and negative ones here.
enum BridgeAction: Int, Hashable, Sendable, CaseIterable {
  case none = 0
  case startAll = 1
  case activeStores = 100
  case activeStore = 101
  case stores = 102
  case query = 110
  case queryAll = 111
  case spatialQuery = 112
  case spatialQueryAll = 113
  case createFeature = 114
  case updateFeature = 115
  case deleteFeature = 116
  case forms = 117
  case location = 200
  case signIn = 300
  case signOut = 301
  case accessToken = 302
  case loginStatus = 303
  case getRequest = 400
  case postRequest = 401
  case config = 500
  case configStores = 501
  case addStore = 502
  case removeStore = 503
  case updateStore = 504
  case configForms = 505
  case addForm = 506
  case removeForm = 507
  case updateForm = 508
  case registerDevice = 509
  case notifications = 600
  case alerts = 601
  /// Version 0.10 has two names for this number: notes to read, and those for the app alone.
  case notes = 602
  case backendURI = 701
  case backendConnected = 702
  case backgroundNotes = -1
  case deviceInfo = -2
  case deleteStore = -3
  case deleteAllStores = -4

  /// The names of version 0.9.1 and later, behind `v1/`, with those that older ones had for the same.
  var names: [String] {
    switch self {
    case .none: ["NO_ACTION"]
    case .startAll: ["START_ALL_SERVICES"]
    case .activeStores: ["DATASERVICE_ACTIVESTORESLIST"]
    case .activeStore: ["DATASERVICE_ACTIVESTOREBYID"]
    case .stores: ["DATASERVICE_STORELIST"]
    case .query: ["DATASERVICE_QUERY"]
    case .queryAll: ["DATASERVICE_QUERYALL"]
    case .spatialQuery: ["DATASERVICE_SPATIALQUERY", "DATASERVICE_GEOSPATIALQUERY"]
    case .spatialQueryAll: ["DATASERVICE_SPATIALQUERYALL", "DATASERVICE_GEOSPATIALQUERYALL"]
    case .createFeature: ["DATASERVICE_CREATEFEATURE"]
    case .updateFeature: ["DATASERVICE_UPDATEFEATURE"]
    case .deleteFeature: ["DATASERVICE_DELETEFEATURE"]
    case .forms: ["DATASERVICE_FORMLIST", "DATASERVICE_FORMSLIST"]
    case .location: ["SENSORSERVICE_GPS"]
    case .signIn: ["AUTHSERVICE_AUTHENTICATE"]
    case .signOut: ["AUTHSERVICE_LOGOUT"]
    case .accessToken: ["AUTHSERVICE_ACCESS_TOKEN"]
    case .loginStatus: ["AUTHSERVICE_LOGIN_STATUS"]
    case .getRequest: ["NETWORKSERVICE_GET_REQUEST"]
    case .postRequest: ["NETWORKSERVICE_POST_REQUEST"]
    case .config: ["CONFIG_FULL"]
    case .configStores: ["CONFIG_STORE_LIST"]
    case .addStore: ["CONFIG_ADD_STORE"]
    case .removeStore: ["CONFIG_REMOVE_STORE"]
    case .updateStore: ["CONFIG_UPDATE_STORE"]
    case .configForms: ["CONFIG_FORM_LIST"]
    case .addForm: ["CONFIG_ADD_FORM"]
    case .removeForm: ["CONFIG_REMOVE_FORM"]
    case .updateForm: ["CONFIG_UPDATE_FORM"]
    case .registerDevice: ["CONFIG_REGISTER_DEVICE"]
    case .notifications: ["NOTIFICATIONS"]
    case .alerts: ["NOTIFICATION_ALERT"]
    case .notes: ["NOTIFICATION_INFO"]
    case .backgroundNotes: ["NOTIFICATION_CONTENT_AVAILABLE"]
    case .backendURI: ["BACKENDSERVICE_HTTP_URI"]
    case .backendConnected: ["BACKENDSERVICE_CONNECTED", "BACKENDSERVICE_MQTT_CONNECTED"]
    case .deviceInfo: ["DEVICE_INFO"]
    case .deleteStore: ["DELETE_SC_DATASTORE"]
    case .deleteAllStores: ["DELETE_ALL_SC_DATASTORES"]
    }
  }

  private static let byName: [String: BridgeAction] = {
    var actions: [String: BridgeAction] = [:]
    for action in allCases { for name in action.names { actions[name] = action } }
    return actions
  }()

  /// The action of a number, of its digits, or of a name with or without `v1/`.
  init?(type: String) {
    if let number = Int(type) {
      guard number >= 0, let action = BridgeAction(rawValue: number) else { return nil }
      self = action
    } else {
      let name = type.hasPrefix("v1/") ? String(type.dropFirst(3)) : type
      guard let action = Self.byName[name] else { return nil }
      self = action
    }
  }

  /// The code of an error of this action.
  var errorCode: Int { max(rawValue, 0) }

  /// Whether the action changes stores, configs or what other servers have.
  var writes: Bool {
    switch self {
    case .createFeature, .updateFeature, .deleteFeature, .postRequest, .addStore, .removeStore,
      .updateStore, .addForm, .removeForm, .updateForm, .deleteStore, .deleteAllStores:
      true
    default: false
    }
  }
}
