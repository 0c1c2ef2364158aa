package import FieldpackCore

extension StoreConfig {
  /// How often a remote store is fetched again; `nil` for one that is no feed.
  ///
  /// - Throws: `.configuration` for what is no number of seconds from 1 to 600.
  package func polling() throws(FieldpackError) -> Duration? {
    guard ["geojson", "wfs"].contains(type) else { return nil }
    return try number("polling", in: 1...600, "a number of seconds from 1 to 600").map {
      .seconds($0)
    }
  }

  /// A member of the options that is a whole number; `nil` where there is none.
  ///
  /// - Parameter meaning: what the option has to be, for the error.
  /// - Throws: `.configuration` for what is no whole number in the range.
  package func number(
    _ name: String, in range: ClosedRange<Int>, _ meaning: String
  ) throws(FieldpackError) -> Int? {
    guard let option = options?[name], !option.isNull else { return nil }
    // Editors of configs write numbers as texts.
    guard let number = option.integer ?? option.text.flatMap({ Int64($0) }),
      range.contains(Int(number))
    else {
      throw failure(.configuration, "the option '\(name)' of store '\(id)' is \(meaning)")
    }
    return Int(number)
  }
}
