package import FieldpackCore

extension StoreConfig {
  /// How often a remote store is fetched again; `nil` for one that is no feed.
  ///
  /// - Throws: `.configuration` for what is no number of seconds from 1 to 600.
  package func polling() throws(FieldpackError) -> Duration? {
    guard ["geojson", "wfs"].contains(type), let option = options?["polling"], !option.isNull else {
      return nil
    }
    // Editors of configs write numbers as texts.
    guard let seconds = option.integer ?? option.text.flatMap({ Int64($0) }),
      (1...600).contains(seconds)
    else {
      throw failure(
        .configuration,
        "the option 'polling' of store '\(id)' is a number of seconds from 1 to 600")
    }
    return .seconds(seconds)
  }
}
