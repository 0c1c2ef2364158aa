public import FieldpackCore
public import FieldpackGeometry

/// A source of photos that were taken near a position.
public protocol PhotoProvider: Sendable {
  /// The name for the column `provider` of layer `photo`. Photos with the same provider and id are
  /// one photo.
  var name: String { get }
  /// The largest radius of a search, in metres.
  var maximumRadius: Double { get }
  /// The photos around a position, the nearest first, at most `limit`.
  ///
  /// - Parameters:
  ///   - position: longitude and latitude on WGS 84.
  ///   - radius: in metres.
  /// - Throws: `.unavailable` where asking again later may help.
  func candidates(
    near position: Position, radius: Double, limit: Int
  ) async throws(FieldpackError) -> [PhotoCandidate]
  /// The bytes of a photo, unchanged.
  ///
  /// - Throws: `.notFound` where the picture does not exist, `.unavailable` where asking again
  ///   later may help, `.invalidData` for more than `maximumLength` bytes.
  func image(
    of candidate: PhotoCandidate, maximumLength: Int
  ) async throws(FieldpackError) -> [UInt8]
}

/// A photo that a provider knows.
public struct PhotoCandidate: Hashable, Sendable {
  /// Its id with the provider.
  public var id: String
  public var title: String
  public var owner: String?
  /// The licence in the provider's words.
  public var license: String?
  /// Where the photo was taken, on WGS 84.
  public var position: Position?
  /// The origin of the picture: an address, or a place in a file.
  public var source: String
  /// Parts of Flickr's addresses; `nil` with other providers.
  public var secret: String?
  public var server: String?
  public var farm: Int?
  /// The size of the picture that is fetched, as Flickr names it; `nil` with other providers.
  public var size: PhotoSize?

  public init(
    id: String, title: String = "", owner: String? = nil, license: String? = nil,
    position: Position? = nil, source: String, secret: String? = nil, server: String? = nil,
    farm: Int? = nil, size: PhotoSize? = nil
  ) {
    self.id = id
    self.title = title
    self.owner = owner
    self.license = license
    self.position = position
    self.source = source
    self.secret = secret
    self.server = server
    self.farm = farm
    self.size = size
  }
}

/// The sizes of Flickr's pictures, named by a letter in their addresses.
public enum PhotoSize: String, Hashable, Sendable, CaseIterable {
  case square75 = "s"
  case square150 = "q"
  case thumbnail = "t"
  case small240 = "m"
  case small320 = "n"
  /// 500 pixels, whose addresses have no letter.
  case medium = "-"
  case medium640 = "z"
  case medium800 = "c"
  /// 1024 pixels.
  case large = "b"
  case large1600 = "h"
  case large2048 = "k"
  case original = "o"
}

/// Whether a track point has a picture, and why not.
public enum PhotoState: String, Hashable, Sendable, CaseIterable {
  /// Not searched yet, or to be searched again.
  case pending
  case found
  /// There is no photo within the largest radius.
  case none
  /// Every try failed: no answer, or no picture that can be read.
  case failed
  /// All photos around are already pictures of other points of the track.
  case duplicate
}
