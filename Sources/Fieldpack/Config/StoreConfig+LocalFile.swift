public import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension StoreConfig {
  /// Whether `uri` names something on the network.
  public var isRemote: Bool {
    let lower = uri.lowercased()
    return lower.hasPrefix("http://") || lower.hasPrefix("https://")
  }

  /// The regular file that `uri` leads to, links resolved.
  ///
  /// A plain uri is a path relative to the config's folder, taken literally: `%2e` and `?` are part
  /// of a name. In a `file://` uri percent escapes are undone. What leaves the folder, by an
  /// absolute path, by `..` or by a link, has to lie in one of `allowing`; that is checked before
  /// it is looked at, so an error does not tell whether there is something.
  ///
  /// - Throws: `.unavailable` for a remote uri, `.permission` for one that leaves the folder,
  ///   `.notFound` where there is no file, `.configuration` for what names no regular file.
  public func localFile() throws(FieldpackError) -> String {
    let (real, isWhole) = try allowedPath()
    var status = stat()
    guard isWhole, stat(real, &status) == 0 else {
      throw failure(.notFound, "'\(uri)' is not there (looked for \(real))")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw failure(.configuration, "'\(uri)' is not a regular file (\(real))")
    }
    return real
  }

  /// The path that `uri` leads to, links resolved, and whether there is something.
  ///
  /// - Throws: as ``localFile()``, whether or not there is a file.
  func allowedPath() throws(FieldpackError) -> (path: String, isThere: Bool) {
    let (real, isWhole) = FileSystem.resolve(try path())
    guard folder == nil || isAllowed(real) else {
      throw failure(
        .permission, "'\(uri)' leaves the folder of its config", advice: .allowFolder)
    }
    return (real, isWhole)
  }

  private static let maximumUriByteCount = 4096

  /// The path that `uri` means, before links are resolved.
  private func path() throws(FieldpackError) -> String {
    guard !uri.isEmpty else { throw failure(.configuration, "the store has no uri") }
    guard uri.utf8.count < Self.maximumUriByteCount else {
      throw failure(.configuration, "the uri has \(uri.utf8.count) bytes, more than a path may")
    }
    guard !isRemote else {
      throw failure(
        .unavailable, "not downloaded yet (\(Self.withoutSecrets(uri)))",
        advice: position?.file.map { .fetchStores(config: $0) })
    }
    guard let path = try filePath() ?? plainPath() else {
      let scheme = uri.prefix { $0 != ":" }
      throw failure(.configuration, "a uri with '\(scheme):' is not supported")
    }
    guard !path.utf8.contains(0) else {
      throw failure(.configuration, "the uri holds U+0000, which no file name can")
    }
    return path
  }

  private func plainPath() -> String? {
    guard !Self.hasScheme(uri) else { return nil }
    return uri.utf8.first == UInt8(ascii: "/") ? uri : FileSystem.join(folder ?? ".", uri)
  }

  /// The path in a `file:` uri, escapes undone; `nil` for other uris.
  private func filePath() throws(FieldpackError) -> String? {
    guard uri.lowercased().hasPrefix("file:/") else { return nil }
    var rest = uri.dropFirst("file:".count)
    if rest.hasPrefix("//") {
      rest = rest.dropFirst(2)
      if rest.lowercased().hasPrefix("localhost/") { rest = rest.dropFirst("localhost".count) }
      guard rest.hasPrefix("/") else {
        throw failure(
          .configuration, "'\(shownURI)' names another host; a file uri has three slashes")
      }
    }
    guard let decoded = Self.removingEscapes(rest) else {
      throw failure(.configuration, "'\(uri)' has a broken percent escape")
    }
    return decoded
  }

  private func isAllowed(_ real: String) -> Bool {
    ([folder].compactMap(\.self) + allowing).contains { root in
      // By bytes: a String that is equal may still be another folder.
      let base = Array(FileSystem.resolve(root).path.utf8)
      let slash = base.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
      return real.utf8.elementsEqual(base) || real.utf8.starts(with: base + slash)
    }
  }
}

extension StoreConfig {
  /// `x://` with the letters that a scheme may have.
  private static func hasScheme(_ uri: String) -> Bool {
    guard let colon = uri.firstIndex(of: ":"), uri[colon...].hasPrefix("://") else { return false }
    return uri[..<colon].utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
  }

  static func removingEscapes(_ text: Substring) -> String? {
    var output: [UInt8] = []
    var bytes = text.utf8.makeIterator()
    while let byte = bytes.next() {
      guard byte == UInt8(ascii: "%") else {
        output.append(byte)
        continue
      }
      guard let high = bytes.next().flatMap(hexDigit), let low = bytes.next().flatMap(hexDigit)
      else { return nil }
      output.append(high << 4 | low)
    }
    return String(validating: output, as: UTF8.self)
  }

  private static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The uri for people, without what may be a password or a token.
  package var shownURI: String { uri.contains("://") ? Self.withoutSecrets(uri) : uri }

  /// Without what may be a password or a token: user, query and fragment.
  package static func withoutSecrets(_ uri: String) -> String {
    let shown = uri.prefix { $0 != "?" && $0 != "#" }
    let parts = shown.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, let at = parts[2].lastIndex(of: "@") else { return String(shown) }
    let host = parts[2][parts[2].index(after: at)...]
    return ([parts[0], parts[1], host] + parts.dropFirst(3)).joined(separator: "/")
  }
}
