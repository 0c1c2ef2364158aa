/// A word that a shell can offer.
struct CompletionCandidate: Hashable, Sendable {
  let word: String
  let description: String

  init(_ word: String, _ description: String = "") {
    self.word = word
    self.description = description
  }
}

/// What completions look up in the files that are already typed.
///
/// Each gives nothing where the file cannot be read, and must answer while someone waits for it.
struct CompletionValues: Sendable {
  typealias Lookup = @Sendable (_ source: String) async -> [CompletionCandidate]

  var stores: Lookup
  var layers: Lookup
  /// The keys of the forms of a config.
  var forms: Lookup
  /// The columns of the layers, or of every layer where none is named.
  var columns: @Sendable (_ source: String, _ layers: [String]) async -> [CompletionCandidate]
  /// Reference systems as `AUTHORITY:CODE`, those of the source first, where one is typed.
  var srs: @Sendable (_ source: String?) async -> [CompletionCandidate]

  init(
    stores: @escaping Lookup, layers: @escaping Lookup,
    forms: @escaping Lookup = { _ in [] },
    columns: @escaping @Sendable (String, [String]) async -> [CompletionCandidate],
    srs: @escaping @Sendable (String?) async -> [CompletionCandidate]
  ) {
    self.stores = stores
    self.layers = layers
    self.forms = forms
    self.columns = columns
    self.srs = srs
  }

  /// Looks nothing up.
  static let none = CompletionValues(
    stores: { _ in [] }, layers: { _ in [] }, columns: { _, _ in [] }, srs: { _ in [] })
}
