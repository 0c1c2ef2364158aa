import Fieldpack
import FieldpackCore
public import FieldpackHTTP

/// What the pages of an app reach: the stores, forms and services of a config, by the messages that the
/// apps of SpatialConnect exchange with theirs.
///
///     let bridge = Bridge(data: data)
///     let session = BridgeSession(of: bridge) { reply in print(reply.text) }
///     await session.start()
///     await session.receive(#"{"type": 110, "payload": {"storeId": ["wells"]}}"#)
///     await session.finish()
///
/// What is not there answers with an error, or as a service that does nothing.
public struct Bridge: Sendable {
  public var data: DataService
  public var configs: ConfigService?
  public var graph: ServiceGraph?
  /// Takes the features that pages create in the store of forms.
  public var forms: FormStore?
  public var authentication: AuthenticationService?
  public var backend: BackendService?
  public var location: LocationService?
  /// The id of this device.
  public var device: String?
  /// Asks the servers that the configs name; `nil` for a new client for each request.
  public var client: HTTPClient?

  public init(data: DataService) { self.data = data }
}

/// Why a call of a page gives no answer.
struct BridgeFailure: Error {
  var code: Int
  var message: String

  /// The code of version 0.10 for a store that features cannot be created in.
  static let noSpatialStore = -57
}

extension Bridge {
  /// The backend that the configs name.
  var remote: RemoteConfig? {
    get async { await configs?.remote ?? authentication?.remote }
  }

  /// All stores, or those that run, as pages know them.
  func stores(onlyActive: Bool) async -> JSONValue {
    var stores: [JSONValue] = []
    for member in data.workspace.members where !onlyActive || member.store != nil {
      if let store = try? await data.dictionary(of: member.id) { stores.append(store) }
    }
    return ["stores": .array(stores)]
  }

  /// The forms that can be filled in.
  func formList() async -> JSONValue {
    var known = await configs?.forms ?? []
    if known.isEmpty, let forms { known = await forms.forms }
    return ["forms": .array(known.map(\.document))]
  }

  /// What this device tells of itself.
  func deviceDocument() async -> JSONValue {
    .members([
      "identifier": JSONValue(device), "device_info": ["os": .text(BackendService.system)],
      "name": .text("mobile:\(await authentication?.user ?? "")"),
    ])
  }

  // MARK: Configs

  /// What the configs say, without the passwords that addresses may hold.
  func config() async -> JSONValue {
    let config = await configs?.config
    var members: [JSONValue.Member] = [
      .init(name: "stores", value: .array(Self.entries("stores", of: config))),
      .init(name: "forms", value: .array(Self.entries("forms", of: config))),
    ]
    let remote = config?.documents.last { $0.root["remote"] != nil }?.root["remote"]
    if let remote { members.append(.init(name: "remote", value: JSONValue(remote).withoutSecrets)) }
    return .object(members)
  }

  func entries(_ list: String) async -> JSONValue {
    .object([.init(name: list, value: .array(Self.entries(list, of: await configs?.config)))])
  }

  private static func entries(_ list: String, of config: WorkspaceConfig?) -> [JSONValue] {
    (config?.documents ?? []).flatMap { document in
      (document.root[list]?.elements ?? []).map { JSONValue($0).withoutSecrets }
    }
  }

  /// The configs, which a message is to change.
  func changeableConfigs() throws(FieldpackError) -> ConfigService {
    if let configs { return configs }
    throw FieldpackError(.unsupported, "there is no config to change")
  }
}

extension JSONValue {
  /// The same without user, query and fragment of an address in a member `uri`.
  fileprivate var withoutSecrets: JSONValue {
    switch self {
    case .object(let members):
      .object(
        members.map { member in
          guard member.name == "uri", let uri = member.value.string, uri.contains("://") else {
            return member
          }
          return Member(name: "uri", value: .text(StoreConfig.withoutSecrets(uri)))
        })
    case .text(let uri) where uri.contains("://"): .text(StoreConfig.withoutSecrets(uri))
    default: self
    }
  }

  /// The value as a config holds it.
  func configContent() throws(FieldpackError) -> ConfigValue.Content {
    try ConfigDocument(Array(text.utf8), file: "the message").root.content
  }
}
