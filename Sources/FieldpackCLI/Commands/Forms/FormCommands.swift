import Fieldpack
import FieldpackCore
import FieldpackServices

extension FieldpackTool {
  static var formCommand: Command {
    Command(
      "form", abstract: "List and show the forms of a config, and fill them in.",
      discussion: """
        What is submitted to a form is kept in the layer of the form's key of FORM_STORE.gpkg, in \
        the config's store folder: survey.stores beside survey.scfg. Any program that reads \
        GeoPackages reads it: fieldpack query survey.stores/FORM_STORE.gpkg
        """,
      subcommands: [formListCommand, formShowCommand, formSubmitCommand], family: positionsFamily)
  }

  private static var formListCommand: Command {
    Command(
      "list", abstract: "List the forms of a config with their submissions.",
      examples: ["fieldpack form list survey.scfg"], body: FormListCommand.self)
  }

  private static var formShowCommand: Command {
    Command(
      "show", abstract: "Show the fields of a form and what they take.",
      examples: ["fieldpack form show survey.scfg potholes"], body: FormShowCommand.self)
  }
}

/// A config with forms, and where their submissions are kept.
struct FormArguments: OptionGroup {
  @Required var config: String
  private let folder: String?

  init(_ reader: inout OptionReader) {
    _config = reader.argument(
      .whole("config", completion: .source(["scfg"])),
      help: "A .scfg with forms, or a folder of them.")
    folder = reader.value(
      "store-folder", .text("folder", completion: .folder),
      help: "Where submissions are kept, in place of the folder beside the config."
    ).map(ShellWord.expandingHome)
  }

  /// The forms of the config, and the folder that keeps what is submitted to them.
  func forms() throws(FieldpackError) -> (forms: [FormConfig], folder: String) {
    let read = try WorkspaceConfig([config])
    return (read.forms, storeFolder(of: read))
  }

  /// The form of that key, and the folder.
  func form(_ key: String) throws(FieldpackError) -> (form: FormConfig, folder: String) {
    let read = try WorkspaceConfig([config])
    if let form = read.forms.first(where: { $0.key == key }) {
      return (form, storeFolder(of: read))
    }
    let keys = read.forms.map(\.key).joined(separator: ", ")
    let hasErrors = read.diagnostics.contains { $0.severity == .error }
    throw FieldpackError(
      .notFound,
      "\(config) has no form '\(key)'" + (keys.isEmpty ? "" : " (it has: \(keys))")
        + (hasErrors ? ". It has errors. Try: fieldpack info \(config)" : ""))
  }

  private func storeFolder(of read: WorkspaceConfig) -> String {
    folder ?? read.storeFolder ?? config + ".stores"
  }
}

extension OptionReader {
  mutating func form() -> Required<String> {
    argument(.text("form", completion: .form), help: "The key of a form.")
  }
}

extension Invocation {
  /// Runs `body` on the store of forms in a folder, `nil` where there is none, and closes it.
  fileprivate func withForms<R>(
    in folder: String, _ body: (FormStore?) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let store =
      FormStore.exists(in: folder) ? try await FormStore.open(folder: folder, usesWAL: false) : nil
    do throws(FieldpackError) {
      let result = try await body(store)
      await store?.close()
      return result
    } catch {
      await store?.close()
      throw error
    }
  }
}

/// What the store keeps of a form.
struct StoredForm {
  var version: Int64?
  var count: Int?
}

/// `fieldpack form list`.
private struct FormListCommand: CommandBody {
  struct Options: OptionGroup {
    let source: FormArguments

    init(_ reader: inout OptionReader) { source = reader.group() }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let (forms, folder) = try options.source.forms()
    var stored: [String: StoredForm] = [:]
    try await invocation.withForms(in: folder) { (store) throws(FieldpackError) in
      guard let store else { return }
      let known = try await store.storedForms()
      let layers = try await store.store.layers()
      for form in forms {
        stored[form.key] = StoredForm(
          version: known.first { $0.key == form.key }?.version,
          count: layers.first { $0.id.rawValue == form.key }?.featureCount)
      }
    }
    if invocation.isJSON {
      try invocation.print([
        "forms": .array(forms.map { $0.entry(stored[$0.key] ?? StoredForm()) })
      ])
    } else if forms.isEmpty {
      try invocation.print("no forms\n")
    } else {
      try invocation.printTable(
        [
          TableColumn("form"), TableColumn("label"), TableColumn("version", isNumeric: true),
          TableColumn("fields", isNumeric: true), TableColumn("submissions", isNumeric: true),
        ],
        forms.map {
          [
            $0.key, $0.label, String($0.version), String($0.fields.count),
            String(stored[$0.key]?.count ?? 0),
          ]
        })
    }
    return ExitStatus.success
  }
}

/// `fieldpack form show`.
private struct FormShowCommand: CommandBody {
  struct Options: OptionGroup {
    let source: FormArguments
    @Required var form: String

    init(_ reader: inout OptionReader) {
      source = reader.group()
      _form = reader.form()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let form = try options.source.form(options.form).form
    let notes = FormRules(form).notes
    if invocation.isJSON {
      try invocation.print(form.document(notes))
    } else {
      try invocation.print("\(DisplayText.visible(form.label)), version \(form.version)\n\n")
      try invocation.printTable(
        [
          TableColumn("field"), TableColumn("label"), TableColumn("type"),
          TableColumn("required"), TableColumn("takes"),
        ],
        form.fields.map {
          [
            $0.key, $0.label, $0.kind?.rawValue ?? "text", $0.isRequired ? "yes" : "",
            $0.constraints.summary,
          ]
        })
      for note in notes { invocation.console.note(note.text) }
    }
    return ExitStatus.success
  }
}
