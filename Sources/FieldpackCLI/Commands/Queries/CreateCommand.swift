import Fieldpack
import FieldpackCore
import FieldpackFormats

/// `fieldpack create`.
struct CreateCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    private let word: String?
    private let file: String?
    let store: StoreID?
    let editing: EditArguments

    init(_ reader: inout OptionReader) {
      _source = reader.source()
      word = reader.optionalArgument(
        .text("layer", completion: .layer),
        help: "The layer to add to, where it does not stand after the source.")
      file = reader.geoJSON()
      store = reader.store()
      editing = reader.group()
    }

    /// With the layer after the source, the word that follows is the input.
    func target() throws(FieldpackError) -> (layer: LayerID, input: String) {
      if let layer = source.layer {
        guard word == nil || file == nil else {
          throw FieldpackError(
            .invalidArgument,
            "create adds to one layer, and '\(layer)' and '\(word ?? "")' are named")
        }
        return (layer, word ?? "-")
      }
      guard let word else {
        throw FieldpackError(
          .invalidArgument, "create needs a layer. Try: fieldpack create \(source.path):LAYER")
      }
      return (LayerID(word), file ?? "-")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let (layer, input) = try options.target()
    let features = try invocation.geoJSONFeatures(of: input)
    return try await invocation.withEditedSource(
      options.source.path, only: options.store.map { [$0] }, options.editing, input: input
    ) { (workspace) throws(FieldpackError) in
      let store = try await workspace.store(of: layer, named: options.store)
      let created = try await workspace.create(geoJSON: features, in: layer, of: store)
      for note in created.notes { invocation.console.note(note) }
      if invocation.isJSON {
        try invocation.report("created", created.keys)
      } else {
        for key in created.keys { try invocation.print("\(key)\n") }
      }
      return ExitStatus.success
    }
  }
}
