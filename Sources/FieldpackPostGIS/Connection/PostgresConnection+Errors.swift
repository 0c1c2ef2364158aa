#if PostGIS
  import CPQ
  import FieldpackCore

  extension PostgresConnection {
    /// The error that a result is.
    func error(of result: OpaquePointer) -> FieldpackError {
      let state = field(fieldpack_pq_sqlstate, of: result) ?? ""
      let message =
        field(fieldpack_pq_primary, of: result)
        ?? String(cString: PQresultErrorMessage(result))
      var code = SQLState(state)
      code.column = field(fieldpack_pq_column, of: result)
      if state.isEmpty || PQstatus(handle) != CONNECTION_OK { return lost(saying: message, code) }
      if state == "57014" { return cancelled(message, code) }
      var text = plain(message)
      if code.code == .full { text = "the disk of \(address.shown) is full: \(text)" }
      // The detail of a constraint names the key.
      if state.hasPrefix("23"), let detail = field(fieldpack_pq_detail, of: result) {
        text += " (\(plain(detail)))"
      }
      return FieldpackError(code.code, text, underlying: code)
    }

    private func cancelled(_ message: String, _ code: SQLState) -> FieldpackError {
      guard canceller.isRequested else {
        return FieldpackError(
          .unavailable, "the server ended the statement: \(plain(message))", underlying: code)
      }
      return FieldpackError(.interrupted, "interrupted", underlying: code)
    }

    /// The connection is lost, or was never there.
    func lost(saying message: String? = nil, _ code: SQLState? = nil) -> FieldpackError {
      let reason = plain(message ?? String(cString: PQerrorMessage(handle)))
      let told = reason.isEmpty ? "" : ": \(reason)"
      return FieldpackError(
        .unavailable, "the connection to \(address.shown) is lost\(told)", underlying: code)
    }

    /// The server does not answer as PostgreSQL does.
    func mistake(_ what: String) -> FieldpackError {
      FieldpackError(.invalidData, "\(address.shown) \(what)")
    }

    /// Why there is no connection. libpq has no code here, only a text in words of the server.
    func refusal() -> FieldpackError {
      let reason = plain(String(cString: PQerrorMessage(handle)))
      let needsPassword = PQconnectionNeedsPassword(handle) == 1
      var text = "no connection to \(address.shown): \(reason)"
      if needsPassword {
        text +=
          ". Try: a line in ~/.pgpass or the file that PGPASSFILE names, or a service file"
      }
      text += Self.wayOut(of: reason)
      let isRefused = needsPassword || PQconnectionUsedPassword(handle) == 1
      return FieldpackError(isRefused ? .permission : .unavailable, text)
    }

    /// What to try where TLS keeps a connection from being made.
    static func wayOut(of reason: String) -> String {
      if reason.contains("certificate verify failed") || reason.contains("root certificate") {
        return ". Try: ?sslrootcert=FILE in the uri, with the certificate of the server's authority"
      }
      if reason.contains("does not match host name") {
        return ". Try: the name that stands in the server's certificate"
      }
      if reason.contains("server does not support SSL") {
        return ". Try: ?sslmode=disable in the uri, where nobody else is on the way"
      }
      return ""
    }

    private func field(_ field: Int32, of result: OpaquePointer) -> String? {
      PQresultErrorField(result, field).map { String(cString: $0) }
    }

    func plain(_ text: String) -> String {
      ServerMessage.plain(text, hiding: address.password)
    }
  }
#endif
