import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP

/// Answers the requests to a served file.
final class ServerRouter: RequestHandling {
  let file: ServedFile
  /// The address that clients know the server by; `nil` for the one that they ask.
  let publicBase: LinkBase?
  /// The names of this machine that a client may ask for; `nil` for any.
  let hosts: Set<String>?
  /// Whether edits are taken from others.
  let isWritable: Bool
  /// What old apps find here.
  let apps: AppHost?
  let logger: Logger
  let axes = CRSAxes()

  init(
    _ file: ServedFile, publicBase: LinkBase?, hosts: Set<String>?, isWritable: Bool,
    apps: AppHost? = nil, logger: Logger
  ) {
    self.file = file
    self.apps = apps
    self.isWritable = isWritable
    self.publicBase = publicBase
    self.hosts = hosts
    self.logger = logger
  }

  // MARK: Handling

  func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? {
    // A page of another site that has bound its name to this machine asks for that name.
    guard let host = head.fields["Host"], Self.isHost(host, in: hosts) else {
      return problem(ProblemDocument(421, "This server does not answer to that name."), head)
    }
    guard head.fields["Transfer-Encoding"] == nil || head.fields["Content-Length"] == nil else {
      return problem(ProblemDocument(400, "The request has two lengths."), head)
    }
    guard bodyLength ?? 0 <= Self.longestBody else {
      return problem(ProblemDocument(413, "The body is larger than 16 MiB."), head)
    }
    return nil
  }

  private static let longestBody = 16 << 20

  private static func isHost(_ text: String, in hosts: Set<String>?) -> Bool {
    guard let hosts else { return true }
    var name = text[...]
    if name.first == "[" {
      guard let end = name.firstIndex(of: "]") else { return false }
      name = name[...end]
    } else {
      name = name.prefix { $0 != ":" }
    }
    return hosts.contains(name.lowercased())
  }

  func answerAtOnce(_ request: ServerRequest) -> ServerResponse? {
    guard let documents = file.known(), let route = try? route(request, documents),
      case .document(let name) = route
    else { return nil }
    return try? document(name, request, documents)
  }

  func answer(_ request: ServerRequest) async -> ServerResponse {
    guard request.isSafe || isOwn(request) || showsKey(request) else {
      return problem(ProblemDocument(403, "Pages of other sites may not ask this."), request)
    }
    switch request.path.first {
    case "sync": return await synchronise(request)
    default: break
    }
    if let response = await app(request) { return response }
    return await features(request)
  }

  /// Answers for the addresses of OGC API Features.
  private func features(_ request: ServerRequest) async -> ServerResponse {
    do throws(FieldpackError) {
      let documents = try await file.documents()
      switch try route(request, documents) {
      case .document(let name): return try document(name, request, documents)
      case .items(let layer): return try await items(of: layer, request)
      case .item(let layer, let id): return try await item(id, of: layer, request)
      case .tile(let layer, let place): return try await tile(place, of: layer, request)
      case .notAllowed(let methods):
        var response = problem(
          ProblemDocument(405, "This address does not take \(request.method)."), request)
        response.fields["Allow"] = methods.joined(separator: ", ")
        return response
      case .options(let methods):
        return ServerResponse(204, fields: ["Allow": methods.joined(separator: ", ")])
      case .missing: return problem(ProblemDocument(404, "There is no such address."), request)
      }
    } catch {
      return problem(error, request, while: .parameters)
    }
  }

  // MARK: Routes

  private enum Route {
    case document(ServerDocuments.Name)
    case items(ServedLayer)
    case item(ServedLayer, String)
    /// Zoom, row and column.
    case tile(ServedLayer, [String])
    case options([String])
    case notAllowed([String])
    case missing
  }

  private func route(
    _ request: ServerRequest, _ documents: ServerDocuments
  ) throws(FieldpackError) -> Route {
    guard let route = resource(request.path, documents) else { return .missing }
    switch request.method {
    case "GET", "HEAD": return route
    case "OPTIONS": return .options(["GET", "HEAD", "OPTIONS"])
    default: return .notAllowed(["GET", "HEAD", "OPTIONS"])
    }
  }

  private func resource(_ path: [String], _ documents: ServerDocuments) -> Route? {
    switch path.first {
    case nil: return .document(.landing)
    case "conformance" where path.count == 1: return .document(.conformance)
    case "api" where path.count == 1: return .document(.api)
    case "functions" where path.count == 1: return .document(.functions)
    case "tileMatrixSets" where path.count == 1: return .document(.tileMatrixSets)
    case "tileMatrixSets" where path == ["tileMatrixSets", "WebMercatorQuad"]:
      return .document(.tileMatrixSet)
    case "collections" where path.count == 1: return .document(.collections)
    case "collections":
      guard let layer = documents.layer(CollectionName.layer(path[1])) else { return nil }
      return resource(of: layer, Array(path.dropFirst(2)))
    default: return nil
    }
  }

  private func resource(of layer: ServedLayer, _ path: [String]) -> Route? {
    switch path {
    case []: return .document(.collection(layer.id))
    case ["queryables"]: return .document(.queryables(layer.id))
    case ["schema"]: return .document(.schema(layer.id))
    case ["sortables"]: return .document(.sortables(layer.id))
    case ["items"]: return .items(layer)
    case ["tiles"]: return .document(.tilesets(layer.id))
    case ["tiles", TileDocuments.setID]: return .document(.tileset(layer.id))
    default: break
    }
    if path.count == 2, path[0] == "items" { return .item(layer, path[1]) }
    guard path.count == 5, path.starts(with: ["tiles", TileDocuments.setID]) else { return nil }
    return .tile(layer, Array(path.dropFirst(2)))
  }

  // MARK: Documents

  func base(of request: ServerRequest) -> LinkBase {
    publicBase ?? LinkBase("http://" + (request.fields["Host"] ?? "localhost"))
  }

  private func document(
    _ name: ServerDocuments.Name, _ request: ServerRequest, _ documents: ServerDocuments
  ) throws(FieldpackError) -> ServerResponse {
    try name.operation.check(request.query, in: nil)
    let format = try Negotiation.format(of: request, for: name.operation)
    guard let format = ServerDocuments.Format(rawValue: format),
      let kept = file.document(name, format, base(of: request), of: documents)
    else { return problem(ProblemDocument(404, "There is no such document."), request) }
    let fields: HTTPFields = [
      "Content-Type": kept.document.contentType, "ETag": kept.tag, "Vary": "Accept",
      "Content-Security-Policy": DocumentPage.policy,
    ]
    if Negotiation.has(kept.tag, in: request.fields["If-None-Match"]) {
      return ServerResponse(304, fields: fields)
    }
    return ServerResponse(200, fields: fields, body: .bytes(kept.document.bytes))
  }

  // MARK: Features

  private func items(
    of layer: ServedLayer, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let format = try Negotiation.format(of: request, for: .getItems)
    let asked = try ItemsRequest(
      request.query, of: layer, maximum: file.options.maximumLimit, by: axes)
    try Self.check(asked, as: format)
    let tag = file.version().map { file.tag(of: $0, format) }
    var fields: HTTPFields = ["Vary": "Accept", "Content-Crs": "<\(asked.crs.uri)>"]
    if let tag {
      fields["ETag"] = tag
      if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
        return ServerResponse(304, fields: fields)
      }
    }
    let address = ResourceAddress(
      operation: .getItems, base: base(of: request), path: request.path, query: request.query,
      format: format)
    let page = ItemsPage(
      request: asked, store: file.store, box: try await file.condition(of: asked.box, in: layer),
      address: address)
    let type = ServerOperation.getItems.formats.first { $0.name == format }?.type
    fields["Content-Type"] = type ?? MediaType.geoJSON
    let limit = asked.limit ?? file.options.defaultLimit
    do throws(FieldpackError) {
      switch format {
      case "html":
        fields["Content-Security-Policy"] = DocumentPage.policy
        let text = DocumentPage(
          request.path, title: layer.title, try await page.document(limit: min(limit, 100)),
          base: base(of: request))
        return ServerResponse(200, fields: fields, body: .bytes(text.bytes))
      case "geojsonl": return try response(await page.lines(), fields)
      case "csv": return try response(await page.csv(), fields)
      case "gpx": return try response(await page.gpx(), fields)
      default: return try response(await page.collection(limit: limit), fields)
      }
    } catch {
      return problem(error, request, while: .resource)
    }
  }

  /// Refuses reference systems that a format has no place for: GPX is in longitude and latitude, and
  /// nothing in CSV tells that y comes first.
  private static func check(
    _ request: ItemsRequest, as format: String
  ) throws(FieldpackError) {
    let isFit =
      switch format {
      case "gpx": request.crs == .crs84
      case "csv": !request.swapsAxes
      default: true
      }
    guard !isFit else { return }
    throw FieldpackError(
      .invalidArgument, "\(format) is not given in the system '\(request.crs.uri)'")
  }

  private func response(
    _ outcome: PageStart.Outcome, _ fields: HTTPFields
  ) throws(FieldpackError) -> ServerResponse {
    switch outcome {
    case .whole(let bytes): ServerResponse(200, fields: fields, body: .bytes(bytes))
    case .stream(let stream): ServerResponse(200, fields: fields, body: .stream(stream))
    case .failure(let error): throw error
    }
  }

  // MARK: Problems

  func problem(
    _ error: FieldpackError, _ request: ServerRequest, while activity: ProblemDocument.Activity
  ) -> ServerResponse {
    let document = ProblemDocument(error, while: activity)
    if document.status >= 500 { logger.error("a request failed", ["reason": .text("\(error)")]) }
    return problem(document, request)
  }

  func problem(_ document: ProblemDocument, _ request: ServerRequest) -> ServerResponse {
    let isPage = Negotiation.prefersPage(request)
    let made = isPage ? document.page(base: base(of: request)) : document.document
    return ServerResponse(
      document.status,
      fields: [
        "Content-Type": made.contentType, "Content-Security-Policy": DocumentPage.policy,
      ], body: .bytes(made.bytes))
  }
}
