package import FieldpackCore
package import FieldpackHTTP

extension StoreConfig {
  /// The uri without the user: who asks with another password asks for the same file.
  package var address: String { (try? request().address) ?? uri }

  /// What asks for a remote store: its uri without the user, and the field `Authorization` where the uri
  /// names a user, as in `https://user:password@example.org/wfs` (RFC 3986, clause 3.2.1; RFC 7617).
  ///
  /// A client does not send the field to another server.
  /// - Throws: `.configuration` for a user that cannot be sent.
  package func request() throws(FieldpackError) -> (address: String, fields: HTTPFields) {
    let parts = uri.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard isRemote, parts.count == 3 else { return (uri, [:]) }
    let authority = parts[2].prefix { !"/?#".contains($0) }
    guard let at = authority.lastIndex(of: "@") else { return (uri, [:]) }
    let names = authority[..<at].split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let user = Self.removingEscapes(names[0])
    let password = names.count == 2 ? Self.removingEscapes(names[1]) : ""
    guard let user, let password, !user.contains(":") else {
      throw failure(
        .configuration,
        "the user or the password in the uri of store '\(id)' cannot be read: two hexadecimal digits "
          + "follow a %, both are UTF-8, and a user has no colon")
    }
    let word = Base64.encode(Array("\(user):\(password)".utf8))
    let address = "\(parts[0])//\(parts[2][parts[2].index(after: at)...])"
    return (address, ["Authorization": "Basic \(word)"])
  }
}
