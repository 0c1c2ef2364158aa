#if PostGIS
  package import FieldpackCore
  package import FieldpackGeoPackage
  package import FieldpackServices

  /// Brings the edits of a field copy and of its database together.
  ///
  /// Edits of features that the copy does not have come only where it was asked to have such features.
  package enum FieldCheckin {
    /// The synchronisation of a copy that ``FieldCheckout`` made; it is run as any other.
    package static func run(
      of copy: GeoPackageStore, with store: PostGISStore
    ) async throws(FieldpackError) -> SyncRun {
      let (record, layers) = try await copy.read {
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        (try CheckoutRecord(in: snapshot), try snapshot.loggedLayers())
      }
      guard let record else {
        throw FieldpackError(
          .constraint, "\(copy.path) is no field copy of a database. Try: a checkout")
      }
      var peer = PostGISSyncPeer(of: store)
      peer.only = Set(layers)
      let filter = try record.filter
      if filter != .all {
        peer.selection = .init(filter: filter) { (layer, identities) async throws(FieldpackError) in
          try await copy.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
            guard let log = try snapshot.editLog(of: layer) else { return [] }
            var known: Set<String> = []
            for identity in Set(identities) {
              // An identity of origin and id has a place also where the copy never had the feature.
              guard let place = try log.place(of: identity) else { continue }
              let row = try snapshot.row(place.feature, of: log)
              if row != nil {
                known.insert(identity)
              } else if try log.last(of: place.feature) != nil {
                known.insert(identity)
              }
            }
            return known
          }
        }
      }
      return SyncRun(of: copy, with: peer)
    }
  }
#endif
