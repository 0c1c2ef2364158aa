import Fieldpack
import FieldpackCore
import FieldpackFormats

/// What the commands on single features take.
enum EditArguments {
  static let key = Argument<KeyTuple>.required(.keyTuple, help: "The feature's key tuple.")
  static let keys = Argument<[KeyTuple]>.list(
    .keyTuple, minimum: 1, help: "The features' key tuples.")
  static let input = Argument<String?>.optional(
    .file("file", "geojson", "json", "geojsonl"),
    help: "GeoJSON in WGS 84; standard input where it is - or missing.")
  static let allowLoss = Option<Bool>.flag(
    "allow-loss", help: "Let geometries lose arcs, z and m values that the input has not.")
  static let options = OptionGroup("Source options", [SourceArguments.allowPath])
  /// Of the commands that change the source.
  static let changing = OptionGroup(
    "Source options", [SourceArguments.allowPath, WriteArguments.allowTriggers])
}

extension ValueForm where Value == KeyTuple {
  /// `base64(store).base64(layer).base64(feature)`.
  static var keyTuple: ValueForm {
    ValueForm("key") { (text) throws(ValueError) -> KeyTuple in
      guard let key = KeyTuple(text) else {
        throw ValueError(
          "is not a key tuple of store, layer and feature. Try: fieldpack query --keys")
      }
      return key
    }
  }
}

extension Invocation {
  /// The features of the command's input.
  func geoJSONFeatures() throws(FieldpackError) -> [GeoJSONFeature] {
    let name = arguments[EditArguments.input] ?? "-"
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
    only stores: [StoreID]? = nil, _ body: (Workspace) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    try await withSource(only: stores, usesWAL: false) { (source) throws(FieldpackError) in
      do throws(FieldpackError) {
        return try await body(source.workspace)
      } catch {
        guard error.position?.feature != nil else { throw error }
        let name = arguments[EditArguments.input] ?? "-"
        throw error.naming(file: name == "-" ? "stdin" : name)
      }
    }
  }

  /// Says what was done to how many features, or lists their key tuples in a document.
  func report(_ what: String, _ keys: [KeyTuple]) throws(FieldpackError) {
    if arguments[CommonOptions.json] {
      try print(["count": JSONValue(keys.count), "keys": JSONValue(keys.map(\.description))])
    } else {
      try print("\(keys.count) feature\(keys.count == 1 ? "" : "s") \(what)\n")
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
