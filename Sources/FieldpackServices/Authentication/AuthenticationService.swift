public import Fieldpack
public import FieldpackCore
public import FieldpackField
public import FieldpackHTTP

/// Who is signed in to the backend of a config, with a token that is kept for the next start.
///
///     let authentication = AuthenticationService(remote)
///     try await authentication.signIn(user: "me@example.org", password: password)
///     let token = try await authentication.token()
///
/// The token is kept in a file of mode 0600 below the state folder of the user; the password is not kept.
/// To start asks nobody for anything, and works offline: whoever was signed in is so again. A token of
/// an Exchange is renewed when less than an hour is left of it, or less than half of the time for which
/// it was given. No error, log or description holds a token or a password.
///
/// Passwords and tokens are sent by https, or within this machine. They are never sent on to where a
/// server leads to.
public actor AuthenticationService: Service, SignedIn {
  public nonisolated let id = ServiceID.authentication
  /// What the config says of the backend.
  public nonisolated let remote: RemoteConfig
  private let givenClient: HTTPClient?
  private let clock: FieldClock
  private let folder: String?
  private let allowsUnencrypted: Bool
  private nonisolated let statuses: Broadcast<AuthenticationStatus>
  private var kept: KeptSignIn?
  /// The file that `kept` is of, or was to be written to: each that is written is another one.
  private var seen: FileIdentity?
  /// The renewal that is going on.
  private var renewal: Task<Result<KeptSignIn, FieldpackError>, Never>?
  /// Counts who signs in and out: what was asked for before then changes nothing any more.
  private var turn = 0
  /// No renewal is tried before, where the token still holds.
  private var nextRenewal = Duration.zero
  /// Whether somebody is signed in.
  public private(set) var status: AuthenticationStatus

  /// - Parameters:
  ///   - remote: the backend, and how users sign in to it.
  ///   - client: sends the requests; by default one of its own.
  ///   - folder: where tokens are kept, by default `$XDG_STATE_HOME/fieldpack/tokens`.
  ///   - allowsUnencrypted: whether another machine may be asked by http. Then others on the way can
  ///     read the password.
  public init(
    _ remote: RemoteConfig, client: HTTPClient? = nil, clock: FieldClock = .system,
    folder: String? = nil, allowsUnencrypted: Bool = false
  ) {
    (self.remote, givenClient, self.clock) = (remote, client, clock)
    (self.folder, self.allowsUnencrypted) = (folder, allowsUnencrypted)
    status = remote.authentication == .none ? .authenticated : .notAuthenticated
    statuses = Broadcast(capacity: 1, present: status)
  }

  deinit { renewal?.cancel() }

  // MARK: Looking

  /// The status: now, and whenever it changes.
  public nonisolated var loginStatus: AsyncStream<AuthenticationStatus> {
    statuses.subscribe().stream
  }

  public var user: String? { kept?.user }

  /// Until when the token holds; `nil` where nobody is signed in, and where the backend does not tell.
  public var expiry: Instant? { kept?.expiry }

  private var needsSignIn: Bool { remote.authentication != .none }

  private nonisolated func address() throws(FieldpackError) -> BackendAddress {
    try BackendAddress(remote)
  }

  /// - Throws: `.permission` where passwords would be sent without encryption and may not.
  package nonisolated func checkEncryption() throws(FieldpackError) {
    try address().checkEncryption(allowsUnencrypted: allowsUnencrypted)
  }

  private func file() throws(FieldpackError) -> TokenFile {
    try TokenFile(of: address(), remote.authentication, in: folder)
  }

  private func requests() throws(FieldpackError) -> TokenRequests {
    try checkEncryption()
    let client = if let givenClient { givenClient } else { try HTTPClient() }
    return TokenRequests(address: try address(), method: remote.authentication, client: client)
  }

  // MARK: Coming and going

  /// Reads who was signed in.
  ///
  /// - Throws: `.permission` where others may have read or written the file of the token,
  ///   `.invalidData` where it holds something else, `.invalidArgument` for an address that cannot be
  ///   asked.
  public func start() throws(FieldpackError) {
    guard needsSignIn else { return }
    try adopt(load(file()))
  }

  public func pause() {}

  public func resume() {}

  public func stop() {
    endTurn()
    guard needsSignIn else { return }
    kept = nil
    tell(.notAuthenticated)
  }

  /// Signs in, and keeps the token. Where the backend needs no user, nothing is done.
  ///
  /// - Throws: `.permission` where the backend refuses the user, who is then signed out, and where the
  ///   password would be sent without encryption; `.unavailable` where the backend does not answer;
  ///   `.invalidData` where it answers something else.
  public func signIn(user: String, password: String) async throws(FieldpackError) {
    guard needsSignIn else { return }
    let requests = try requests()
    let turn = endTurn()
    let answer: TokenAnswer
    do throws(FieldpackError) {
      answer = try await requests.signIn(user, password, at: clock.now)
    } catch {
      if error.isRefusedSignIn, turn == self.turn {
        try forget()
        tell(.failed)
      }
      throw error
    }
    guard turn == self.turn else { throw signedOut }
    let new = KeptSignIn(user: user, answer, at: clock.now)
    try save(new)
    adopt(new)
  }

  /// Signs out: the token is forgotten here and in its file.
  ///
  /// - Throws: `.permission` and others where the file cannot be removed. The token is not used any more
  ///   by this service nevertheless.
  public func signOut() throws(FieldpackError) {
    guard needsSignIn else { return }
    endTurn()
    tell(.notAuthenticated)
    try forget()
  }

  @discardableResult
  private func endTurn() -> Int {
    turn += 1
    renewal?.cancel()
    renewal = nil
    nextRenewal = .zero
    return turn
  }

  private func forget() throws(FieldpackError) {
    kept = nil
    try file().remove()
  }

  private func adopt(_ signIn: KeptSignIn?) {
    kept = signIn
    tell(signIn.map(isUsable) == true ? .authenticated : .notAuthenticated)
  }

  /// Whether the token holds, or can be renewed.
  private func isUsable(_ signIn: KeptSignIn) -> Bool {
    signIn.holds(after: clock.now) || canRenew(signIn)
  }

  private func canRenew(_ signIn: KeptSignIn) -> Bool {
    if case .exchange = remote.authentication { signIn.refreshToken != nil } else { false }
  }

  private func tell(_ status: AuthenticationStatus) {
    guard status != self.status else { return }
    self.status = status
    statuses.send(status)
  }

  // MARK: Tokens

  public func token() async throws(FieldpackError) -> String? {
    guard needsSignIn else { return nil }
    let present = try present()
    let holds = present.holds(after: clock.now)
    if present.isFresh(at: clock.now) || holds && clock.uptime < nextRenewal {
      return present.token.text
    }
    guard canRenew(present) else {
      if holds { return present.token.text }
      tell(.notAuthenticated)
      throw ended
    }
    do throws(FieldpackError) { return try await renewed(present).token.text } catch {
      // Until its end the token does without the network.
      guard holds, !error.isRefusedSignIn, kept == present else { throw error }
      return present.token.text
    }
  }

  /// Who is signed in now: another program may have signed in or out.
  private func present() throws(FieldpackError) -> KeptSignIn {
    try checkEncryption()
    let file = try file()
    let isSeen = seen != nil && FileIdentity(file.path) == seen
    if kept == nil || !isSeen { adopt(try load(file)) }
    guard let kept else { throw notSignedIn }
    return kept
  }

  private func load(_ file: TokenFile) throws(FieldpackError) -> KeptSignIn? {
    // Looked at first: a file that takes its place meanwhile is another one the next time.
    seen = FileIdentity(file.path)
    return try file.load()
  }

  private func save(_ signIn: KeptSignIn) throws(FieldpackError) {
    let file = try file()
    try file.save(signIn)
    seen = FileIdentity(file.path)
  }

  /// Asks for a new token, once for all who want one at the same time.
  private func renewed(_ old: KeptSignIn) async throws(FieldpackError) -> KeptSignIn {
    if renewal == nil {
      let turn = turn
      renewal = Task { await renew(old, turn) }
    }
    guard let renewal else { throw signedOut }
    return try await renewal.value.get()
  }

  private func renew(_ old: KeptSignIn, _ turn: Int) async -> Result<KeptSignIn, FieldpackError> {
    let result: Result<KeptSignIn, FieldpackError>
    do throws(FieldpackError) {
      result = .success(try await exchange(old, turn))
    } catch {
      result = .failure(error)
    }
    if turn == self.turn {
      renewal = nil
      if case .failure = result { nextRenewal = clock.uptime + .seconds(60) }
    }
    return result
  }

  private func exchange(
    _ old: KeptSignIn, _ turn: Int
  ) async throws(FieldpackError) -> KeptSignIn {
    if let other = try another(than: old) { return other }
    guard case .exchange(let client) = remote.authentication, let refreshToken = old.refreshToken
    else { throw ended }
    let answer: TokenAnswer
    do throws(FieldpackError) {
      answer = try await requests().renew(refreshToken, of: client)
    } catch {
      guard turn == self.turn else { throw signedOut }
      guard error.isRefusedSignIn else { throw error }
      // A token for renewal may be good for one use only, which another program has made.
      if let other = try another(than: old) { return other }
      tell(.notAuthenticated)
      try forget()
      throw FieldpackError(
        error.code, error.message, advice: advice, underlying: error.underlying)
    }
    guard turn == self.turn else { throw signedOut }
    if let other = try another(than: old) { return other }
    var new = KeptSignIn(user: old.user, answer, at: clock.now)
    new.refreshToken = new.refreshToken ?? refreshToken
    adopt(new)
    // The token counts where it cannot be kept, too: the old one may be good for nothing.
    try? save(new)
    return new
  }

  /// The sign-in in the file where it is a later one; `nil` where it is the same, or could not be kept.
  ///
  /// - Throws: `.permission` where another program has signed out.
  private func another(than old: KeptSignIn) throws(FieldpackError) -> KeptSignIn? {
    let stored = try load(file())
    if let stored, stored == old || stored.received < old.received { return nil }
    adopt(stored)
    guard let stored else { throw notSignedIn }
    return stored
  }

  // MARK: Errors

  private var advice: FieldpackError.Advice { .signIn(config: remote.position?.file) }

  private func refusal(_ message: String) -> FieldpackError {
    FieldpackError(.permission, message, advice: advice)
  }

  private var host: String { (try? address().host) ?? "the backend" }
  private var notSignedIn: FieldpackError { refusal("nobody is signed in to \(host)") }
  private var signedOut: FieldpackError { refusal("signed out of \(host) meanwhile") }
  private var ended: FieldpackError { refusal("the time of the sign-in to \(host) is over") }
}

extension AuthenticationService: TokenRenewing {
  package func token(after refused: String) async throws(FieldpackError) -> String? {
    guard needsSignIn else { return nil }
    let present = try present()
    guard present.token.text == refused else { return present.token.text }
    guard canRenew(present) else { throw refusal("\(host) takes the token no longer") }
    return try await renewed(present).token.text
  }
}

extension KeptSignIn {
  fileprivate init(user: String, _ answer: TokenAnswer, at now: Instant) {
    self.init(
      user: user, token: answer.token, refreshToken: answer.refreshToken, received: now,
      expiry: answer.lifetime.map { now.advanced(by: $0) })
  }
}
