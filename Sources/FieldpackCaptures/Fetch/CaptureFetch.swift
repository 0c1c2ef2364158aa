public import FieldpackCore
public import FieldpackField
import FieldpackGeoPackage
public import FieldpackHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Gets captures from a server of Fieldpack.
///
///     let fetch = try CaptureFetch(from: "http://127.0.0.1:8085/")
///     let folder = try await fetch.run("338d2c23…", to: "captures")
///
/// The files have the digests that the server states of them. A run that was broken off, or killed, leaves a
/// hidden folder where the next one goes on.
public struct CaptureFetch: Sendable {
  public struct Settings: Sendable {
    /// Further fields of each request, such as `Authorization`.
    public var fields: HTTPFields = [:]
    /// How many times in a row a file may be broken off without any new bytes.
    public var attempts = 4
    public var backOff = BackOff(first: .milliseconds(500), limit: .seconds(30))
    public var http = HTTPConfiguration()

    public init() {}
  }

  private let address: String
  private let settings: Settings
  private let client: HTTPClient
  private let clock: FieldClock

  /// - Parameter address: of the server's landing page.
  /// - Throws: `.invalidArgument` for what is no address of http or https.
  public init(
    from address: String, settings: Settings = Settings(), clock: FieldClock = .system
  ) throws(FieldpackError) {
    _ = try HTTPAddress(address)
    self.address = address.hasSuffix("/") ? address : address + "/"
    self.settings = settings
    client = try HTTPClient(settings.http)
    self.clock = clock
  }

  /// Writes a capture as a folder of its files, named by its token.
  ///
  /// - Parameters:
  ///   - token: the token, or the key tuple, of the capture.
  ///   - root: the folder to write to, created where it is missing.
  ///   - report: called with the names of files, and how many bytes of them have come.
  /// - Returns: the path of the capture's folder.
  /// - Throws: `.cannotCreate` where there is such a folder, `.notFound` where the server has no such capture,
  ///   `.invalidData` for another file than the server says, `.unavailable`, `.full`.
  public func run(
    _ token: String, to root: String,
    report: @escaping @Sendable (_ name: String, _ received: Int) -> Void = { _, _ in }
  ) async throws(FieldpackError) -> String {
    let capture = try await description(of: token)
    let target = "\(root)/\(capture.info.token)"
    guard !SafeFolder.exists(target) else {
      throw FieldpackError(
        .cannotCreate, "\(target) exists already", position: FilePosition(file: target))
    }
    guard mkdir(root, 0o755) == 0 || errno == EEXIST else { throw .system(errno, "create", root) }
    let making = Self.folder(of: capture.info.token)
    guard mkdir("\(root)/\(making)", 0o755) == 0 || errno == EEXIST else {
      throw .system(errno, "create", "\(root)/\(making)")
    }
    let folder = try SafeFolder(path: root).folder(making)
    for file in capture.files {
      try await fetch(file, of: capture.info.token, to: folder) { report(file.name, $0) }
    }
    try folder.replace(capture.names.geodata, Array(capture.geodata.text.utf8))
    try folder.replace(CaptureReading.infoFile, Array(capture.document.text.utf8))
    try? folder.sync()
    try SafeFolder(path: root).complete(making, as: capture.info.token)
    return target
  }

  /// Stores a capture in a GeoPackage, as an import of its folder does.
  ///
  /// - Parameter file: created where it is missing.
  /// - Returns: what became of the capture. Where the file had it, it gets the files that it lacked.
  /// - Throws: as ``run(_:to:report:)``, and what importing throws.
  public func run(
    _ token: String, into file: String, id: StoreID, by importing: CaptureImport = CaptureImport(),
    report: @escaping @Sendable (_ name: String, _ received: Int) -> Void = { _, _ in }
  ) async throws(FieldpackError) -> CaptureImport.Report {
    let root = file + "-fetch"
    var folder = "\(root)/\(token)"
    // A run that was killed may have left the whole folder.
    if !FileName.isSound(token) || !SafeFolder.exists(folder) {
      folder = try await run(token, to: root, report: report)
    }
    let result = try await importing.run([folder], into: file, id: id)
    if result.refused.isEmpty { Self.remove(folder, in: root) }
    return result
  }

  private static func remove(_ path: String, in root: String) {
    let name = FileSystem.split(path).name
    guard let around = try? SafeFolder(path: root), let folder = try? around.folder(name) else {
      return
    }
    for name in (try? folder.allNames()) ?? [] { folder.discard(name) }
    try? around.removeFolder(name)
    rmdir(root)
  }

  private static func folder(of token: String) -> String { ".fetch-\(token)" }

  // MARK: What the server says

  private struct Description {
    var info: CaptureInfo
    /// `capture-info.json` and the geo-data, as they came.
    var document: JSONValue
    var geodata: JSONValue
    var names: CaptureFileNames
    var files: [File]
  }

  private struct File {
    var role: String
    var name: String
    var sha256: String
  }

  private func url(_ token: String, _ part: String = "") -> String {
    "\(address)captures/\(PercentText.encode(token))\(part)"
  }

  private func description(of token: String) async throws(FieldpackError) -> Description {
    let url = url(token)
    let host = try HTTPAddress(url).host
    let json = try CaptureFolder.document(try await bytes(url, host), of: "the answer of \(host)")
    guard let document = json["info"], let geodata = json["geodata"],
      case .array(let files)? = json["files"]
    else {
      throw FieldpackError(.invalidData, "the answer of \(host) describes no capture")
    }
    let reading = try CaptureReading(info: document, file: CaptureReading.infoFile, stem: "") {
      (_) throws(FieldpackError) in geodata
    }
    let names = try CaptureFileNames(reading.info)
    return Description(
      info: reading.info, document: document, geodata: geodata, names: names,
      files: files.compactMap { file in
        let role = file["role"]?.string.flatMap(CaptureRole.init)
        guard let role, let sha256 = file["sha256"]?.string else { return nil }
        return File(
          role: role.rawValue, name: role == .media ? names.media : names.thumbnail, sha256: sha256)
      })
  }

  private func bytes(_ url: String, _ host: String) async throws(FieldpackError) -> [UInt8] {
    let request = HTTPRequest(
      .get, url, fields: settings.fields, maximumLength: CaptureFolder.Limits.geodata)
    var failures = 0
    while true {
      do throws(FieldpackError) {
        return try await client.send(request).checked(host, at: clock.now).body
      } catch {
        failures += 1
        try await wait(after: error, failures)
      }
    }
  }

  // MARK: Files

  private func fetch(
    _ file: File, of token: String, to folder: SafeFolder,
    _ report: @escaping @Sendable (Int) -> Void
  ) async throws(FieldpackError) {
    // A file that is whole has its final name.
    guard !folder.has(file.name) else { return }
    let download = try HTTPDownload(
      url(token, "/\(file.role)"), fields: settings.fields, to: "\(folder.path)/\(file.name)",
      sha256: file.sha256, maximumLength: CaptureFolder.Limits.media,
      keptAs: "\(folder.path)/.\(file.role).part")
    var most = 0
    var failures = 0
    while true {
      do throws(FieldpackError) {
        _ = try await download.attempt(by: client) { report($0.received) }
        return
      } catch {
        let received = await download.partial.length
        failures = received > most ? 1 : failures + 1
        most = max(most, received)
        try await wait(after: error, failures)
      }
    }
  }

  /// Waits where what has failed may go well later; else throws it.
  private func wait(
    after error: FieldpackError, _ failures: Int
  ) async throws(FieldpackError) {
    guard error.code == .unavailable, failures < settings.attempts else { throw error }
    let pause = settings.backOff.pause(after: failures, asked: error.askedPause)
    do {
      try await clock.sleep(for: pause)
    } catch {
      throw FieldpackError(.interrupted, "the download was cancelled", underlying: error)
    }
  }
}
