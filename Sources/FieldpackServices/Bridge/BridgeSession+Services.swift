import Fieldpack
import FieldpackCore
import FieldpackHTTP
import FieldpackLocation

/// Positions, sign-in, the backend and its notifications.
extension BridgeSession {
  // MARK: Positions

  /// 1 follows positions and tells them, 0 ends that.
  func locate(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    guard let location = bridge.location else {
      throw BridgeFailure(code: 200, message: "there is no receiver of positions")
    }
    let isOn: Bool
    switch message.payload {
    case .integer(let number): isOn = number != 0
    case .boolean(let flag): isOn = flag
    default: throw BridgeFailure(code: 200, message: "the payload is 1 or 0")
    }
    do throws(FieldpackError) {
      if isOn { try await location.enable() } else { try await location.disable() }
    } catch {
      throw failure(error, code: 200)
    }
    guard isOn else {
      end(.location)
      return .done
    }
    return try await follow(message, location.lastKnown) { $0?.bridgeDocument }
  }

  // MARK: Sign-in

  func sign(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    let code = message.action.errorCode
    guard let authentication = bridge.authentication else {
      throw BridgeFailure(code: code, message: "no config names a backend to sign in to")
    }
    if message.action == .loginStatus {
      return try await follow(message, authentication.loginStatus) { _ in
        .integer(Int64(await authentication.status.rawValue))
      }
    }
    do throws(FieldpackError) {
      switch message.action {
      case .signIn:
        try await authentication.signIn(
          user: message.payload.member("email"), password: message.payload.member("password"))
      case .signOut: try await authentication.signOut()
      default: tell(message, JSONValue(try await authentication.token()))
      }
      return .done
    } catch {
      throw failure(error, code: code)
    }
  }

  // MARK: The backend

  func backend(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    guard message.action == .backendURI else {
      guard let backend = bridge.backend else {
        tell(message, ["connected": 0])
        return .done
      }
      return try await follow(message, backend.events()) { _ in
        ["connected": await backend.isConnected ? 1 : 0]
      }
    }
    guard let remote = await bridge.remote else {
      throw BridgeFailure(code: 701, message: "no config names a backend")
    }
    tell(message, ["backendUri": .text(remote.uri + "/api/")])
    return .done
  }

  func notify(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    guard let backend = bridge.backend else { return .done }
    return try await follow(message, backend.notifications, repeats: true) { notification in
      guard let notification, notification.isWanted(by: message) else { return nil }
      return notification.bridgeDocument
    }
  }

  // MARK: Servers

  /// Asks a server that a config names.
  func request(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    let code = message.action.errorCode
    do throws(FieldpackError) {
      let url = try message.payload.member("url")
      let address = try HTTPAddress(url)
      try await checkNamed(address)
      let isPost = message.action == .postRequest
      var request = HTTPRequest(isPost ? .post : .get, url, fields: ["Accept": "application/json"])
      if isPost {
        let body = message.payload["body"] ?? .null
        request.fields["Content-Type"] = "application/json"
        request.body = .bytes(Array((body.string ?? body.text).utf8))
      }
      request.fields["Authorization"] = await authorization(for: address)
      let client = if let given = bridge.client { given } else { try HTTPClient() }
      let body = try await client.send(request).checked(address.host).body
      let text = String(decoding: body, as: UTF8.self)
      guard let answer = try? JSONValueReader.read(text) else {
        throw FieldpackError(.invalidData, "\(address.host) gives an answer that is no JSON")
      }
      tell(message, answer)
      return .done
    } catch {
      throw failure(error, code: code)
    }
  }

  /// - Throws: `.permission` for a server that no config names.
  private func checkNamed(_ address: HTTPAddress) async throws(FieldpackError) {
    var named = bridge.data.workspace.members.map(\.config.uri)
    if let remote = await bridge.remote { named.append(remote.uri) }
    for uri in named where uri.hasPrefix("http") {
      if let known = try? HTTPAddress(uri), known.origin == address.origin { return }
    }
    throw FieldpackError(.permission, "\(address.origin) is in no config, and is not asked")
  }

  /// What shows the backend who asks; `nil` for other servers, and where nobody is signed in.
  private func authorization(for address: HTTPAddress) async -> String? {
    guard let authentication = bridge.authentication,
      let backend = try? HTTPAddress(authentication.remote.uri), backend.origin == address.origin,
      let token = try? await authentication.token()
    else { return nil }
    if case .exchange = authentication.remote.authentication { return "Bearer \(token)" }
    return "Token \(token)"
  }
}

extension Fix {
  /// The position as pages know it.
  var bridgeDocument: JSONValue {
    [
      "latitude": .real(latitude), "longitude": .real(longitude),
      "altitude": .real(elevation ?? 0),
    ]
  }
}

extension BackendNotification {
  var bridgeDocument: JSONValue {
    let added = payload.flatMap { try? JSONValueReader.read($0) } ?? .null
    return [
      "to": JSONValue(recipient), "priority": .text(priority.rawValue), "body": .text(body),
      "title": .text(title), "payload": added,
    ]
  }

  func isWanted(by message: BridgeMessage) -> Bool {
    switch message.action {
    case .alerts: priority == .alert
    // The number has two meanings, and the name has one.
    case .notes: priority == .info || priority == .background && message.isNumbered
    case .backgroundNotes: priority == .background
    default: true
    }
  }
}
