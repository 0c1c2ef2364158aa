import FieldpackCore

/// Reads stores, forms and the backend out of a document, of whichever generation.
struct ConfigReading {
  struct Loaded {
    var stores: [StoreConfig] = []
    var forms: [FormConfig] = []
    var remote: RemoteConfig?
    var diagnostics: [ConfigDiagnostic] = []
  }

  let document: ConfigDocument
  let folder: String
  let allowing: [String]
  private var found = Loaded()

  init(document: ConfigDocument, folder: String, allowing: [String]) {
    self.document = document
    self.folder = folder
    self.allowing = allowing
  }

  func loaded() -> Loaded {
    var copy = self
    copy.read()
    return copy.found
  }

  private mutating func read() {
    let root = document.root
    for member in root.members {
      switch member.name {
      case "stores", "forms", "remote": break
      case "layers":
        tell(.note, at: member.offset, "'layers', the forms of a later backend, is kept, not used")
      default: tellUnknown(member)
      }
    }
    for entry in list("stores", of: root) where isObject(entry, "a store") { readStore(entry) }
    for entry in list("forms", of: root) where isObject(entry, "a form") { readForm(entry) }
    readRemote(root["remote"])
  }

  mutating func tell(
    _ severity: ConfigDiagnostic.Severity, at offset: Int, _ message: String
  ) {
    found.diagnostics.append(document.diagnostic(severity, at: offset, message))
  }

  /// How much has been told so far.
  var toldCount: Int { found.diagnostics.count }

  /// Whether an error has been told after so much.
  func hasErrors(since count: Int) -> Bool {
    found.diagnostics[count...].contains { $0.severity == .error }
  }

  mutating func tellUnknown(_ member: ConfigMember) {
    tell(.warning, at: member.offset, "unknown key '\(member.name)', kept and not used")
  }

  /// The elements of an array that may be null or absent.
  mutating func list(_ name: String, of value: ConfigValue) -> [ConfigValue] {
    guard let list = value[name], !list.isNull else { return [] }
    guard case .array(let elements) = list.content else {
      tell(.error, at: list.range.lowerBound, "'\(name)' is an array, not \(list.kind)")
      return []
    }
    return elements
  }

  private mutating func isObject(_ value: ConfigValue, _ what: String) -> Bool {
    if case .object = value.content { return true }
    tell(
      value.isNull ? .note : .error, at: value.range.lowerBound,
      "\(what) is an object, not \(value.kind): left out")
    return false
  }

  /// A text that may be null or absent; a number is taken by its digits.
  mutating func text(_ name: String, of value: ConfigValue) -> String? {
    guard let member = value[name], !member.isNull else { return nil }
    switch member.content {
    case .text(let text): return text
    case .number(let digits):
      if name != "version" {
        tell(.note, at: member.range.lowerBound, "'\(name)' is a text, read as \"\(digits)\"")
      }
      return digits
    default:
      tell(.error, at: member.range.lowerBound, "'\(name)' is a text, not \(member.kind)")
      return nil
    }
  }

  mutating func add(_ store: StoreConfig) { found.stores.append(store) }
  mutating func add(_ form: FormConfig) { found.forms.append(form) }
  mutating func add(_ remote: RemoteConfig) { found.remote = remote }
}
