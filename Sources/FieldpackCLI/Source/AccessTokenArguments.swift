import FieldpackCore
import FieldpackHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The token that a server asks for.
struct AccessTokenArguments: OptionGroup {
  private let file: String?

  init(_ reader: inout OptionReader) {
    file = reader.value(
      "token-from", .file(),
      help: "The token that the server asks for: the first line of this file, such as /dev/fd/3.")
  }

  /// The token; `nil` where none is named.
  ///
  /// - Throws: what reading the file throws, `.invalidArgument` where its first line is no token.
  func token() throws(FieldpackError) -> String? {
    guard let file else { return nil }
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw .system(errno, "read", file) }
    defer { close(descriptor) }
    let line = try TypedLine.readHidden(descriptor, file)
    guard line.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw FieldpackError(
        .invalidArgument, "the first line of \(file) is no token",
        position: FilePosition(file: file, line: 1))
    }
    return line
  }

  /// The fields of requests to `url`.
  ///
  /// - Throws: `.permission` where others on the way could read the token.
  func fields(for url: String) throws(FieldpackError) -> HTTPFields {
    guard let token = try token() else { return [:] }
    let address = try HTTPAddress(url)
    guard address.scheme == "https" || address.isLoopback else {
      throw FieldpackError(
        .permission,
        "\(address.host) is asked by http, so that others on the way could read the token. Try: an "
          + "address that begins with https://")
    }
    return ["Authorization": "Bearer \(token)"]
  }
}
