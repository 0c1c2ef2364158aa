import FieldpackCore
import FieldpackGeometry

/// The answer to `flickr.photos.search`, of old servers and new ones.
///
/// Numbers may be texts and texts numbers: `total` and `farm` have been both.
struct FlickrReply: Hashable {
  struct Photo: Hashable {
    var id: String
    var secret: String
    var server: String
    /// 0 where there is none.
    var farm: Int
    var title: String
    var owner: String?
    var license: String?
    var position: Position?
  }

  /// How many there are in all, where it is told.
  var total: Int?
  /// Those that can be shown: without an id, a secret or a server there is no address.
  var photos: [Photo]

  /// - Throws: `.permission` where the key is not taken, `.unavailable` where the service is away,
  ///   `.invalidData` for other failures and for what is no answer.
  init(_ bytes: [UInt8]) throws(FieldpackError) {
    let root = try Self.document(bytes)
    switch root["stat"] {
    case .text("ok"): break
    case .text("fail"): throw Self.failure(root)
    default: throw Self.malformed("it has no member 'stat'")
    }
    guard let page = root["photos"], case .array(let entries)? = page["photo"] else {
      throw Self.malformed("it has no photos")
    }
    total = Self.integer(page["total"])
    photos = entries.compactMap(Self.photo)
  }

  private static func document(_ bytes: [UInt8]) throws(FieldpackError) -> JSONValue {
    do throws(JSONMistake) {
      // Not in a closure: those do not keep the type of what they throw.
      return try bytes.withUnsafeBufferPointer { (bytes) throws(JSONMistake) in
        try JSONValueReader.read(bytes, maximumDepth: 32)
      }
    } catch {
      throw malformed("\(error.message) at byte \(error.offset)")
    }
  }

  private static func malformed(_ what: String) -> FieldpackError {
    FieldpackError(.invalidData, "the answer to the search for photos cannot be read: \(what)")
  }

  private static func failure(_ root: JSONValue) -> FieldpackError {
    let number = integer(root["code"]) ?? 0
    let message = text(root["message"]) ?? "no reason given"
    let code: FieldpackError.Code =
      switch number {
      case 95...100: .permission
      case 10, 105, 106: .unavailable
      default: .invalidData
      }
    return FieldpackError(
      code, "Flickr refuses the search for photos: \(message) (code \(number))",
      underlying: FlickrFailure(code: number, message: message))
  }

  private static func photo(_ node: JSONValue) -> Photo? {
    guard let id = name(node["id"]), let secret = name(node["secret"]),
      let server = name(node["server"])
    else { return nil }
    let farm = integer(node["farm"]) ?? 0
    let title = text(node["title"]) ?? text(node["title"]?["_content"]) ?? ""
    return Photo(
      id: id, secret: secret, server: server, farm: (1...9999).contains(farm) ? farm : 0,
      title: title, owner: text(node["ownername"]) ?? text(node["owner"]),
      license: text(node["license"]), position: position(node))
  }

  /// A part of an address: letters and digits, not too many.
  private static func name(_ node: JSONValue?) -> String? {
    guard let text = text(node), (1...64).contains(text.utf8.count) else { return nil }
    let isName = text.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    return isName ? text : nil
  }

  /// Flickr gives 0 and 0 for photos without a place.
  private static func position(_ node: JSONValue) -> Position? {
    guard let x = double(node["longitude"]), let y = double(node["latitude"]),
      abs(x) <= 180, abs(y) <= 90, x != 0 || y != 0
    else { return nil }
    return Position(x: x, y: y)
  }

  private static func text(_ node: JSONValue?) -> String? {
    switch node {
    case .text(let text): text
    case .integer(let number): String(number)
    default: nil
    }
  }

  private static func integer(_ node: JSONValue?) -> Int? {
    switch node {
    case .text(let text): Int(text)
    case .integer(let number): Int(exactly: number)
    default: nil
    }
  }

  private static func double(_ node: JSONValue?) -> Double? {
    switch node {
    case .text(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    case .integer, .real: node?.number.flatMap { $0.isFinite ? $0 : nil }
    default: nil
    }
  }
}
