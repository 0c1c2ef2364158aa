public import Fieldpack
public import FieldpackCore
public import FieldpackField
import FieldpackHTTP

/// Gets the file of a remote store, so that the store opens without its server.
///
///     let download = try StoreDownload(store, in: context)
///     let isNew = try await download.run { print($0.fraction ?? 0) }
///
/// The file lies in the store folder, see `StoreContext.folder`. It takes its name when it is whole,
/// on the disk, and opens as a store of its type. Until then, and after a failure, the file is as it
/// was; what has come so far is in a hidden file beside it, with which the next download of the same
/// address goes on, also after this process was killed. An option `sha256` of the store is the digest
/// that the file must have, in 64 hexadecimal digits; `maxBytes` is the size of the largest file that
/// is accepted, by default 2 GB.
public struct StoreDownload: Sendable {
  /// The store whose file it is.
  public let config: StoreConfig
  /// Whether a file that is there is replaced; else there is no request for it.
  public var replaces = false
  /// How long to wait before an attempt that failed is repeated.
  public var backOff = BackOff(first: .milliseconds(500), limit: .seconds(30))
  /// How many attempts in a row may fail without a byte more, before the download does.
  public var retries = 3
  public var clock = FieldClock.system
  private let registry: StoreRegistry
  private let context: StoreContext
  private let folder: String
  private let name: String
  private let sha256: String?
  private let maximumLength: Int
  /// The version that the store has, where it has that of the file.
  package let version = Locked<HeldVersion?>(nil)

  /// Called when the download begins, at most every 2 s while it runs, and when the file has its
  /// name. What is there never gets less from one call to the next.
  public typealias Report = @Sendable (StoreProgress) -> Void

  /// - Throws: `.configuration` for a store without a remote file, with options that mean nothing, or
  ///   with an id that is kept for forms or positions; `.permission` where the store folder is a link
  ///   that leads elsewhere.
  public init(
    _ config: StoreConfig, registry: StoreRegistry = .standard, in context: StoreContext
  ) throws(FieldpackError) {
    guard config.isRemote, try registry.downloadsFile(config) else {
      throw config.failure(.configuration, "store '\(config.id)' has no file to download")
    }
    guard let path = try context.downloadPath(of: config) else {
      throw config.failure(.configuration, "store '\(config.id)' has no folder to download into")
    }
    self.config = config
    self.registry = registry
    self.context = context
    (folder, name) = FileSystem.split(path)
    sha256 = try Self.digest(config)
    maximumLength = try Self.maximumLength(config)
  }

  private static func digest(_ config: StoreConfig) throws(FieldpackError) -> String? {
    guard let option = config.options?["sha256"], !option.isNull else { return nil }
    guard let text = option.text, text.utf8.count == 64, text.allSatisfy(\.isHexDigit) else {
      throw config.failure(
        .configuration, "the option 'sha256' of store '\(config.id)' is 64 hexadecimal digits")
    }
    return text
  }

  private static func maximumLength(_ config: StoreConfig) throws(FieldpackError) -> Int {
    try config.number("maxBytes", in: 1...Int.max, "a number above 0") ?? 2_000_000_000
  }

  /// The path of the file.
  public var path: String { folder + name }

  /// Where the bytes are until the file is whole.
  private var hidden: String { "\(folder).\(name).part" }

  /// Whether the file is there. One that came from another address than that of the config is not.
  public var isDone: Bool { (try? context.hasDownload(of: config)) == true }

  /// Removes the file, and what is there of a download of it.
  package func removeFile() {
    for path in [path, DownloadOrigin.path(of: path)] { FileSystem.remove(path) }
    // Another process goes on with the download that it runs.
    if PendingFile.removeKept(hidden) { FileSystem.remove(DownloadOrigin.path(of: hidden)) }
  }

  /// Gets the file, in as many attempts as it takes. Cancelling the task stops it.
  ///
  /// An attempt goes on where the last one ended, if the server can.
  /// - Returns: `false` where the file was there, and there was no request.
  /// - Throws: `.unavailable` where the server cannot be reached or breaks off too often, `.notFound`
  ///   and `.permission` as the server says, `.invalidData` for a file that is too long or another
  ///   one than is wanted, what opening the file throws, `.interrupted` when cancelled; `.cannotCreate`
  ///   where the file is of another address and was changed since, and ``replaces`` is `false`.
  @discardableResult
  public func run(_ report: @escaping Report = { _ in }) async throws(FieldpackError) -> Bool {
    guard replaces || !isDone else { return false }
    do throws(FieldpackError) {
      // A file that is there is of another address.
      let overwrite = replaces || FileSystem.size(path) != nil
      try refuseChanged()
      let pending = try PendingFolder(target: folder, overwrite: overwrite)
      let made = try pending.place(for: name)
      let throttle = Throttle(clock, report)
      let new = try await fetch(to: made, keptAs: hidden, throttle) ?? FileVersion()
      try await opened(made).close()
      try refuseChanged()
      try move(made, of: pending, replacing: overwrite, as: new)
      withExtendedLifetime(pending) { throttle.end(FileSystem.size(path) ?? 0) }
      return true
    } catch {
      throw told(error)
    }
  }

  /// Keeps what somebody changed in a file of another address.
  private func refuseChanged() throws(FieldpackError) {
    guard !replaces, FileSystem.size(path) != nil, DownloadOrigin.isChanged(path) else { return }
    throw FieldpackError(
      .cannotCreate, "\(path) was changed here since it was downloaded from another address",
      advice: config.position?.file.map { .fetchAgain(config: $0, store: config.id) })
  }

  /// What is known of the version of the file that is there.
  package var knownVersion: HeldVersion {
    HeldVersion(
      version: DownloadOrigin(config.address, of: path)?.version ?? FileVersion(),
      stamp: DownloadOrigin.stamp(of: path))
  }

  /// Asks once for the file, and puts it in its place if it has other bytes than the last one.
  ///
  /// - Returns: a store of the new file, which nobody else uses; `nil` where there is no new version.
  /// - Throws: as ``run(_:)``; the file is then as it was.
  package func refresh() async throws(FieldpackError) -> (
    store: any Store, version: HeldVersion
  )? {
    let last = version.withLock { $0 }
    var once = self
    once.retries = 0
    do throws(FieldpackError) {
      let pending = try PendingFolder(target: folder, overwrite: true)
      let made = try pending.place(for: name)
      let new = try await once.fetch(to: made, unlike: last?.version, Throttle(clock) { _ in })
      guard let new else { return nil }
      let stamp = DownloadOrigin.stamp(of: path)
      // Another process may have stored a file that the store does not have yet.
      if let last, last.stamp == stamp, try await isThere(made) {
        if new != last.version { keep(new, stamp) }
        version.withLock { $0?.version = new }
        return nil
      }
      let store = try await opened(made)
      let held: HeldVersion
      do throws(FieldpackError) {
        guard !Task.isCancelled else {
          throw FieldpackError(.interrupted, "the download was cancelled")
        }
        // The store has another version than the file until it takes it over.
        version.withLock { $0 = nil }
        held = HeldVersion(
          version: new, stamp: try move(made, of: pending, replacing: true, as: new))
      } catch {
        await store.close()
        throw error
      }
      withExtendedLifetime(pending) {}
      return (store, held)
    } catch {
      throw told(error)
    }
  }

  /// Whether the file that is there has the same bytes.
  private func isThere(_ made: String) async throws(FieldpackError) -> Bool {
    try await SystemThread.run { [path] () throws(FieldpackError) in
      guard FileSystem.size(path) == FileSystem.size(made) else { return false }
      return try ByteInput(path: made).hasSameBytes(as: ByteInput(path: path))
    }
  }

  /// - Returns: `nil` where the server says that the file is still `last`.
  private func fetch(
    to path: String, unlike last: FileVersion? = nil, keptAs hidden: String? = nil,
    _ throttle: Throttle
  ) async throws(FieldpackError) -> FileVersion? {
    if let service = try registry.type(of: config) as? any CopiedStoreType.Type {
      try await service.copy(config, to: path, maximumLength: maximumLength, in: context)
      return FileVersion()
    }
    let client = try context.client()
    let (address, fields) = try config.request()
    let download = try HTTPDownload(
      address, fields: HTTPFields(fields.fields + (last?.fields.fields ?? [])), to: path,
      sha256: sha256, maximumLength: maximumLength, keptAs: hidden)
    var (failures, most) = (0, 0)
    while true {
      do throws(FieldpackError) {
        return FileVersion(try await download.attempt(by: client) { throttle.take($0) })
      } catch {
        if last != nil, case .status(304, _)? = error.httpFailure { return nil }
        let received = await download.partial.length
        failures = received > most ? 1 : failures + 1
        most = max(most, received)
        let isOver = (error.askedPause ?? .zero) > backOff.limit
        guard error.mayPass, failures <= retries, !isOver else { throw error }
        let pause = backOff.pause(after: failures, asked: error.askedPause)
        do {
          try await clock.sleep(for: pause)
        } catch {
          throw FieldpackError(.interrupted, "the download was cancelled", underlying: error)
        }
      }
    }
  }

  /// Opens the file as the store will.
  private func opened(_ path: String) async throws(FieldpackError) -> any Store {
    var local = config
    (local.folder, local.uri) = (FileSystem.folder(of: path), FileSystem.name(of: path))
    local.allowing = []
    var context = context
    context.cache = .private
    do throws(FieldpackError) {
      return try await registry.open(local, in: context)
    } catch {
      guard error.code != .interrupted else { throw error }
      throw FieldpackError(
        error.code, "what the server gave is no \(config.type): \(error.message)",
        advice: error.advice, underlying: error)
    }
  }

  /// - Returns: the stamp of the file.
  @discardableResult
  private func move(
    _ made: String, of pending: PendingFolder, replacing: Bool, as version: FileVersion
  ) throws(FieldpackError) -> String? {
    // Somebody may have opened the file meanwhile.
    try pending.check(name)
    if !DownloadOrigin.mayBe(config.address, of: path) { try DownloadOrigin.forget(of: path) }
    // Another process may replace the file as soon as it has its name.
    let stamp = DownloadOrigin.stamp(of: made)
    let isMoved =
      replacing ? FileSystem.rename(made, path) : FileSystem.renameIfFree(made, to: path)
    guard isMoved else {
      throw FieldpackError(
        .cannotCreate, "cannot create \(path)", position: FilePosition(file: path))
    }
    FileSystem.syncFolder(folder)
    keep(version, stamp)
    return stamp
  }

  /// Keeps where the file came from. Where that fails, the next start asks the server once more.
  private func keep(_ version: FileVersion, _ stamp: String?) {
    try? DownloadOrigin(config.address, version: version).write(of: path, stamp: stamp)
  }
}

extension StoreDownload {
  /// An error in terms of the store and its file.
  private func told(_ error: FieldpackError) -> FieldpackError {
    var error = error
    // The hidden file that could not be written says nothing to users.
    if var position = error.position, let file = position.file, file.hasPrefix(folder + ".") {
      position.file = path
      let message =
        error.code == .full
        ? "\(path): the disk is full; the file was not stored"
        : error.message.replacing(file, with: path)
      error = FieldpackError(
        error.code, message, advice: error.advice, location: error.location, position: position,
        underlying: error.underlying)
    }
    return error.adding(location: .init(store: config.id), position: config.position)
  }
}

extension FieldpackError {
  /// Whether the same request may succeed later.
  fileprivate var mayPass: Bool { code == .unavailable && httpFailure != .untrusted }
}

/// Passes reports on, but not too many.
private final class Throttle: Sendable {
  private static let interval = Duration.seconds(2)
  private let clock: FieldClock
  private let report: StoreDownload.Report
  private let told = Locked<(at: Duration, received: Int)?>(nil)

  init(_ clock: FieldClock, _ report: @escaping StoreDownload.Report) {
    (self.clock, self.report) = (clock, report)
  }

  func take(_ progress: HTTPDownload.Progress) {
    // The end is told when the file has its name.
    guard progress.received != progress.total else { return }
    let now = clock.uptime
    let isDue = told.withLock { told in
      if let told, now - told.at < Self.interval || progress.received < told.received {
        return false
      }
      told = (now, progress.received)
      return true
    }
    if isDue { report(StoreProgress(received: progress.received, total: progress.total)) }
  }

  func end(_ length: Int) { report(StoreProgress(received: length, total: length)) }
}
