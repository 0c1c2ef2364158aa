public import FieldpackCore
public import FieldpackGeometry

/// Where photos come from that were taken near a position.
public protocol PhotoProvider: Sendable {
  /// What the column `provider` of layer `photo` says; two photos are one where it and their ids are
  /// the same.
  var name: String { get }
  /// The farthest that can be asked for, in metres.
  var maximumRadius: Double { get }
  /// Photos around a position, the nearest first; never more than `limit`.
  ///
  /// - Parameters:
  ///   - position: longitude and latitude on WGS 84.
  ///   - radius: in metres.
  /// - Throws: `.unavailable` where it is worth to ask again later.
  func candidates(
    near position: Position, radius: Double, limit: Int
  ) async throws(FieldpackError) -> [PhotoCandidate]
  /// The bytes of a photo, as they come.
  ///
  /// - Throws: `.notFound` where there is no such picture (any more), `.unavailable` where it is worth
  ///   to ask again later, `.invalidData` for more than `maximumLength` bytes.
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
  /// What the provider calls the licence that it is under.
  public var license: String?
  /// Where it was taken, on WGS 84.
  public var position: Position?
  /// Where its picture is: an address, or a place in a file.
  public var source: String
  /// What Flickr needs for the address; empty and 0 elsewhere.
  public var secret: String
  public var server: String
  public var farm: Int
  /// The size that is fetched, as Flickr's addresses have it.
  public var size: PhotoSize

  public init(
    id: String, title: String = "", owner: String? = nil, license: String? = nil,
    position: Position? = nil, source: String, secret: String = "", server: String = "",
    farm: Int = 0, size: PhotoSize = .large
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

/// The sizes of Flickr's pictures, by the letter in their addresses.
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

/// How far a track point has come on its way to a picture.
public enum PhotoState: String, Hashable, Sendable, CaseIterable {
  /// Not asked for yet, or to be asked for again.
  case pending
  case found
  /// No photo as far as the provider can be asked.
  case none
  /// No answer could be read, or no picture could be had, each time.
  case failed
  /// All photos around are pictures of other points of the track.
  case duplicate
}
