import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackSensors
import FieldpackServices

/// Answers the requests to a published store.
final class ServerRouter: RequestHandling {
  let published: PublishedStore
  let events: EventHub
  /// The address that clients know the server by; `nil` for the one that they ask.
  let publicBase: LinkBase?
  /// The names of this machine that a client may ask for; `nil` for any.
  let hosts: Set<String>?
  /// The sites whose pages may send the same requests as the server's own pages.
  let origins: Set<String>
  /// The scheme of links where there is no public address.
  let scheme: String
  /// Whether pages of other sites may load captures as scripts.
  let hasPublicCaptures: Bool
  /// Answers old apps and bundles; `nil` where the server has no bridge.
  let apps: AppHost?
  let logger: Logger
  let axes = CRSAxes()
  /// The number of GeoPackages that are being made or sent.
  let extracts = ExtractPlace.Count()
  /// What devices send; `nil` for a database, which takes none of it.
  let intake: DeviceIntake?
  let mapPage: MapPage
  /// Works with biometric sensors; `nil` where the server has no page for them.
  let desk: SensorDesk?
  let sensorEvents: SensorEventHub?

  init(
    _ published: PublishedStore, events: EventHub, intake: DeviceIntake?, publicBase: LinkBase?,
    hosts: Set<String>?, origins: Set<String>, scheme: String,
    hasPublicCaptures: Bool, apps: AppHost?, logger: Logger, mapPage: MapPage,
    desk: SensorDesk?
  ) {
    self.desk = desk
    sensorEvents = desk.map { SensorEventHub(of: $0, logger: logger) }
    self.hasPublicCaptures = hasPublicCaptures
    self.published = published
    self.events = events
    self.intake = intake
    self.mapPage = mapPage
    self.origins = origins
    self.scheme = scheme
    self.apps = apps
    self.publicBase = publicBase
    self.hosts = hosts
    self.logger = logger
  }

  // MARK: Handling

  func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? {
    // Another site can bind its name to this machine; its pages then ask for that name.
    guard let host = head.fields["Host"], Self.isHost(host, in: hosts) else {
      return problem(ProblemDocument(421, "This server does not answer to that name."), head)
    }
    let longest = longestBody(of: head)
    guard bodyLength ?? 0 <= longest else {
      return problem(
        ProblemDocument(413, "The body is larger than \(longest >> 20) MiB."), head)
    }
    return nil
  }

  private static func isHost(_ text: String, in hosts: Set<String>?) -> Bool {
    guard let hosts else { return true }
    var name = text[...]
    if name.first == "[" {
      guard let end = name.firstIndex(of: "]") else { return false }
      name = name[...end]
    } else {
      name = name.utf8.firstIndex(of: UInt8(ascii: ":")).map { name[..<$0] } ?? name
    }
    return hosts.contains(String(name)) || hosts.contains(name.lowercased())
  }

  func answerAtOnce(_ request: ServerRequest) -> ServerResponse? {
    // A page of features takes too long to be made at once.
    let isPage = request.path.count == 3 && request.path[2] == "items"
    guard !isPage, let documents = published.known().map({ shown($0, to: request) }) else {
      return nil
    }
    switch route(request, documents) {
    case .document(let name): return try? document(name, request, documents)
    case .item(let layer, let id): return itemAtOnce(id, of: layer, request)
    default: return nil
    }
  }

  func answer(_ request: ServerRequest) async -> ServerResponse {
    guard request.isSafe || isOwn(request) || showsKey(request) else {
      return problem(ProblemDocument(403, "Pages of other sites may not ask this."), request)
    }
    // The rights of a token depend on the layers of the file.
    if request.caller.rights != nil { _ = try? await published.documents() }
    if let refusal = refusalByDatabase(request) { return refusal }
    switch request.path.first {
    case "sync": return await synchronise(request)
    case "events" where request.path.count == 1: return await follow(nil, request)
    case "collections" where request.path.count == 3 && request.path[2] == "events":
      return await follow(request.path[1], request)
    case "fixes" where request.path.count == 1: return await takeFixes(request)
    case "map": return await map(request)
    case "sensors": return await sensors(request)
    case "upload", "uploads", "captures", "motion": return await ingest(request)
    case _ where isOfViewer(request): return await viewed(request)
    case "tiles": return await sharedTile(request)
    default: break
    }
    if let response = await app(request) { return response }
    return await features(request)
  }

  /// Answers for the addresses of OGC API Features.
  private func features(_ request: ServerRequest) async -> ServerResponse {
    do throws(FieldpackError) {
      let documents = shown(try await published.documents(), to: request)
      switch route(request, documents) {
      case .document(let name): return try document(name, request, documents)
      case .items(let layer): return try await items(of: layer, request)
      case .item(let layer, let id): return try await item(id, of: layer, request)
      case .tile(let layer, let place): return try await tile(place, of: layer, request)
      case .picture(let pyramid, let set, let place):
        return try await picture(place, on: set, of: pyramid, request)
      case .notAllowed(let methods): return notAllowed(methods, request)
      case .edit(let layer, let id): return try await edit(id, of: layer, request)
      case .options(let methods): return Self.options(methods)
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
    /// A change of the feature with that id, or new features where there is no id.
    case edit(ServedLayer, String?)
    /// A tile of pictures on a grid: zoom, row and column.
    case picture(ServedPyramid, on: String, [String])
    case options([String])
    case notAllowed([String])
    case missing
  }

  private func route(_ request: ServerRequest, _ documents: ServerDocuments) -> Route {
    guard let route = resource(request.path, documents) else { return .missing }
    let method = request.method
    if method == "GET" || method == "HEAD" { return route }
    var methods = ["GET", "HEAD", "OPTIONS"]
    let layer: ServedLayer
    let id: String?
    switch route {
    case .items(let found):
      layer = found
      id = nil
    case .item(let found, let feature):
      layer = found
      id = feature
    default: return method == "OPTIONS" ? .options(methods) : .notAllowed(methods)
    }
    if Self.editMethods(hasID: id != nil).contains(method) {
      return canEdit(layer, by: method) ? .edit(layer, id) : .notAllowed(methods)
    }
    methods += editMethods(of: layer, hasID: id != nil, for: request)
    return method == "OPTIONS" ? .options(methods) : .notAllowed(methods)
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
    case "tileMatrixSets" where path.count == 2:
      return documents.pyramids.first { $0.setID == path[1] }
        .map { .document(.storedMatrixSet($0.id)) }
    case "collections" where path.count == 1: return .document(.collections)
    case "collections":
      let (id, rest) = (CollectionName.layer(path[1]), Array(path.dropFirst(2)))
      if let layer = documents.layer(id) { return resource(of: layer, rest) }
      return documents.pyramid(id).flatMap { resource(of: $0, rest) }
    default: return nil
    }
  }

  private func resource(of layer: ServedLayer, _ path: [String]) -> Route? {
    if path.first == "items" {
      switch path.count {
      case 1: return .items(layer)
      case 2: return .item(layer, path[1])
      default: return nil
      }
    }
    switch path {
    case []: return .document(.collection(layer.id))
    case ["queryables"]: return .document(.queryables(layer.id))
    case ["schema"]: return .document(.schema(layer.id))
    case ["sortables"]: return .document(.sortables(layer.id))
    case ["tiles"]: return .document(.tilesets(layer.id))
    case ["tiles", TileDocuments.setID]: return .document(.tileset(layer.id))
    default: break
    }
    if path.first == "tiles", let place = Self.place(path.dropFirst()) {
      return .tile(layer, place)
    }
    guard path.count == 5, path.starts(with: ["tiles", TileDocuments.setID]) else { return nil }
    return .tile(layer, Array(path.dropFirst(2)))
  }

  private func resource(of pyramid: ServedPyramid, _ path: [String]) -> Route? {
    if path.isEmpty { return .document(.collection(pyramid.id)) }
    guard path.starts(with: ["map", "tiles"]) else { return nil }
    if path.count == 2 { return .document(.mapTilesets(pyramid.id)) }
    guard pyramid.setIDs.contains(path[2]) else { return nil }
    switch path.count {
    case 3: return .document(.mapTileset(pyramid.id, path[2]))
    case 6: return .picture(pyramid, on: path[2], Array(path.dropFirst(3)))
    default: return nil
    }
  }

  // MARK: Documents

  func base(of request: ServerRequest) -> LinkBase {
    publicBase ?? LinkBase("\(scheme)://" + (request.fields["Host"] ?? "localhost"))
  }

  private func document(
    _ name: ServerDocuments.Name, _ request: ServerRequest, _ documents: ServerDocuments
  ) throws(FieldpackError) -> ServerResponse {
    try name.operation.check(request.query, in: nil)
    let format = try Negotiation.format(of: request, for: name.operation)
    guard let format = ServerDocuments.Format(rawValue: format),
      let kept = published.document(name, format, base(of: request), of: documents)
    else { return problem(ProblemDocument(404, "There is no such document."), request) }
    let packed = ContentCoding.takesGzip(request) ? kept.packed : nil
    let tag = packed == nil ? kept.tag : ContentCoding.packedTag(kept.tag)
    var fields: HTTPFields = [
      "Content-Type": kept.document.contentType, "ETag": tag, "Vary": ContentCoding.vary,
      "Content-Security-Policy": DocumentPage.policy,
    ]
    if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
      return ServerResponse(304, fields: fields)
    }
    if packed != nil { fields["Content-Encoding"] = "gzip" }
    return ServerResponse(200, fields: fields, body: .bytes(packed ?? kept.document.bytes))
  }

  // MARK: Features

  private func items(
    of layer: ServedLayer, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let format = try Negotiation.format(of: request, for: .getItems)
    let asked = try ItemsRequest(
      request.query, of: layer, maximum: published.options.maximumLimit, by: axes)
    try Self.check(asked, as: format)
    let version = try await published.content.version(of: layer.id)
    let tag = version.map { published.tag(of: $0, format) }
    var fields: HTTPFields = [
      "Vary": ContentCoding.vary, "Content-Crs": "<\(asked.crs.uri)>",
    ]
    if let tag {
      fields["ETag"] = tag
      if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
        return ServerResponse(304, fields: fields)
      }
    }
    let address = ResourceAddress(
      operation: .getItems, base: base(of: request), path: request.path, query: request.query,
      format: format)
    if format == "gpkg" { return await extract(asked, request, fields) }
    let page = ItemsPage(
      request: asked, store: published.content,
      box: try await published.condition(of: asked.box, in: layer, version: version),
      address: address, packs: ContentCoding.takesGzip(request), room: published.room,
      countingTime: published.options.countingTime)
    let type = ServerOperation.getItems.formats.first { $0.name == format }?.type
    fields["Content-Type"] = type ?? MediaType.geoJSON
    let limit = asked.limit ?? published.options.defaultLimit
    do throws(FieldpackError) {
      let outcome: PageStart.Outcome
      switch format {
      case "html":
        fields["Content-Security-Policy"] = DocumentPage.policy
        let text = DocumentPage(
          request.path, title: layer.title, try await page.document(limit: min(limit, 100)),
          base: base(of: request))
        outcome = .whole(text.bytes)
      case "geojsonl": outcome = await page.lines()
      case "csv": outcome = await page.csv()
      case "gpx": outcome = await page.gpx()
      default: outcome = await page.collection(limit: limit)
      }
      return try response(outcome, fields).packed(for: request)
    } catch {
      return problem(error, request, while: .resource)
    }
  }

  /// Refuses what a format cannot hold: GPX has no areas and is in longitude and latitude, and nothing in
  /// CSV tells that y comes first.
  private static func check(
    _ request: ItemsRequest, as format: String
  ) throws(FieldpackError) {
    let type = request.layer.schema.geometry?.type
    if format == "gpx", type == nil || type == .polygon || type == .multiPolygon {
      throw FieldpackError(
        .invalidArgument,
        "gpx is of points and lines, which '\(request.layer.collectionID)' does not have")
    }
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
    var fields: HTTPFields = [
      "Content-Type": made.contentType, "Content-Security-Policy": DocumentPage.policy,
    ]
    if document.status == 503 { fields["Retry-After"] = "1" }
    return ServerResponse(document.status, fields: fields, body: .bytes(made.bytes))
  }
}
