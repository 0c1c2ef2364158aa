import Fieldpack
import FieldpackCore
import FoundationEssentials

/// A source that is open, with what has to go when it is closed.
struct OpenedSource {
  let workspace: Workspace
  /// What the user calls it.
  let name: String
  /// Where standard input lies meanwhile.
  fileprivate let spool: SpooledInput?

  /// The source with another workspace that is made of it.
  func with(_ workspace: Workspace) -> OpenedSource {
    OpenedSource(workspace: workspace, name: name, spool: spool)
  }
}

extension Invocation {
  /// Opens the source that the command names, runs `body` and closes it, whatever happens.
  ///
  /// - Parameters:
  ///   - stores: the only stores to open, `nil` for all.
  ///   - skipsErrors: whether features that cannot be read are passed over.
  ///   - usesWAL: whether GeoPackages are in WAL mode from their first change on.
  func withSource(
    only stores: [StoreID]? = nil, skipsErrors: Bool = false, usesWAL: Bool = true,
    _ body: (OpenedSource) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    try await withSource(
      arguments[SourceArguments.source], only: stores, skipsErrors: skipsErrors, usesWAL: usesWAL,
      body)
  }

  /// The same with the source of that name.
  func withSource(
    _ name: String, only stores: [StoreID]? = nil, skipsErrors: Bool = false,
    usesWAL: Bool = true,
    _ body: (OpenedSource) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    let source = try await openSource(
      name, only: stores, skipsErrors: skipsErrors, usesWAL: usesWAL)
    do throws(FieldpackError) {
      let status = try await body(source)
      await source.workspace.close()
      return status
    } catch {
      await source.workspace.close()
      throw error
    }
  }

  private func openSource(
    _ name: String, only stores: [StoreID]?, skipsErrors: Bool, usesWAL: Bool
  ) async throws(FieldpackError) -> OpenedSource {
    var options = try SourceArguments.options(arguments)
    options.stores = stores
    options.file.importing.skipsErrors = skipsErrors
    options.usesWAL = usesWAL
    options.runsTriggers = arguments[WriteArguments.allowTriggers]
    options.logger = logger
    let display = Locked<ProgressDisplay?>(nil)
    defer { display.withLock { $0?.finish() } }
    let console = console
    options.file.importing.progress = { progress in
      let bar = display.withLock { display in
        if display == nil {
          display = ProgressDisplay(
            "reading \(name)", total: progress.bytesInAll, unit: .bytes, console: console)
        }
        return display
      }
      bar?.update(progress.bytesRead)
    }
    let spool = name == "-" ? try SpooledInput() : nil
    if spool != nil { options.file.name = SpooledInput.name }
    do throws(FieldpackError) {
      let workspace = try await Workspace.open(source: spool?.path ?? name, options: options)
      let open = workspace.members.count { $0.store != nil }
      logger.debug(
        "source is open",
        [
          "store_count": .integer(Int64(workspace.members.count)),
          "open_store_count": .integer(Int64(open)),
        ])
      return OpenedSource(
        workspace: workspace, name: spool == nil ? name : SpooledInput.name, spool: spool)
    } catch {
      var error = error
      // Here `--format` is what is written.
      if error.advice == .nameFormat(of: .file) { error.advice = .nameFormat(of: .source) }
      throw error
    }
  }
}

/// Standard input as a file of its own, since stores are files; goes with the value.
final class SpooledInput: Sendable {
  static let name = "stdin"
  private let folder: String
  let path: String

  init() throws(FieldpackError) {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("fieldpack-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw FieldpackError(
        .cannotCreate, "cannot create the temporary folder \(url.path)", underlying: error)
    }
    folder = url.path
    path = url.appendingPathComponent(Self.name).path
    try Self.spool(to: path)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private static func spool(to path: String) throws(FieldpackError) {
    let input = try ByteInput(spooling: 0, name: name) { (_) throws(FieldpackError) in
      try checkCancellation()
    }
    let output = try ByteOutput(replacing: path, overwrite: false)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try input.read(into: buffer)
      if count == 0 { break }
      output.buffer.append(contentsOf: buffer[..<count])
      try output.flush()
    }
    try output.finish()
  }
}
