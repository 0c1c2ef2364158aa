import FieldpackCore
import FieldpackHTTP

/// Bundles: `/bundles` lists them, and `/bundles/NAME/` leads to the first page of one.
///
/// Its files lie under `/bundles/NAME/~KEY/`. Pages of bundles are sandboxed: they have no origin, so that
/// they reach neither each other nor what else this server has, and the key shows whose they are.
extension ServerRouter {
  func bundles(_ request: ServerRequest, _ apps: AppHost) async -> ServerResponse {
    guard let bundles = apps.bundles else {
      return problem(ProblemDocument(404, "No bundles are served here."), request)
    }
    if let answer = answer(toMethodOf: request, taking: ["GET", "HEAD"]) { return answer }
    guard request.path.count > 1 else { return await bundleList(request, bundles) }
    let name = request.path[1]
    let place = request.path.count > 2 ? request.path[2] : ""
    guard place.hasPrefix("~") else {
      await bundles.look()
      guard let bundle = await bundles.bundle(name) else { return await missing(request, bundles) }
      let file = request.path.count > 2 ? Array(request.path[2...]) : ["index.html"]
      return moved(to: bundle, file, request)
    }
    guard let bundle = await bundles.bundle(name), place.dropFirst() == bundle.key else {
      return problem(ProblemDocument(404, "There is no such address."), request)
    }
    return file(request.path.dropFirst(3).joined(separator: "/"), of: bundle, request)
  }

  // MARK: The list

  private func bundleList(
    _ request: ServerRequest, _ bundles: BundleFolder
  ) async -> ServerResponse {
    let base = base(of: request)
    let list: [JSONValue] = await bundles.list().map { entry in
      switch entry.bundle {
      case .success:
        ["name": .text(entry.name), "href": .text(base.href(["bundles", entry.name]) + "/")]
      case .failure(let refusal):
        ["name": .text(entry.name), "refused": .text(refusal.reason)]
      }
    }
    let document: JSONValue = ["bundles": .array(list)]
    guard !Negotiation.prefersPage(request) else {
      return ServerResponse(
        200,
        fields: [
          "Content-Type": MediaType.html, "Content-Security-Policy": DocumentPage.policy,
        ],
        body: .bytes(DocumentPage(request.path, title: "Bundles", document, base: base).bytes))
    }
    return ServerResponse(200, MediaType.json, Array(document.text.utf8))
  }

  private func missing(_ request: ServerRequest, _ bundles: BundleFolder) async -> ServerResponse {
    let entry = await bundles.list().first { $0.name == request.path[1] }
    if case .failure(let refusal)? = entry?.bundle {
      return problem(
        ProblemDocument(404, "The bundle is not served: \(refusal.reason)."), request)
    }
    return problem(ProblemDocument(404, "There is no such bundle."), request)
  }

  // MARK: Files

  private func moved(
    to bundle: BundleFolder.Bundle, _ file: [String], _ request: ServerRequest
  ) -> ServerResponse {
    let target = base(of: request).href(["bundles", bundle.name, "~" + bundle.key] + file)
    return ServerResponse(
      302,
      fields: [
        "Location": target, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
        "Content-Security-Policy": policy(request),
      ])
  }

  /// Scripts run, without an origin. Pictures may come from anywhere, as maps need their tiles.
  private func policy(_ request: ServerRequest) -> String {
    // Scheme, host and port: a source with a path would mean that path alone.
    let parts = base(of: request).text.split(separator: "/", omittingEmptySubsequences: false)
    let own = parts.prefix(3).joined(separator: "/")
    let sockets = "ws" + own.dropFirst("http".count)
    return "sandbox allow-scripts allow-forms allow-modals allow-popups; "
      + "default-src \(own) data: blob: 'unsafe-inline' 'unsafe-eval'; "
      + "connect-src \(own) \(sockets) data: blob:; img-src * data: blob:; object-src 'none'; frame-ancestors 'none'"
  }

  private func file(
    _ name: String, of bundle: BundleFolder.Bundle, _ request: ServerRequest
  ) -> ServerResponse {
    guard bundle.files.contains(name) else {
      let index = name.isEmpty ? "index.html" : name + "/index.html"
      guard bundle.files.contains(index) else {
        return problem(ProblemDocument(404, "The bundle has no such file."), request)
      }
      return moved(to: bundle, index.split(separator: "/").map(String.init), request)
    }
    guard var bytes = try? BundleFile.read(bundle.folder + "/" + name) else {
      return problem(ProblemDocument(404, "The bundle was changed."), request)
    }
    var fields: HTTPFields = [
      "Content-Type": BundleFile.type(of: name, bytes), "Referrer-Policy": "no-referrer",
      "Content-Security-Policy": policy(request), "Cache-Control": "no-cache",
    ]
    // What a page shows gets the bridge; what its scripts read stays as it is, and may be read.
    let isShown = !["empty", "script", "style", "font"].contains(
      request.fields["Sec-Fetch-Dest"] ?? "document")
    if isShown, BundleFile.isPage(name) {
      let element = BridgeShim.element(base: base(of: request), key: bundle.key)
      bytes = BundleFile.inserting(element, into: bytes)
    } else {
      fields["Access-Control-Allow-Origin"] = "*"
    }
    fields["Vary"] = "Sec-Fetch-Dest"
    let tag = PublishedStore.tag(of: bytes)
    fields["ETag"] = tag
    if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
      return ServerResponse(304, fields: fields)
    }
    return ServerResponse(200, fields: fields, body: .bytes(bytes))
  }
}
