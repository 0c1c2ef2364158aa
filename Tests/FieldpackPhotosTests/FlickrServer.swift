import FieldpackCore
import FieldpackGeometry
import FieldpackHTTP
import FieldpackPhotos
import FieldpackProjection
import FieldpackTestSupport

/// A server that answers as Flickr does, from the points of a layer.
final class FlickrServer: Sendable {
  let server: LoopbackServer
  private let answers: Locked<Answers>

  private struct Answers {
    /// What a search is answered with, instead of photos.
    var search: LoopbackServer.Reply?
    /// What a picture is answered with, by the photo's id.
    var pictures: [String: LoopbackServer.Reply] = [:]
  }

  /// A photo as the layer has it.
  struct Photo: Sendable {
    var id: String
    var position: Position

    var color: (UInt8, UInt8, UInt8) {
      let number = UInt64(id) ?? 0
      return (UInt8(number % 251), UInt8(number / 251 % 251), 7)
    }
    var picture: [UInt8] { TestPicture.png(color: color) }
  }

  /// - Parameter layer: features whose ids are those of the photos.
  init(_ layer: [Feature]) throws {
    let photos = layer.compactMap { feature -> Photo? in
      guard case .point(let position?, _) = feature.geometry, let id = feature.id else {
        return nil
      }
      return Photo(id: id.description, position: position)
    }
    let answers = Locked(Answers())
    self.answers = answers
    server = try LoopbackServer { request in
      let given = answers.withLock { $0 }
      if request.target.hasPrefix("/rest?") {
        return given.search ?? .text(200, Self.search(request.target, photos))
      }
      // /server/id_secret_size.jpg
      let parts = request.target.split(separator: "/")
      let id = parts.last.map { String($0.prefix { $0 != "_" }) } ?? ""
      if let reply = given.pictures[id] { return reply }
      guard parts.first == "7", request.target.hasSuffix("_abc\(id)_b.jpg"),
        let photo = photos.first(where: { $0.id == id })
      else { return .text(404, "not found") }
      return .response(200, fields: [["Content-Type", "image/jpeg"]], body: photo.picture)
    }
  }

  convenience init(_ positions: [(Double, Double)] = []) throws {
    try self.init(
      positions.enumerated().map { number, position in
        Feature(
          id: .integer(Int64(number + 1)), geometry: .point(x: position.0, y: position.1))
      })
  }

  func answer(searches reply: LoopbackServer.Reply?) { answers.withLock { $0.search = reply } }
  func answer(picture id: String, _ reply: LoopbackServer.Reply?) {
    answers.withLock { $0.pictures[id] = reply }
  }

  /// The targets of the searches, without what comes before the query.
  var searches: [String] {
    server.requests.map(\.target).filter { $0.hasPrefix("/rest?") }.map { String($0.dropFirst(6)) }
  }
  /// The radii of the searches, as they were asked.
  var radii: [String] {
    searches.compactMap { search in
      search.split(separator: "&").first { $0.hasPrefix("radius=") }.map { String($0.dropFirst(7)) }
    }
  }

  static let key = "0123456789abcdef+/"

  func provider(timeout: Duration = .seconds(3600)) throws -> FlickrProvider {
    var settings = FlickrProvider.Settings()
    settings.service = server.address + "/rest"
    settings.pictures = server.address
    var configuration = HTTPConfiguration()
    configuration.timeout = timeout
    (configuration.connectTimeout, configuration.lowSpeedTime) = (timeout, timeout)
    return try FlickrProvider(
      key: Self.key, settings: settings, client: try HTTPClient(configuration))
  }

  private static func search(_ target: String, _ photos: [Photo]) -> String {
    var items: [String: String] = [:]
    for item in target.dropFirst(6).split(separator: "&") {
      let parts = item.split(separator: "=", maxSplits: 1)
      items[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
    func number(_ name: String) -> Double { items[name].flatMap { Double($0) } ?? .nan }
    let center = Position(x: number("lon"), y: number("lat"))
    let near = photos.map { photo in
      (photo: photo, distance: Geodesic.wgs84.distance(from: center, to: photo.position))
    }.filter { $0.distance <= number("radius") * 1000 }.sorted { $0.distance < $1.distance }
    let page = near.prefix(Int(number("per_page"))).map { entry in
      let photo = entry.photo
      return """
        {"id":"\(photo.id)","owner":"1@N0","secret":"abc\(photo.id)","server":"7","farm":1,\
        "title":"Photo \(photo.id)","latitude":"\(photo.position.y)",\
        "longitude":\(photo.position.x),"license":"4","ownername":"Ann","ispublic":1}
        """
    }
    return """
      {"photos":{"page":1,"pages":1,"perpage":10,"total":\(near.count),\
      "photo":[\(page.joined(separator: ","))]},"stat":"ok"}
      """
  }
}
