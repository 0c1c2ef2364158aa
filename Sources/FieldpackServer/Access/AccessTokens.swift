public import FieldpackCore
import FieldpackField

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a server knows of a token. The token itself is kept nowhere.
public struct AccessToken: Hashable, Sendable {
  public let name: String
  public let rights: [AccessRight]
  public let created: Instant
  /// The SHA-256 of the token. A slow hash, which passwords need, would gain nothing and cost each request
  /// time: a token has 256 random bits, so nobody finds it by trying.
  let digest: [UInt8]
}

/// The tokens of a server, in a file of mode 0600 that holds only their hashes.
///
///     let tokens = AccessTokens("tokens.json")
///     let text = try tokens.add("tablet", [.read(nil), .write("wells")])
///
/// A server reads the file again when the file has changed, so a revoked token is refused from then on.
public final class AccessTokens: Sendable {
  public let path: String
  private let kept = Locked<Kept?>(nil)

  private struct Kept {
    var stamp: FileStamp
    var tokens: [AccessToken]
  }

  public init(_ path: String) { self.path = path }

  // MARK: Reading

  /// All tokens, in the order in which they were added.
  ///
  /// - Throws: `.notFound`, `.permission` for a file that others may read or write, `.invalidData`.
  public func all() throws(FieldpackError) -> [AccessToken] {
    let found = try PrivateFile.read(
      path, of: .administrator, upTo: Self.maximumSize,
      orElse: "the tokens in it are not used. Try: chmod 600 \(path)")
    guard let bytes = found,
      let document = try? JSONValueReader.read(String(decoding: bytes, as: UTF8.self)),
      case .array(let items)? = document["tokens"]
    else { throw broken() }
    var tokens: [AccessToken] = []
    for item in items { tokens.append(try token(item)) }
    return tokens
  }

  private static let maximumSize = 4 << 20

  private func token(_ item: JSONValue) throws(FieldpackError) -> AccessToken {
    guard let name = item["name"]?.string, let digest = item["sha256"]?.string.flatMap(Self.bytes),
      let created = item["created"]?.string.flatMap({ Instant($0) }),
      case .array(let words)? = item["rights"]
    else { throw broken() }
    var rights: [AccessRight] = []
    for word in words {
      guard let right = word.string.flatMap({ try? AccessRight($0) }) else { throw broken() }
      rights.append(right)
    }
    return AccessToken(name: name, rights: rights, created: created, digest: digest)
  }

  private func broken() -> FieldpackError {
    FieldpackError(
      .invalidData, "\(path) is no file of tokens", position: FilePosition(file: path))
  }

  /// The bytes of a digest in hexadecimal digits.
  private static func bytes(_ hex: String) -> [UInt8]? {
    let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 64, hex.utf8.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  // MARK: Changing

  /// Makes a token and keeps its hash. A missing file is created.
  ///
  /// - Returns: the token, which nobody can read from the file.
  /// - Throws: `.cannotCreate` where there is a token of that name.
  public func add(
    _ name: String, _ rights: [AccessRight], at moment: Instant = .now
  ) throws(FieldpackError) -> String {
    guard !name.isEmpty, name.utf8.count <= 100, DisplayText.visible(name) == name else {
      throw FieldpackError(
        .invalidArgument, "a token's name has 1 to 100 bytes, all of which can be seen")
    }
    let text = Self.random()
    let digest = SHA256.digest(Array(text.utf8))
    try change { (tokens) throws(FieldpackError) in
      guard !tokens.contains(where: { $0.name == name }) else {
        throw FieldpackError(
          .cannotCreate, "\(path) has a token '\(name)'. Try: another name, or revoke it first")
      }
      tokens.append(AccessToken(name: name, rights: rights, created: moment, digest: digest))
    }
    return text
  }

  /// Revokes a token.
  ///
  /// - Throws: `.notFound` where no token has that name.
  public func revoke(_ name: String) throws(FieldpackError) {
    try change { (tokens) throws(FieldpackError) in
      guard let index = tokens.firstIndex(where: { $0.name == name }) else {
        let names = tokens.map(\.name).joined(separator: ", ")
        throw FieldpackError(
          .notFound, "\(path) has no token '\(name)' (it has: \(names.isEmpty ? "none" : names))")
      }
      tokens.remove(at: index)
    }
  }

  /// Changes the file under a lock, so that no program writes back a token that another one has revoked.
  /// The lock is on the folder, because the file is replaced.
  private func change(
    _ body: (inout [AccessToken]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let folder = FileSystem.split(path).folder
    let lock = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard lock >= 0 else { throw .system(errno, "open", folder) }
    defer { close(lock) }
    guard flock(lock, LOCK_EX) == 0 else { throw .system(errno, "lock", folder) }
    var tokens = FileStamp(path) == nil ? [] : try all()
    try body(&tokens)
    let items = tokens.map { token in
      JSONValue.members([
        "name": .text(token.name), "rights": JSONValue(token.rights.map(\.description)),
        "created": .text(token.created.description), "sha256": .text(String(hex: token.digest)),
      ])
    }
    try JSONFile.write(.members(["version": 1, "tokens": .array(items)]), to: path)
  }

  /// 256 random bits in letters that need no escapes anywhere.
  static func random() -> String { "fp_" + Base64.encodeForAddress(secret()) }

  /// 256 random bits.
  static func secret() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  // MARK: Asking

  /// The token with that text, as the file has it now; `nil` where there is none.
  ///
  /// - Parameter told: gets why the file cannot be read, once for each state of the file. All tokens are
  ///   refused then.
  func token(of text: String, told: (FieldpackError) -> Void) -> AccessToken? {
    token(digest: SHA256.digest(Array(text.utf8)), told: told)
  }

  func token(digest: [UInt8], told: (FieldpackError) -> Void) -> AccessToken? {
    var found: AccessToken?
    // All tokens are compared, each to its end, so that the time tells nothing about them.
    for token in current(told) where Self.areEqual(token.digest, digest) { found = token }
    return found
  }

  /// Compares all bytes: an end at the first difference would show by its time where that is.
  static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for index in a.indices { difference |= a[index] ^ b[index] }
    return difference == 0
  }

  private func current(_ told: (FieldpackError) -> Void) -> [AccessToken] {
    guard let stamp = FileStamp(path) else { return [] }
    let (tokens, failure) = kept.withLock { kept -> ([AccessToken], FieldpackError?) in
      if let kept, kept.stamp == stamp { return (kept.tokens, nil) }
      do throws(FieldpackError) {
        let tokens = try all()
        kept = Kept(stamp: stamp, tokens: tokens)
        return (tokens, nil)
      } catch {
        kept = Kept(stamp: stamp, tokens: [])
        return ([], error)
      }
    }
    if let failure { told(failure) }
    return tokens
  }
}
