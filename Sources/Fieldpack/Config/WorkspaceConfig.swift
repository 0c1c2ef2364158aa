public import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The contents of one or more `.scfg` files together.
///
/// Where two entries have one id, the last loaded counts and a diagnostic says so.
public struct WorkspaceConfig: Sendable {
  /// The most stores of a workspace: each of them that is open holds a connection and a thread.
  public static let maximumStores = 1_000

  /// The files in the order they were loaded.
  public private(set) var documents: [ConfigDocument] = []
  public private(set) var stores: [StoreConfig] = []
  /// The forms without errors; ``diagnostics`` says why others are left out.
  public private(set) var forms: [FormConfig] = []
  /// The backend.
  public private(set) var remote: RemoteConfig?
  public private(set) var diagnostics: [ConfigDiagnostic] = []
  /// The folder of the files that belong to all configs together, such as `survey.stores` where
  /// `survey.scfg` is loaded first; `nil` without a config.
  public private(set) var storeFolder: String?
  private var leftOut = 0

  /// Loads files, and of folders every `*.scfg` in the order of their names.
  ///
  /// - Parameter allowing: folders and files that uris may lead to beside each config's folder.
  /// - Throws: `.notFound` for a missing file or a folder without configs, `.invalidData` for text
  ///   that is no config and for more than ``maximumStores``. What is wrong with single entries shows in ``diagnostics``.
  public init(_ paths: [String], allowing: [String] = []) throws(FieldpackError) {
    for path in paths {
      for file in try Self.files(at: path) {
        add(
          try ConfigDocument(contentsOf: file), folder: FileSystem.folder(of: file),
          allowing: allowing)
        guard leftOut == 0 else { throw tooMany(file) }
      }
    }
  }

  /// - Parameter folder: what the uris of `document` are relative to.
  public init(_ document: ConfigDocument, folder: String, allowing: [String] = []) {
    add(document, folder: folder, allowing: allowing)
  }

  private func tooMany(_ file: String) -> FieldpackError {
    FieldpackError(
      .invalidData,
      "the config has more than \(Self.maximumStores) stores, \(leftOut) too many. Try: several "
        + "configs, one workspace each",
      position: FilePosition(file: file))
  }

  /// Loads another config. Stores beyond ``maximumStores`` are left out, with a diagnostic.
  public mutating func add(_ document: ConfigDocument, folder: String, allowing: [String] = []) {
    // Whatever the working folder is later, the same files stay allowed.
    let reading = ConfigReading(
      document: document, folder: FileSystem.resolve(folder).path,
      allowing: allowing.map { FileSystem.resolve($0).path })
    let loaded = reading.loaded()
    documents.append(document)
    storeFolder = storeFolder ?? document.storeFolder(in: folder)
    diagnostics += document.diagnostics + loaded.diagnostics
    let leftOutBefore = leftOut
    for store in loaded.stores { add(store) }
    if leftOut > leftOutBefore {
      diagnostics.append(
        document.diagnostic(
          .error, at: 0,
          "\(leftOut - leftOutBefore) stores beyond \(Self.maximumStores) are left out"
        ))
    }
    for form in loaded.forms { add(form) }
    guard let new = loaded.remote else { return }
    if remote != nil {
      tell(.note, at: new.position, "this 'remote' replaces one loaded before")
    }
    remote = new
  }

  private mutating func add(_ store: StoreConfig) {
    if let index = stores.firstIndex(where: { $0.id == store.id }) {
      let before = stores.remove(at: index)
      tell(
        .warning, at: store.position,
        "store '\(store.id)' replaces the one of the same id"
          + (before.position.map { " at \($0)" } ?? ""))
    }
    guard stores.count < Self.maximumStores else {
      leftOut += 1
      return
    }
    stores.append(store)
  }

  private mutating func add(_ form: FormConfig) {
    if let index = forms.firstIndex(where: { $0.key == form.key }) {
      forms.remove(at: index)
      tell(.warning, at: form.position, "form '\(form.key)' replaces the one of the same key")
    }
    forms.append(form)
  }

  private mutating func tell(
    _ severity: ConfigDiagnostic.Severity, at position: FilePosition?, _ message: String
  ) {
    diagnostics.append(
      ConfigDiagnostic(
        severity, file: position?.file ?? "", line: position?.line ?? 1,
        column: position?.column ?? 1, message))
  }

  /// The config at that path, or those of the folder there, by name.
  package static func files(at path: String) throws(FieldpackError) -> [String] {
    guard FileSystem.isFolder(path) else { return [path] }
    guard let names = FileSystem.names(in: path) else {
      let number = errno
      throw FieldpackError(
        .permission, "cannot list the folder \(path)", position: FilePosition(file: path),
        underlying: FieldpackError.system(number, "list the folder", path))
    }
    let configs = names.filter { $0.hasSuffix(".scfg") && !$0.hasPrefix(".") }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    guard !configs.isEmpty else {
      throw FieldpackError(
        .notFound, "the folder \(path) holds no .scfg file", position: FilePosition(file: path))
    }
    return configs.map { FileSystem.join(path, $0) }
  }
}
