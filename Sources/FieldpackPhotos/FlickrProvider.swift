public import FieldpackCore
public import FieldpackGeometry
public import FieldpackHTTP

/// Photos of Flickr, by `flickr.photos.search` around a position.
///
/// The key is used for requests only: no message, log or file of Fieldpack holds it.
public struct FlickrProvider: PhotoProvider {
  public var name: String { "flickr" }
  public var maximumRadius: Double { 32_000 }

  /// The address of the service, and the parameters of searches.
  public struct Settings: Hashable, Sendable {
    public var service = "https://www.flickr.com/services/rest"
    /// The server of all pictures; `nil` takes Flickr's, which depends on a photo's `farm`.
    public var pictures: String?
    public var size = PhotoSize.large
    /// 0 any, 1 taken indoors, 2 outdoors.
    public var geoContext = 0
    /// The oldest time of upload. A search without such a limit finds photos of the last 12 hours
    /// only.
    public var uploadedSince = Instant(milliseconds: 1_072_915_200_000)

    public init() {}
  }

  public let settings: Settings
  private let client: HTTPClient
  private let key: String

  /// The environment variable that holds the key.
  public static let keyVariable = "FLICKR_API_KEY"

  /// - Parameter client: by default one that gives up after 30 seconds, as PhotoPath does.
  /// - Throws: `.configuration` without a key.
  public init(
    key: String?, settings: Settings = .init(), client: HTTPClient? = nil
  ) throws(FieldpackError) {
    guard let key, !key.isEmpty else {
      throw FieldpackError(
        .configuration,
        "photos of Flickr need a key. Try: \(Self.keyVariable)=… in the environment")
    }
    self.key = key
    self.settings = settings
    if let client {
      self.client = client
    } else {
      var configuration = HTTPConfiguration()
      configuration.timeout = .seconds(30)
      self.client = try HTTPClient(configuration)
    }
  }

  /// Takes the key from the environment variable ``keyVariable``.
  public init(settings: Settings = .init()) throws(FieldpackError) {
    try self.init(key: Environment.value(Self.keyVariable), settings: settings)
  }

  public func candidates(
    near position: Position, radius: Double, limit: Int
  ) async throws(FieldpackError) -> [PhotoCandidate] {
    let request = HTTPRequest(
      .get, address(near: position, radius: radius, limit: limit),
      fields: ["Cache-Control": "no-cache"], maximumLength: 4 << 20)
    let response = try await client.send(request).checked("the search for photos")
    do throws(FieldpackError) {
      let reply = try FlickrReply(response.body)
      return reply.photos.prefix(max(0, limit)).map(candidate)
    } catch {
      // What an answer says is shown to people, and might repeat what it was asked.
      var underlying = error.underlying
      if var failure = underlying as? FlickrFailure {
        failure.message = withoutKey(failure.message)
        underlying = failure
      }
      throw FieldpackError(
        error.code, withoutKey(error.message), advice: error.advice, underlying: underlying)
    }
  }

  /// The text without the key, as it is or as addresses have it.
  private func withoutKey(_ text: String) -> String {
    let encoded = PercentText.encode(key)
    let lowered = PercentText.encode(key, digits: "0123456789abcdef")
    return [encoded, lowered, key].reduce(text) { $0.replacing($1, with: "…") }
  }

  public func image(
    of candidate: PhotoCandidate, maximumLength: Int
  ) async throws(FieldpackError) -> [UInt8] {
    let request = HTTPRequest(.get, candidate.source, maximumLength: maximumLength)
    return try await client.send(request).checked("photo \(candidate.id)").body
  }

  /// The search in the order of PhotoPath, then what it lacks.
  func address(near position: Position, radius: Double, limit: Int) -> String {
    let kilometres = min(max(radius, 0), maximumRadius) / 1000
    let items = [
      ("method", "flickr.photos.search"), ("format", "json"), ("nojsoncallback", "1"),
      ("api_key", PercentText.encode(key)), ("lat", Self.text(position.y)),
      ("lon", Self.text(position.x)), ("radius", Self.text(kilometres)),
      ("per_page", String(min(max(limit, 1), 250))), ("geo_context", String(settings.geoContext)),
      ("extras", "geo,license,owner_name,date_taken"),
      ("min_upload_date", String(settings.uploadedSince.milliseconds / 1000)),
    ]
    return settings.service + "?" + items.map { "\($0)=\($1)" }.joined(separator: "&")
  }

  private static func text(_ number: Double) -> String {
    var bytes: [UInt8] = []
    NumberText.append(number, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func candidate(_ photo: FlickrReply.Photo) -> PhotoCandidate {
    PhotoCandidate(
      id: photo.id, title: photo.title, owner: photo.owner, license: photo.license,
      position: photo.position, source: address(of: photo), secret: photo.secret,
      server: photo.server, farm: photo.farm, size: settings.size)
  }

  /// Built of parts that were checked, so that it is always one of Flickr's servers for pictures.
  private func address(of photo: FlickrReply.Photo) -> String {
    let host = photo.farm > 0 ? "farm\(photo.farm)" : "live"
    let base = settings.pictures ?? "https://\(host).staticflickr.com"
    let suffix = settings.size == .medium ? "" : "_\(settings.size.rawValue)"
    return "\(base)/\(photo.server)/\(photo.id)_\(photo.secret)\(suffix).jpg"
  }
}

/// Why Flickr did not answer a search.
public struct FlickrFailure: Error, Hashable, Sendable {
  public var code: Int
  public var message: String
}
