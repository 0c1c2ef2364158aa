import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackMedia

/// Asks a server for tiles, politely: two at a time, none again before its time, and not at all while the
/// server asks to wait.
actor TileFetcher {
  private let store: StoreID
  private let template: XYZTemplate
  private let client: HTTPClient
  private let cache: TileCache
  private let logger: Logger
  private let now: @Sendable () -> Instant
  /// The tiles that are asked for.
  private var busy: Set<TileAddress> = []
  private var waiting: [CheckedContinuation<Void, Never>] = []
  /// Until when the server asks to wait.
  private var pause: Instant?

  /// How many tiles are asked for at a time.
  private static let limit = 2
  /// The largest tile, in bytes.
  private static let maximumLength = 5 << 20
  private static let side = 256
  private static let day = 86_400

  init(
    store: StoreID, template: XYZTemplate, client: HTTPClient, cache: TileCache, logger: Logger,
    now: @escaping @Sendable () -> Instant = { .now }
  ) {
    self.store = store
    self.template = template
    self.client = client
    self.cache = cache
    self.logger = logger.labelled("fieldpack.tiles", ["store": .text(store.rawValue)])
    self.now = now
  }

  /// The tile from the cache or the server; `nil` where the server has none.
  func tile(at address: TileAddress) async throws(FieldpackError) -> Tile? {
    if let entry = try await kept(at: address), entry.isFresh(at: now()) {
      return entry.tile
    }
    await enter(address)
    defer { leave(address) }
    // Another task may have fetched it meanwhile.
    let known = try await kept(at: address)
    if let known, known.isFresh(at: now()) { return known.tile }
    let entry: TileCache.Entry
    do throws(FieldpackError) {
      entry = try await fetch(address, known)
    } catch {
      guard error.code != .interrupted, let tile = known?.tile else {
        throw error.adding(location: .init(store: store), position: nil)
      }
      logger.warning("old tile given", ["code": .text(error.code.name)])
      return tile
    }
    do throws(FieldpackError) {
      try await cache.put(entry, at: address, isSame: known?.tile == entry.tile && known != nil)
    } catch {
      // The tile is there all the same.
      logger.warning("tile not kept", ["code": .text(error.code.name)])
    }
    return entry.tile
  }

  /// What the cache knows of a tile: nothing where it cannot be read.
  private func kept(at address: TileAddress) async throws(FieldpackError) -> TileCache.Entry? {
    do throws(FieldpackError) {
      return try await cache.entry(at: address)
    } catch {
      guard error.code != .interrupted else { throw error }
      logger.warning("kept tile not read", ["code": .text(error.code.name)])
      return nil
    }
  }

  func close() async { await cache.close() }

  // MARK: Taking turns

  private func enter(_ address: TileAddress) async {
    while busy.count >= Self.limit || busy.contains(address) {
      await withCheckedContinuation { waiting.append($0) }
    }
    busy.insert(address)
  }

  private func leave(_ address: TileAddress) {
    busy.remove(address)
    let waiting = waiting
    self.waiting = []
    for turn in waiting { turn.resume() }
  }

  // MARK: Asking

  private func fetch(
    _ address: TileAddress, _ known: TileCache.Entry?
  ) async throws(FieldpackError) -> TileCache.Entry {
    if let pause, now() < pause {
      throw FieldpackError(
        .unavailable, "tile \(address): the server asks to wait until \(pause)")
    }
    var request = HTTPRequest(
      .get, template.address(of: address), fields: template.fields,
      maximumLength: Self.maximumLength)
    if known?.tile != nil, let tag = known?.tag { request.fields["If-None-Match"] = tag }
    let response = try await client.send(request)
    let moment = now()
    if [429, 503].contains(response.status), let asked = response.retryAfter(at: moment) {
      pause = Instant(milliseconds: moment.milliseconds + Int64(asked.milliseconds))
    }
    var entry = TileCache.Entry(
      tag: response.fields["ETag"].flatMap { $0.utf8.count <= 1024 ? $0 : nil },
      fetched: moment, maximumAge: Self.maximumAge(response.fields))
    switch response.status {
    case 304 where known?.tile != nil:
      entry.tile = known?.tile
      entry.tag = entry.tag ?? known?.tag
    case 204, 404, 410: break
    default:
      let body = try response.checked("tile \(address)", at: moment).body
      entry.tile = Tile(
        address: address, mediaType: try Self.check(body, address).rawValue, bytes: body)
    }
    return entry
  }

  /// - Throws: `.invalidData` for what is no picture, `.unsupported` for one of another size.
  private static func check(
    _ body: [UInt8], _ address: TileAddress
  ) throws(FieldpackError) -> MediaType {
    let type = MediaType(body)
    guard let type, [.png, .jpeg, .webp].contains(type), let size = PictureSize(of: body) else {
      throw FieldpackError(
        .invalidData,
        "tile \(address): the server answers with \(type?.name ?? "no picture"), not with a PNG, JPEG "
          + "or WebP")
    }
    guard size == PictureSize(width: side, height: side) else {
      throw FieldpackError(
        .unsupported,
        "tile \(address) is \(size.width) x \(size.height) pixels large, not \(side) x \(side)")
    }
    return type
  }

  /// How long a tile is not asked for again, in seconds: a day, or up to a year where the server says so.
  private static func maximumAge(_ fields: HTTPFields) -> Int {
    let directives = fields.values(of: "Cache-Control").flatMap {
      $0.lowercased().split(separator: ",")
    }
    let ages = directives.compactMap { directive -> Int? in
      let words = directive.split(separator: "=").map { $0.filter { $0 != " " && $0 != "\"" } }
      return words.count == 2 && words[0] == "max-age" ? Int(words[1]) : nil
    }
    return min(max(ages.first ?? 0, day), 365 * day)
  }
}
