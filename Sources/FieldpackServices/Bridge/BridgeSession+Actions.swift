import Fieldpack
import FieldpackCore

/// The actions, by what they concern.
extension BridgeSession {
  func perform(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    let bridge = bridge
    switch message.action {
    case .none: return .done
    case .startAll:
      await bridge.graph?.startAll()
      return .done
    case .activeStores, .stores:
      let isActive = message.action == .activeStores
      return try await follow(message, bridge.data.events()) { _ in
        await bridge.stores(onlyActive: isActive)
      }
    case .activeStore: return try await store(message)
    case .query, .queryAll, .spatialQuery, .spatialQueryAll: return try await query(message)
    case .createFeature: return try await create(message)
    case .updateFeature: return try await update(message)
    case .deleteFeature: return try await delete(message)
    case .forms:
      guard let configs = bridge.configs else {
        tell(message, await bridge.formList())
        return .done
      }
      return try await follow(message, configs.events()) { _ in await bridge.formList() }
    case .location: return try await locate(message)
    case .signIn, .signOut, .accessToken, .loginStatus: return try await sign(message)
    case .getRequest, .postRequest: return try await request(message)
    case .notifications, .alerts, .notes, .backgroundNotes: return try await notify(message)
    case .backendURI, .backendConnected: return try await backend(message)
    case .registerDevice, .deviceInfo:
      tell(message, await bridge.deviceDocument())
      return .done
    case .deleteStore, .deleteAllStores: return try await deleteStores(message)
    default: return try await config(message)
    }
  }

  // MARK: Stores

  private func store(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    do throws(FieldpackError) {
      let id = try message.payload.member("storeId")
      let member = try bridge.data.workspace.member(StoreID(id))
      guard member.store != nil else {
        throw FieldpackError(.unavailable, "store '\(id)' does not run")
      }
      tell(message, ["store": try await bridge.data.dictionary(of: member.id)])
      return .done
    } catch {
      throw failure(error, code: 101)
    }
  }

  /// Closes stores and takes them out, with the files that were downloaded for them.
  private func deleteStores(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    do throws(FieldpackError) {
      if message.action == .deleteStore {
        let id = StoreID(try message.payload.member("storeId"))
        guard try !bridge.data.workspace.member(id).config.isBuiltIn else {
          throw FieldpackError(.permission, "store '\(id)' is not a page's to delete")
        }
        try await bridge.data.unregister(id)
      } else {
        for member in bridge.data.workspace.members where !member.config.isBuiltIn {
          try await bridge.data.unregister(member.id)
        }
      }
      return .done
    } catch {
      throw failure(error, code: 0)
    }
  }

  // MARK: Configs

  private func config(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    switch message.action {
    case .config: tell(message, await bridge.config())
    case .configStores: tell(message, await bridge.entries("stores"))
    case .configForms: tell(message, await bridge.entries("forms"))
    default:
      do throws(FieldpackError) { try await changeConfig(message) } catch {
        throw failure(error, code: message.action.errorCode)
      }
    }
    return .done
  }

  private func changeConfig(_ message: BridgeMessage) async throws(FieldpackError) {
    let (configs, payload) = (try bridge.changeableConfigs(), message.payload)
    switch message.action {
    case .addStore: try await configs.addStore(payload.configContent())
    case .updateStore: try await configs.updateStore(payload.configContent())
    case .removeStore: try await configs.removeStore(StoreID(payload.member("id")))
    case .addForm: try await configs.addForm(payload.configContent())
    case .updateForm: try await configs.updateForm(payload.configContent())
    case .removeForm: try await configs.removeForm(payload.member("form_key"))
    default: throw FieldpackError(.unsupported, "the action is not known here")
    }
  }
}

extension JSONValue {
  /// A member that is a text, or a number.
  func member(_ name: String) throws(FieldpackError) -> String {
    switch self[name] {
    case .text(let text) where !text.isEmpty: return text
    case .integer(let number): return String(number)
    default: throw FieldpackError(.invalidArgument, "the payload has no text '\(name)'")
    }
  }
}
