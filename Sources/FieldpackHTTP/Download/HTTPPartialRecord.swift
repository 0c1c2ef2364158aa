import FieldpackCore

/// What the bytes of a part are of: a small hidden file beside them, `PATH.origin`.
///
/// It holds a digest of the address, because the address may hold a secret.
struct HTTPPartialRecord: Sendable {
  private let path: String
  private let address: String

  init(of address: String, beside part: String) {
    path = part + ".origin"
    self.address = SHA256.hex(Array(address.utf8))
  }

  /// What is known of the bytes, but for their number.
  ///
  /// - Returns: `nil` for those of another address, and for those from before the machine started:
  ///   they may not have reached the disk.
  func read() -> HTTPPartial? {
    guard let document = JSONFile.read(path), document["address"] == .text(address),
      let boot = Self.boot, document["boot"] == .text(boot)
    else { return nil }
    var partial = HTTPPartial()
    if let tag = document["etag"]?.string {
      partial.validator = .entityTag(tag)
    } else if let date = document["last_modified"]?.string {
      partial.validator = .lastModified(date)
    } else {
      return nil
    }
    guard let total = document["total_bytes"] else { return partial }
    guard case .integer(let number) = total, number > 0 else { return nil }
    partial.total = Int(number)
    return partial
  }

  func write(_ partial: HTTPPartial) throws(FieldpackError) {
    var members = [JSONValue.Member(name: "address", value: .text(address))]
    switch partial.validator {
    case .entityTag(let text): members.append(.init(name: "etag", value: .text(text)))
    case .lastModified(let text): members.append(.init(name: "last_modified", value: .text(text)))
    case nil: break
    }
    if let total = partial.total {
      members.append(.init(name: "total_bytes", value: .integer(Int64(total))))
    }
    if let boot = Self.boot { members.append(.init(name: "boot", value: .text(boot))) }
    try JSONFile.write(.object(members), to: path)
  }

  func remove() { FileSystem.remove(path) }

  /// Which start of the machine this is, as Linux tells it.
  private static let boot: String? = {
    let bytes = try? ByteInput(path: "/proc/sys/kernel/random/boot_id").head(64)
    return bytes.map { String(decoding: $0.prefix { $0 > 32 }, as: UTF8.self) }
  }()
}
