public import FieldpackCore

/// A kind of store that configs can name.
///
///     struct Wells: StoreType {
///       static let identifier = "wells.1"
///       static func open(
///         _ config: StoreConfig, in context: StoreContext
///       ) async throws(FieldpackError) -> any Store { … }
///     }
public protocol StoreType: Sendable {
  /// Type and version, such as `gpkg.1`.
  static var identifier: String { get }

  /// Whether a remote uri of this type leads to a file, which is downloaded and opened offline; `false`
  /// for a service that is asked at each query. By default it does.
  static var downloadsFile: Bool { get }

  /// Opens the store that the config describes; ``StoreContext/file(of:)`` gives its file.
  ///
  /// - Parameter context: what the workspace decides for all of its stores.
  static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store
}

extension StoreType {
  public static var downloadsFile: Bool { true }
}

/// The store types at hand, by identifier.
public struct StoreRegistry: Sendable {
  private var types: [String: any StoreType.Type] = [:]

  public init(_ types: [any StoreType.Type] = []) {
    for type in types { register(type) }
  }

  /// Adds a type; one of the same identifier is replaced.
  public mutating func register(_ type: any StoreType.Type) { types[type.identifier] = type }

  /// The identifiers of all types, in order.
  public var identifiers: [String] { types.keys.sorted() }

  /// The type that the config names.
  ///
  /// - Throws: `.configuration`, listing the known ones, where there is no such type.
  public func type(of config: StoreConfig) throws(FieldpackError) -> any StoreType.Type {
    if let type = types[config.typeIdentifier] { return type }
    let known = "(known: \(identifiers.joined(separator: ", ")))"
    guard !config.type.isEmpty else {
      throw config.failure(.configuration, "the store has no 'store_type' \(known)")
    }
    let question = NearNames.question(config.typeIdentifier, in: identifiers)
    throw config.failure(
      .configuration, "store type '\(config.typeIdentifier)' is not known\(question) \(known)")
  }

  /// Opens a store; its errors name it and the position in its config.
  public func open(
    _ config: StoreConfig, in context: StoreContext = StoreContext()
  ) async throws(FieldpackError) -> any Store {
    let type = try type(of: config)
    do {
      return try await type.open(config, in: context)
    } catch {
      throw error.adding(location: .init(store: config.id), position: config.position)
    }
  }
}
