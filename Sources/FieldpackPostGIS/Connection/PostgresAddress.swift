import FieldpackCore

/// Where a database is and how it is reached: the keywords of libpq with their values.
package struct PostgresAddress: Sendable {
  /// The keywords in order; the password, if there is one, is not among them.
  package var keywords: [(name: String, value: String)]
  /// A password that came from a descriptor; otherwise libpq looks for one in its own files.
  package var password: String?
  /// What errors call the database: host and name, without user or parameters.
  package var shown: String

  package init(keywords: [(name: String, value: String)], password: String? = nil, shown: String) {
    self.keywords = keywords
    self.password = password
    self.shown = shown
  }

  /// The mode of TLS, where by it another server could be taken for the one that was meant; `nil` where
  /// that is verified, and for a server of this machine.
  var unverifiedMode: String? {
    func value(_ name: String) -> String? { keywords.last { $0.name == name }?.value }
    guard let mode = value("sslmode"), mode != "verify-full" else { return nil }
    let host = value("host") ?? (value("service") == nil ? "/" : "")
    let isHere = host.hasPrefix("/") || ["localhost", "127.0.0.1", "::1"].contains(host)
    return isHere ? nil : mode
  }
}

/// The limits of connections.
package struct PostgresLimits: Hashable, Sendable {
  /// How long to wait for a server when connecting.
  package var connecting: Duration = .seconds(10)
  /// How long a statement may run; `nil` is without limit.
  package var statement: Duration?
  /// How long a transaction may wait for its next statement before the server ends it.
  var idleInTransaction: Duration = .seconds(600)
  /// How many connections there are at a time.
  package var connections = 6
  /// How long a visitor waits for a connection when all are in use.
  package var waiting: Duration = .seconds(30)
  /// For how long an unused connection is trusted without asking the server.
  package var trusted: Duration = .seconds(60)
  /// How long a server has to end a statement that was cancelled.
  package var ending: Duration = .seconds(10)
  /// How many bytes the answer to a statement may have that is held whole, and one row of a COPY.
  package var answerBytes = 256 << 20

  package init() {}
}

extension Duration {
  var wholeMilliseconds: Int64 {
    let (seconds, rest) = components
    return seconds * 1_000 + rest / 1_000_000_000_000_000
  }
}
