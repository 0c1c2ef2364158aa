import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

/// What the commands on single features take.
struct EditArguments: OptionGroup {
  static let title: String? = "Source options"

  let allowsPaths: [String]
  /// Of the commands that change the source.
  let profile: OpeningProfile

  init(_ reader: inout OptionReader) {
    allowsPaths = reader.allowedPaths()
    profile = reader.editingProfile()
  }
}

extension OptionReader {
  mutating func geoJSON() -> String? {
    optionalArgument(
      .file("file", "geojson", "json", "geojsonl"),
      help: "GeoJSON in WGS 84; standard input where it is - or missing.")
  }
}

extension Invocation {
  /// The features of an input.
  func geoJSONFeatures(of name: String) throws(FieldpackError) -> [GeoJSONFeature] {
    if name == "-", console.terminal.isInputTerminal {
      console.note("reading GeoJSON from standard input")
    }
    let input =
      name == "-"
      ? try ByteInput(spooling: 0, name: "stdin") { (_) throws(FieldpackError) in
        try checkCancellation()
      } : try ByteInput(path: name)
    do throws(FieldpackError) {
      return try GeoJSONFeatures.read(input)
    } catch {
      throw error.naming(file: input.name)
    }
  }

  /// Runs `body` on the source, opened for one change, and names the input in errors about it.
  func withEditedSource(
    _ source: String, only stores: [StoreID]? = nil, _ arguments: EditArguments,
    input: String? = nil, _ body: (Workspace) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    try await withSource(
      source, SourceArguments(stores: stores, allowing: arguments.allowsPaths),
      profile: arguments.profile, usesWAL: false
    ) { (source) throws(FieldpackError) in
      do throws(FieldpackError) {
        return try await body(source.workspace)
      } catch {
        guard let input, error.position?.feature != nil else { throw error }
        throw error.naming(file: input == "-" ? "stdin" : input)
      }
    }
  }

  /// Says what was done to how many features, or lists their key tuples in a document.
  func report(_ what: String, _ keys: [KeyTuple]) throws(FieldpackError) {
    if isJSON {
      try print(["count": JSONValue(keys.count), "keys": JSONValue(keys.map(\.description))])
    } else {
      try print("\(keys.count.counting("feature")) \(what)\n")
    }
  }
}

extension FieldpackError {
  /// The same error with its position in `file`.
  fileprivate func naming(file: String) -> FieldpackError {
    var position = position ?? FilePosition()
    position.file = position.file ?? file
    return FieldpackError(
      code, message, advice: advice, location: location, position: position, underlying: underlying)
  }
}
