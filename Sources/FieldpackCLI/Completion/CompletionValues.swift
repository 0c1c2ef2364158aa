/// A word that a shell can offer.
public struct CompletionCandidate: Hashable, Sendable {
  public let word: String
  public let description: String

  public init(_ word: String, _ description: String = "") {
    self.word = word
    self.description = description
  }
}

/// What completions look up in the files that are already typed.
///
/// Each gives nothing where the file cannot be read, and must answer while someone waits for it.
public struct CompletionValues: Sendable {
  public typealias Lookup = @Sendable (_ source: String) async -> [CompletionCandidate]

  public var stores: Lookup
  public var layers: Lookup
  /// The columns of the layers, or of every layer where none is named.
  public var columns:
    @Sendable (_ source: String, _ layers: [String]) async -> [CompletionCandidate]
  /// Reference systems as `AUTHORITY:CODE`, those of the source first, where one is typed.
  public var srs: @Sendable (_ source: String?) async -> [CompletionCandidate]

  public init(
    stores: @escaping Lookup, layers: @escaping Lookup,
    columns: @escaping @Sendable (String, [String]) async -> [CompletionCandidate],
    srs: @escaping @Sendable (String?) async -> [CompletionCandidate]
  ) {
    self.stores = stores
    self.layers = layers
    self.columns = columns
    self.srs = srs
  }

  /// Looks nothing up.
  public static let none = CompletionValues(
    stores: { _ in [] }, layers: { _ in [] }, columns: { _, _ in [] }, srs: { _ in [] })
}
