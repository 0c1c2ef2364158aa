import FieldpackCore
import FieldpackHTTP

/// What the clients of SpatialConnect's server ask, under `/api/`. Each answer is `{"result", "error"}`.
extension ServerRouter {
  func oldServer(_ request: ServerRequest, _ apps: AppHost) async -> ServerResponse {
    let methods = ["GET", "HEAD", "POST", "PUT", "DELETE"]
    if let answer = answer(toMethodOf: request, taking: methods) { return answer }
    let path = Array(request.path.dropFirst())
    let method = request.method == "HEAD" ? "GET" : request.method
    switch (method, path.first) {
    case ("GET", "ping") where path.count == 1: return .old("pong")
    case ("POST", "authenticate") where path.count == 1: return authenticate(request, apps)
    default: break
    }
    guard let token = Self.token(request), apps.tokens.user(of: token, at: .now) != nil else {
      return .old(401, error: "Request failed auth check.")
    }
    switch path.first {
    case "config" where path.count == 1 && method == "GET": return await apps.old(500)
    case "stores": return await stores(method, path, request, apps)
    case "forms": return await forms(method, path, request, apps)
    case "form" where path.count == 3: return await form(method, path, request, apps)
    case "devices" where method == "GET": return await devices(path, apps)
    case "locations" where path.count == 1 && method == "GET": return await apps.oldLocations()
    // There is one team with everybody in it, and nothing is kept of notifications.
    case "notifications", "teams", "users", "user-team":
      if method == "GET", path.count == 1 { return .old([]) }
    default: break
    }
    return .old(404, error: "There is no such address.")
  }

  // MARK: Signing in

  private func authenticate(_ request: ServerRequest, _ apps: AppHost) -> ServerResponse {
    let body = request.json
    guard let user = body?["email"]?.string, let password = body?["password"]?.string else {
      return .old(400, error: "Expected an object with email and password.")
    }
    guard mayEnter(user, password) else { return .old(401, error: "Authentication failed") }
    return .old(["token": .text(apps.tokens.token(for: user, at: .now))])
  }

  /// Whether a user may sign in: any name and any password will do. ``app(_:)`` has checked before
  /// that the caller may read and write everything.
  private func mayEnter(_ user: String, _ password: String) -> Bool {
    !user.isEmpty && !password.isEmpty
  }

  private static func token(_ request: ServerRequest) -> String? {
    guard let field = request.fields["Authorization"] else { return nil }
    let words = field.split(separator: " ")
    guard words.count == 2, ["token", "bearer"].contains(words[0].lowercased()) else { return nil }
    return String(words[1])
  }

  // MARK: Stores

  private func stores(
    _ method: String, _ path: [String], _ request: ServerRequest, _ apps: AppHost
  ) async -> ServerResponse {
    switch (method, path.count) {
    case ("GET", 1): return await apps.old(501, member: "stores")
    case ("POST", 1): return await apps.oldChange(502, request.json)
    case ("GET", 2):
      guard let store = await apps.oldEntry(501, in: "stores", whose: "id", is: path[1]) else {
        return .old(404, error: "No store found for id \(path[1])")
      }
      return .old(store)
    case ("PUT", 2):
      return await apps.oldChange(504, request.json?.replacing("id", by: .text(path[1])))
    case ("DELETE", 2): return await apps.oldChange(503, ["id": .text(path[1])], gives: "success")
    default: return .old(404, error: "There is no such address.")
    }
  }

  // MARK: Forms

  private func forms(
    _ method: String, _ path: [String], _ request: ServerRequest, _ apps: AppHost
  ) async -> ServerResponse {
    switch (method, path.count) {
    case ("GET", 1): return await apps.old(117, member: "forms")
    case ("POST", 1):
      var form = request.json
      if form?["version"] == nil { form = form?.replacing("version", by: 1) }
      return await apps.oldChange(506, form)
    case ("GET", 2):
      guard let form = await apps.oldEntry(117, in: "forms", whose: "form_key", is: path[1])
      else { return .old(404, error: "No form found for form-key \(path[1])") }
      return .old(form)
    case ("DELETE", 2):
      return await apps.oldChange(507, ["form_key": .text(path[1])], gives: "success")
    case ("GET", 3...4) where path[2] == "results": return await apps.oldResults(path[1])
    default: return .old(404, error: "There is no such address.")
    }
  }

  private func form(
    _ method: String, _ path: [String], _ request: ServerRequest, _ apps: AppHost
  ) async -> ServerResponse {
    guard let form = await apps.oldEntry(117, in: "forms", whose: "id", is: path[1]),
      let key = form.name("form_key")
    else { return .old(404, error: "No form found for form-id \(path[1])") }
    switch (method, path[2]) {
    case ("POST", "submit"): return await apps.oldSubmit(request.json, to: key)
    case ("GET", "results"): return await apps.oldResults(key)
    case ("GET", "sample"): return .old(Self.sample(of: form, key))
    default: return .old(404, error: "There is no such address.")
    }
  }

  /// An empty submission, which shows what is asked.
  private static func sample(of form: JSONValue, _ key: String) -> JSONValue {
    var fields: [JSONValue] = []
    if case .array(let all)? = form["fields"] { fields = all }
    let properties = fields.compactMap { field in
      field.name("field_key").map { JSONValue.Member(name: $0, value: .null) }
    }
    return [
      "form_key": .text(key), "form_id": form["id"] ?? .null,
      "feature": [
        "type": "Feature", "id": "sample", "properties": .object(properties), "geometry": .null,
      ],
    ]
  }

  private func devices(_ path: [String], _ apps: AppHost) async -> ServerResponse {
    let device = await apps.ask(type: "v1/DEVICE_INFO").payloads.first ?? .null
    guard path.count > 1 else { return .old(.array([device])) }
    guard path.count == 2, device.name("identifier") == path[1] else {
      return .old(404, error: "No device found")
    }
    return .old(device)
  }
}

extension ServerRequest {
  /// The body, where it is JSON.
  fileprivate var json: JSONValue? {
    try? JSONValueReader.read(String(decoding: body, as: UTF8.self))
  }
}

extension JSONValue {
  /// A member that names something: a text, or a number.
  func name(_ member: String) -> String? {
    switch self[member] {
    case .text(let text): text
    case .integer(let number): String(number)
    default: nil
    }
  }

  fileprivate func replacing(_ name: String, by value: JSONValue) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.name != name } + [Member(name: name, value: value)])
  }
}

extension ServerResponse {
  static func old(_ result: JSONValue) -> ServerResponse {
    old(200, ["result": result, "error": .null])
  }

  static func old(_ status: Int, error: String) -> ServerResponse {
    old(status, ["result": .null, "error": .text(error)])
  }

  private static func old(_ status: Int, _ document: JSONValue) -> ServerResponse {
    ServerResponse(
      status, fields: ["Content-Type": MediaType.json, "Cache-Control": "no-store"],
      body: .bytes(Array(document.text.utf8)))
  }
}
