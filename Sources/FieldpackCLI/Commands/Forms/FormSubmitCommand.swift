import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackServices

extension FieldpackTool {
  static var formSubmitCommand: Command {
    Command(
      "submit", abstract: "Keep features as submissions to a form.",
      discussion: """
        The properties of each feature are the answers by the keys of the form's fields; numbers \
        may be texts. All that is wrong with a feature is told at once, and then none of the \
        features is kept, unless --skip-errors leaves those out that break the form's rules.
        """,
      examples: [
        "fieldpack form submit survey.scfg potholes seen.geojson",
        "fieldpack form submit survey.scfg potholes - <seen.geojson",
      ],
      body: FormSubmitCommand.self)
  }
}

/// `fieldpack form submit`.
private struct FormSubmitCommand: CommandBody {
  struct Options: OptionGroup {
    let source: FormArguments
    @Required var form: String
    let file: String
    let skipsErrors: Bool
    let editor: Editor

    init(_ reader: inout OptionReader) {
      source = reader.group()
      _form = reader.form()
      file = reader.geoJSON() ?? "-"
      skipsErrors = reader.skipErrors()
      editor = reader.editor()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let (form, folder) = try options.source.form(options.form)
    let features = try invocation.geoJSONFeatures(of: options.file)
    if !FormStore.exists(in: folder) {
      // What is refused makes no file.
      _ = try sorted(features, by: FormRules(form))
    }
    let store = try await FormStore.open(
      folder: folder, usesWAL: false, editor: options.editor)
    do throws(FieldpackError) {
      let status = try await submit(features, to: form, in: store, folder)
      await store.close()
      return status
    } catch {
      await store.close()
      throw error
    }
  }

  private func submit(
    _ features: [GeoJSONFeature], to form: FormConfig, in store: FormStore, _ folder: String
  ) async throws(FieldpackError) -> Int32 {
    tell(try await store.register(form), form)
    let rules = try await store.rules(of: form.key)
    for note in rules.notes { invocation.console.note(note.text) }
    let (kept, skipped) = try sorted(features, by: rules)
    if features.contains(where: { $0.id != nil }) {
      invocation.console.note("the ids of features are not kept: each submission gets its own")
    }
    let ids = try await store.submit(kept, to: form.key)
    let keys = ids.map { KeyTuple(store: FormStore.id, layer: LayerID(form.key), feature: $0) }
    let target = FileSystem.join(folder, "\(FormStore.id).gpkg")
    if invocation.isJSON {
      try invocation.print([
        "form": .text(form.key), "target": .text(target), "count": JSONValue(keys.count),
        "keys": JSONValue(keys.map(\.description)), "skipped": JSONValue(skipped),
      ])
    } else {
      invocation.report(skipped)
      let count = keys.count.counting("submission")
      try invocation.print("\(count) kept in \(DisplayText.visible("\(target):\(form.key)"))\n")
    }
    return invocation.status(
      failures: [], skippedCount: skipped.count, skipsErrors: options.skipsErrors)
  }

  /// Those that meet the rules, and those that do not, where they may be left out.
  private func sorted(
    _ features: [GeoJSONFeature], by rules: FormRules
  ) throws(FieldpackError) -> (kept: [FormSubmission], skipped: SkippedFeatures) {
    var (kept, skipped): ([FormSubmission], SkippedFeatures) = ([], SkippedFeatures())
    for feature in features {
      do throws(RefusedSubmission) {
        let submission = FormSubmission(feature)
        _ = try rules.values(of: submission.values)
        kept.append(submission)
      } catch {
        let isAlone = features.count == 1 || options.skipsErrors
        let refusal = FieldpackError(
          .invalidData, error.description, advice: isAlone ? nil : .skipErrors,
          location: .init(store: FormStore.id, layer: LayerID(rules.form.key)),
          position: feature.position(in: options.file), underlying: error)
        guard options.skipsErrors else { throw refusal }
        skipped.add(SkippedFeature(refusal, position: refusal.position))
      }
    }
    return (kept, skipped)
  }

  /// Tells what became of the form, where people would not expect it.
  private func tell(_ registration: FormRegistration, _ form: FormConfig) {
    let note: String
    switch registration.outcome {
    case .created, .unchanged: return
    case .outdated(let stored):
      note =
        "version \(stored) of form '\(form.key)' counts, which the store keeps; the config has "
        + "version \(form.version)"
    case .upgraded(_, let added):
      guard !added.isEmpty else { return }
      note = "layer '\(form.key)' has new columns: \(added.joined(separator: ", "))"
    }
    invocation.console.note(DisplayText.visible(note))
  }
}

extension FormSubmission {
  fileprivate init(_ feature: GeoJSONFeature) {
    self.init(feature.attributes)
    if case .set(let geometry) = feature.geometry { self.geometry = geometry }
  }
}

extension GeoJSONFeature {
  fileprivate func position(in file: String) -> FilePosition {
    var position = position
    position.file = file == "-" ? "stdin" : file
    return position
  }
}
