import FieldpackCore

/// Signing in, and what old apps ask for.
extension ServiceOperation {
  private static let page = MediaType.name(MediaType.html)

  static let signing = [
    ServiceOperation(
      id: "getLogin", path: "/login", tag: "access", summary: "The page to sign in with a token.",
      answers: [answer(200, "A page.", page, text)]),
    ServiceOperation(
      id: "signIn", method: "post", path: "/login", tag: "access",
      summary: "Signs a browser in with a token.",
      body: [
        content(
          "application/x-www-form-urlencoded",
          [
            "type": "object", "required": ["token"], "properties": ["token": text, "to": text],
          ])
      ], answers: [answer(303, "Signed in; Location is the address that `to` names.")]),
    ServiceOperation(
      id: "signOut", method: "post", path: "/logout", tag: "access",
      summary: "Signs a browser out.", answers: [answer(303, "Signed out.")]),
  ]

  // MARK: The bridge

  private static let key = query("key", "The key of the bundle whose page asks.")

  static let bridge = [
    ServiceOperation(
      id: "openBridge", path: "/bridge", tag: "apps",
      summary: "Messages and replies by a WebSocket.", parameters: [key],
      answers: [answer(101, "The WebSocket is open.")]),
    ServiceOperation(
      id: "sendMessages", method: "post", path: "/bridge", tag: "apps",
      summary: "Takes messages: one, an array, or one a line.",
      parameters: [query("session", "The session whose stream gets the replies."), key],
      body: [content(MediaType.json, ["oneOf": [object, ["type": "array", "items": object]]])],
      answers: [
        answer(200, "The replies, one a line.", "application/x-ndjson", text),
        answer(204, "The stream of the session gets the replies."),
      ]),
    ServiceOperation(
      id: "getReplies", path: "/bridge/events", tag: "apps",
      summary: "Opens a session, and gives its replies as server-sent events.", parameters: [key],
      answers: [
        answer(200, "The replies, for as long as the client stays.", "text/event-stream", text)
      ]),
    ServiceOperation(
      id: "getBridgeScript", path: "/" + BridgeShim.name, tag: "apps",
      summary: "The script that gives a page the bridge.",
      answers: [answer(200, "The script.", "text/javascript", text), notModified]),
  ]

  static let bundles = [
    ServiceOperation(
      id: "getBundles", path: "/bundles", tag: "apps", summary: "The bundles of pages.",
      answers: [
        .init(
          name: "200",
          value: [
            "description": "The bundles.",
            "content": [MediaType.json: ["schema": object], page: ["schema": text]],
          ])
      ]),
    ServiceOperation(
      id: "openBundle", path: "/bundles/{bundleName}", tag: "apps",
      summary: "Leads to the first page of a bundle.",
      parameters: [variable("bundleName", "The name of a bundle.")],
      answers: [answer(302, "Location is the page.")]),
  ]

  // MARK: The old server

  /// The addresses of SpatialConnect's server: the method, the path and what it is for.
  private static let old = [
    ("get", "/api/ping", "Says that the server runs."),
    ("post", "/api/authenticate", "Gives a token for the other addresses of /api/."),
    ("get", "/api/config", "The config of apps."), ("get", "/api/stores", "The stores."),
    ("post", "/api/stores", "Adds a store."), ("get", "/api/stores/{storeId}", "A store."),
    ("put", "/api/stores/{storeId}", "Changes a store."),
    ("delete", "/api/stores/{storeId}", "Removes a store."), ("get", "/api/forms", "The forms."),
    ("post", "/api/forms", "Adds a form, or a version of one."),
    ("get", "/api/forms/{formKey}", "A form."),
    ("put", "/api/forms/{formKey}", "Changes a form."),
    ("delete", "/api/forms/{formKey}", "Removes a form."),
    ("get", "/api/forms/{formKey}/results", "What was submitted to a form."),
    ("post", "/api/form/{formId}/submit", "Takes what was filled in."),
    ("get", "/api/form/{formId}/results", "What was submitted to a form."),
    ("get", "/api/form/{formId}/sample", "An empty submission."),
    ("get", "/api/devices", "The devices."), ("get", "/api/devices/{deviceId}", "A device."),
    ("get", "/api/locations", "The last places of devices."),
    ("get", "/api/notifications", "An empty list."), ("get", "/api/teams", "An empty list."),
    ("get", "/api/users", "An empty list."), ("get", "/api/user-team", "An empty list."),
  ]

  static let oldServer = old.map { method, path, summary in
    let parts = path.split(separator: "/").dropFirst()
    // Such as `getForms` and `getFormsFormKeyResults`.
    let words = parts.map { part in
      let name = part.filter { $0 != "{" && $0 != "}" }
      return name.prefix(1).uppercased() + name.dropFirst()
    }
    let variables = parts.filter { $0.first == "{" }.map { part in
      variable(String(part.dropFirst().dropLast()), "As the list names it.")
    }
    let hasBody = method == "post" || method == "put"
    return ServiceOperation(
      id: "old." + method + words.joined(), method: method, path: path, tag: "apps",
      summary: summary, parameters: variables,
      body: hasBody ? [content(MediaType.json, object)] : [],
      answers: [answer(200, "The result, and no error.", MediaType.json)])
  }
}
