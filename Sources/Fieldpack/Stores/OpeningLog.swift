import FieldpackCore

/// Logs how the opening of a store went.
struct OpeningLog {
  private let logger: Logger
  private let begun = ContinuousClock.now

  init(_ config: StoreConfig, _ logger: Logger) {
    // A remote uri can hold a password or a token.
    let uri = config.uri.contains("://") ? "remote" : config.uri
    self.logger = logger.labelled(
      "fieldpack.store",
      ["store": .text(config.id.rawValue), "type": .text(config.type), "uri": .text(uri)])
  }

  func store(
    _ open: () async throws(FieldpackError) -> any Store
  ) async throws(FieldpackError) -> any Store {
    do throws(FieldpackError) {
      let store = try await open()
      logger.info(
        "store opened", ["duration_ms": .real((ContinuousClock.now - begun).milliseconds)])
      return store
    } catch {
      logger.warning("store failed", ["code": .text(error.code.name)])
      throw error
    }
  }
}
