import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

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
  /// Opens a source, runs `body` and closes it, whatever happens.
  ///
  /// - Parameters:
  ///   - skipsErrors: whether features that cannot be read are passed over; `nil` for commands that
  ///     have no option for it.
  ///   - usesWAL: whether GeoPackages are in WAL mode from their first change on.
  func withSource<R>(
    _ name: String, _ arguments: SourceArguments, skipsErrors: Bool? = nil,
    profile: OpeningProfile = .foreign, usesWAL: Bool = true,
    _ body: (OpenedSource) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    var options = try arguments.options()
    options.file.importing.skipsErrors = skipsErrors ?? false
    options.usesWAL = usesWAL
    options.runsTriggers = profile.runsTriggers
    options.editor = profile.editor
    options.logger = logger
    let source: OpenedSource
    do throws(FieldpackError) { source = try await open(name, options) } catch {
      var error = error
      if skipsErrors == nil, error.advice == .skipErrors { error.advice = nil }
      throw error
    }
    return try await closing(source.workspace) {
      () async throws(FieldpackError) in try await body(source)
    }
  }

  /// Opens a GeoPackage, runs `body` and closes it, whatever happens.
  func withGeoPackage<R>(
    _ path: String, _ profile: OpeningProfile = .foreign, usesWAL: Bool = true,
    _ body: (GeoPackageStore) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let store = try await GeoPackageStore(
      path: path, id: FileImport.storeID(of: path), profile: profile, usesWAL: usesWAL,
      logger: logger)
    return try await closing(store) { () async throws(FieldpackError) in
      try await body(store)
    }
  }

  /// Opens a GeoPackage, which is made where there is none, runs `body` and closes it.
  ///
  /// A file that was made for `body` goes again where `body` fails before anything is in it.
  func withNewGeoPackage<R>(
    _ path: String, _ profile: OpeningProfile = .foreign,
    _ body: (GeoPackageStore) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let isNew = !FileSystem.exists(path)
    try createGeoPackage(path)
    var isEmpty = isNew
    do throws(FieldpackError) {
      return try await withGeoPackage(path, profile) { (store) throws(FieldpackError) in
        do throws(FieldpackError) { return try await body(store) } catch {
          if isNew { isEmpty = (try? await store.schemas().isEmpty) ?? false }
          throw error
        }
      }
    } catch {
      if isEmpty { FileSystem.remove(path) }
      throw error
    }
  }

  /// Creates the GeoPackage where there is none.
  func createGeoPackage(_ path: String) throws(FieldpackError) {
    guard !FileSystem.exists(path) else { return }
    let writer = try GeoPackageBulkWriter(
      creating: path, store: FileImport.storeID(of: path), logger: logger)
    _ = try writer.commit()
    for note in writer.notes { console.note(note) }
  }

  private func open(
    _ name: String, _ options: SourceOptions
  ) async throws(FieldpackError) -> OpenedSource {
    var options = options
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
    folder = try FileSystem.makeTemporaryFolder()
    path = "\(folder)/\(Self.name)"
    try Self.spool(to: path)
  }

  deinit { FileSystem.removeTree(folder) }

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
