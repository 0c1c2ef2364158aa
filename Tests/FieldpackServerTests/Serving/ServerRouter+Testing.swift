import FieldpackCore
import FieldpackGeoPackage

@testable import FieldpackServer

extension ServerRouter {
  /// A router with an event hub and an intake of fixes of its own, and without a bridge.
  convenience init(
    _ published: PublishedStore, publicBase: LinkBase?, hosts: Set<String>?,
    logger: Logger, mapPage: MapPage = MapPage()
  ) {
    let store = published.ownFile?.store
    self.init(
      published, events: EventHub(following: published.followed(logger), logger: logger),
      intake: store.map { DeviceIntake(of: $0, PositionOptions(), logger: logger) },
      publicBase: publicBase, hosts: hosts, origins: [], scheme: "http", hasPublicCaptures: false,
      apps: nil,
      logger: logger, mapPage: mapPage, desk: nil)
  }
}
