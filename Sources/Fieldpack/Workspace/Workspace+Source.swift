public import FieldpackCore
public import FieldpackGeoPackage

/// How a path that a person names is opened.
public struct SourceOptions: Sendable {
  /// Folders that the uris of configs may lead to.
  public var allowing: [String] = []
  /// The only stores of a config to open, `nil` for all. A bare file is one store, always open.
  public var stores: [StoreID]?
  public var registry = StoreRegistry.standard
  /// How a bare file is read, its cache policy included, which configs follow as well.
  public var file = FileStore.Options()
  /// The folder of files that stores download, see ``StoreContext/folder``.
  public var storeFolder: String?
  /// Whether GeoPackages are in WAL mode from their first change until the workspace is closed; off
  /// for one change after which the file is left alone.
  public var usesWAL = true
  /// Lets all triggers of GeoPackages run, see `OpeningProfile.runsTriggers`.
  public var runsTriggers = false
  /// Who edits, see ``StoreContext/editor``.
  public var editor: Editor?
  /// Gets what is opened, imported and asked, but no values.
  public var logger = Logger.silent

  public init() {}

  fileprivate var context: StoreContext {
    var context = StoreContext()
    context.cache = file.cache
    context.usesWAL = usesWAL
    context.runsTriggers = runsTriggers
    context.editor = editor
    context.folder = storeFolder
    context.logger = logger
    return context
  }
}

extension Workspace {
  /// Opens what a person names: a `.scfg`, a folder of them, a GeoPackage, or a readable file.
  ///
  /// - Throws: `.notFound` where there is nothing of that name, else what opening it throws. Stores
  ///   of a config that cannot be opened are failed members.
  public static func open(
    source path: String, options: SourceOptions = SourceOptions()
  ) async throws(FieldpackError) -> Workspace {
    guard let kind = FileSystem.kind(path) else {
      throw FieldpackError(
        .notFound, "\(path) does not exist", position: FilePosition(file: path))
    }
    let holdsConfig =
      kind != .folder && options.file.format == nil ? try isConfig(path) : false
    if kind == .folder || holdsConfig {
      return try await open(
        WorkspaceConfig([path], allowing: options.allowing), only: options.stores,
        registry: options.registry, asked: options.context)
    }
    var profile = OpeningProfile.foreign
    profile.runsTriggers = options.runsTriggers
    profile.editor = options.editor
    profile.shownPath = options.file.name
    return try await open(
      file: path, options: options.file, usesWAL: options.usesWAL, profile: profile,
      logger: options.logger)
  }

  /// A `.scfg`, or JSON whose top object has the members of a config and is not GeoJSON.
  private static func isConfig(_ path: String) throws(FieldpackError) -> Bool {
    switch Format.fileExtension(path) {
    case "scfg": return true
    case "json": break
    default: return false
    }
    let input = try ByteInput(path: path)
    guard input.size <= ConfigDocument.maximumByteCount else { return false }
    guard let document = try? ConfigDocument(contentsOf: path) else {
      return false
    }
    let names = Set(document.root.members.map(\.name))
    return !names.contains("type") && !names.isDisjoint(with: ["stores", "remote", "forms"])
  }
}
