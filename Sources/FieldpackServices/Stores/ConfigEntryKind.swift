import Fieldpack
import FieldpackCore

/// What a config has a list of.
enum ConfigEntryKind {
  case store
  case form

  /// The member of the config that holds them.
  var list: String { self == .store ? "stores" : "forms" }
  var title: String { self == .store ? "store" : "form" }
  /// The member of an entry that names it.
  private var key: String { self == .store ? "id" : "form_key" }

  /// - Throws: `.invalidArgument` where the entry has no name.
  func name(of entry: ConfigValue.Content) throws(FieldpackError) -> String {
    if case .object(let members) = entry,
      let name = members.last(where: { $0.name == key }).flatMap({ text($0.value) }), !name.isEmpty
    {
      return name
    }
    throw FieldpackError(.invalidArgument, "a \(title) is an object with a member '\(key)'")
  }

  private func text(_ value: ConfigValue) -> String? {
    switch value.content {
    case .text(let text): text
    case .number(let digits): digits
    default: nil
    }
  }

  /// Where entries of that name stand in the list.
  func places(of name: String, in document: ConfigDocument) -> [Int] {
    let entries = document.value(at: [.key(list)])?.elements ?? []
    return entries.indices.filter { entries[$0][key].flatMap(text) == name }
  }

  /// - Throws: `.invalidArgument` where the config has the entry only with errors.
  func check(_ name: String, in config: WorkspaceConfig) throws(FieldpackError) {
    let position =
      switch self {
      case .store: config.stores.first { $0.id.rawValue == name }?.position
      case .form: config.forms.first { $0.key == name }?.position
      }
    let errors = config.diagnostics.filter { $0.severity == .error }
    if self == .form, position != nil { return }
    let own = errors.first { $0.message.contains("'\(name)'") }
    guard own != nil || position == nil else { return }
    throw FieldpackError(
      .invalidArgument,
      (own ?? errors.last)?.message ?? "\(title) '\(name)' cannot be read back from its config")
  }

  func unknown(_ name: String) -> FieldpackError {
    FieldpackError(.notFound, "no config has a \(title) '\(name)'")
  }
}

extension StoreConfig {
  /// Whether both describe the same store, wherever in their configs.
  func saysSame(as other: StoreConfig) -> Bool {
    func text(_ value: ConfigValue?) -> String { value?.content.json ?? "" }
    return id == other.id && name == other.name && typeIdentifier == other.typeIdentifier
      && uri == other.uri && defaultLayers == other.defaultLayers && folder == other.folder
      && allowing == other.allowing && storeFolder == other.storeFolder
      && text(style) == text(other.style) && text(options) == text(other.options)
  }
}
