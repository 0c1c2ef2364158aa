import Fieldpack
import FieldpackCore

/// The config that a backend gave last: a file that a ``ConfigService`` reads like its other configs, so
/// that the config is there without a network as well.
///
/// Nothing else lies in its folder, because the uris of a config reach what lies beside it.
struct RemoteConfigFile: Sendable {
  /// The name that SpatialConnect knows it by.
  static let name = "spatialconnect.config.remote.cached"

  private let configs: ConfigService
  private let file: String

  init(in folder: String, for configs: ConfigService) {
    self.configs = configs
    file = FileSystem.join(folder, Self.name)
  }

  /// Adds the kept file to the configs; `false` where there is none.
  func load() async throws(FieldpackError) -> Bool {
    guard try read() != nil else { return false }
    try await adopt()
    return true
  }

  /// Replaces the kept config by another whole one.
  ///
  /// - Throws: `.invalidData` for what is no config; then all stays as it was.
  func replace(_ text: String) async throws(FieldpackError) {
    try write(try ConfigDocument(Array(text.utf8), file: Self.name))
    try await adopt()
  }

  /// Changes one store or form of the kept config, and of the application.
  ///
  /// Backends send a change again where they do not know whether it arrived, so that it is applied
  /// whether the config has the entry or not.
  /// - Returns: the id of the store, or the key of the form.
  /// - Throws: `.invalidData`, `.invalidArgument` for an entry that is none; then all stays as it was.
  func change(_ action: BackendAction, _ payload: String?) async throws(FieldpackError) -> String {
    let kind: ConfigEntryKind
    switch action {
    case .addStore, .updateStore, .removeStore: kind = .store
    case .addForm, .updateForm, .removeForm: kind = .form
    default: throw FieldpackError(.unsupported, "the action \(action) changes no config")
    }
    let entry = try ConfigDocument(Array((payload ?? "").utf8), file: "\(action)").root.content
    let name = try kind.name(of: entry)
    var document = try ConfigDocument(Array("{}".utf8), file: Self.name)
    if let kept = try read() { document = kept }
    let places = kind.places(of: name, in: document)
    if action == .removeStore || action == .removeForm {
      for place in places.reversed() {
        try document.remove(at: [.key(kind.list), .index(place)])
      }
      guard !places.isEmpty else { return name }
    } else {
      let list = document.value(at: [.key(kind.list)])
      if let list, !list.isNull {
        let place = places.last ?? list.elements.count
        try document.set(entry, at: [.key(kind.list), .index(place)])
      } else {
        try document.set(.list([entry]), at: [.key(kind.list)])
      }
      try kind.check(
        name, in: WorkspaceConfig(document, folder: FileSystem.folder(of: file)))
    }
    try write(document)
    try await adopt()
    return name
  }

  private func read() throws(FieldpackError) -> ConfigDocument? {
    do throws(FieldpackError) { return try ConfigDocument(contentsOf: file) } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  private func write(_ document: ConfigDocument) throws(FieldpackError) {
    let folder = FileSystem.folder(of: file)
    do throws(FieldpackError) { try FileSystem.makeFolder(folder, mode: 0o700) } catch {
      throw FieldpackError(
        .cannotCreate, "the folder \(folder) cannot be made", underlying: error)
    }
    try document.write(to: file, overwrite: true)
  }

  /// Reads the configs again, this one with them.
  private func adopt() async throws(FieldpackError) {
    if await configs.has(file) {
      try await configs.reload()
    } else {
      try await configs.addConfig(file)
    }
  }
}
