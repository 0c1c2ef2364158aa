import Fieldpack
import FieldpackCore
import FieldpackServices

extension FieldpackTool {
  static var fetchCommand: Command {
    Command(
      "fetch", abstract: "Download the files of a config's remote stores.",
      discussion: """
        A store whose uri leads to a file on a server is opened from that file's copy in the \
        store folder: survey.stores beside survey.scfg. A copy that is there is kept, and its \
        server is not asked; --again gets it anew, and the old copy stays until the new one is \
        whole and opens. A download that breaks off is tried again three times, and goes on \
        where it ended, also at the next start of the command. Where the uri of a store was \
        changed, its file is downloaded again; one that was changed here stays until --again. \
        Stores that ask a server at each query, such as wfs, have no file.

        A config may name any host. Where a server on the internet leads to a private address, \
        it is not followed, unless --allow-host names the host.

        The status is 2 where some files are there and others are not; where none is there, it \
        is that of the first error.
        """,
      examples: [
        "fieldpack fetch survey.scfg", "fieldpack fetch survey.scfg --store field --again",
      ],
      family: positionsFamily, body: FetchCommand.self)
  }
}

/// `fieldpack fetch`.
private struct FetchCommand: CommandBody {
  struct Options: OptionGroup {
    let source: ServiceArguments
    let stores: [StoreID]
    let replaces: Bool

    init(_ reader: inout OptionReader) {
      source = reader.group()
      stores = reader.values(
        "store", .text("id", completion: .store), help: "Only this store; may be repeated."
      ).map { StoreID($0) }
      replaces = reader.flag("again", help: "Download files that are there, too.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let config = try WorkspaceConfig([options.source.config], allowing: options.source.allowsPaths)
    for diagnostic in config.diagnostics where diagnostic.severity == .error {
      invocation.console.note(diagnostic.description)
    }
    let context = options.source.context(invocation.logger)
    var files: [FetchedFile] = []
    for store in try stores(of: config) {
      files.append(try await fetch(store, context))
    }
    if invocation.isJSON {
      try invocation.print([
        "source": .text(options.source.config), "stores": .array(files.map(\.document)),
      ])
    } else {
      try show(files)
    }
    guard let error = files.lazy.compactMap(\.error).first else { return ExitStatus.success }
    return files.contains { $0.error == nil } ? ExitStatus.skippedFeatures : error.code.exitStatus
  }

  /// The stores that are asked for; without a name all that have a file to download.
  private func stores(of config: WorkspaceConfig) throws(FieldpackError) -> [StoreConfig] {
    for id in options.stores where !config.stores.contains(where: { $0.id == id }) {
      let known = config.stores.map(\.id.rawValue).joined(separator: ", ")
      throw FieldpackError(
        .notFound,
        "\(options.source.config) has no store '\(id)' (it has: \(known.isEmpty ? "none" : known))")
    }
    guard options.stores.isEmpty else {
      return config.stores.filter { options.stores.contains($0.id) }
    }
    return config.stores.filter { store in
      store.isRemote && (try? StoreRegistry.standard.downloadsFile(store)) != false
    }
  }

  private func fetch(
    _ store: StoreConfig, _ context: StoreContext
  ) async throws(FieldpackError) -> FetchedFile {
    var file = FetchedFile(store: store)
    let display = Locked<ProgressDisplay?>(nil)
    defer { display.withLock { $0?.finish() } }
    do throws(FieldpackError) {
      var download = try StoreDownload(store, in: context)
      download.replaces = options.replaces
      file.path = Self.shown(download.path)
      let console = invocation.console
      file.isNew = try await download.run { progress in
        let bar = display.withLock { display in
          if display == nil {
            display = ProgressDisplay(
              "fetching \(store.id)", total: progress.total, unit: .bytes, console: console)
          }
          return display
        }
        bar?.update(progress.received)
      }
      file.size = FileSystem.size(download.path)
    } catch {
      guard error.code != .interrupted else { throw error }
      file.error = error
    }
    return file
  }

  /// The path as a person would type it here.
  private static func shown(_ path: String) -> String {
    let here = FileSystem.absolute(".") + "/"
    return path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
  }

  private func show(_ files: [FetchedFile]) throws(FieldpackError) {
    if files.isEmpty {
      try invocation.print("no store has a file to download\n")
    }
    for file in files {
      let size = file.size.map { ", \(ProgressDisplay.amount($0))" } ?? ""
      let path = file.error == nil ? file.path.map { " (\($0)\(size))" } ?? "" : ""
      let state = file.state.replacing("_", with: " ")
      try invocation.print(
        DisplayText.lines("\(file.store.id): \(state)\(path)", file.error?.text))
    }
  }
}

/// What became of the file of a store.
private struct FetchedFile {
  let store: StoreConfig
  var path: String?
  var size: Int?
  var isNew = false
  var error: FieldpackError?

  /// In the words of JSON.
  var state: String {
    if error != nil { return "failed" }
    return isNew ? "downloaded" : "already_there"
  }

  var document: JSONValue {
    [
      "store": .text(store.id.rawValue), "uri": .text(store.shownURI), "state": .text(state),
      "output": JSONValue(error == nil ? path : nil), "size_bytes": JSONValue(size),
      "error": error.map { JSONValue(reason: $0) } ?? .null,
    ]
  }
}
