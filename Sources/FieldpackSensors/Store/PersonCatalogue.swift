public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage

/// The persons of a GeoPackage.
///
///     let persons = PersonCatalogue(store)
///     var details = PersonDetails()
///     details.lastName = "Kowalski"
///     let person = try await persons.add(details)
///     let thumb = try await persons.add(
///       ItemDraft(modality: .finger, captureType: .rightThumbFlat), to: person.key)
public struct PersonCatalogue: Sendable {
  public let store: GeoPackageStore
  let clock: FieldClock

  public init(_ store: GeoPackageStore, clock: FieldClock = .system) {
    self.store = store
    self.clock = clock
  }

  // MARK: Finding

  /// All persons, the first that was added first; none where the file has no such layer.
  public func persons() async throws(FieldpackError) -> [Person] {
    let id = store.id
    return try await store.read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasPersons() else { return [] }
      return try snapshot.features(
        Query(SensorLayers.person).order(by: [Order("created_at"), Order("id")])
      ).compactMap { Person($0, of: id) }
    }
  }

  /// The person of an id, or of a key tuple's text.
  ///
  /// - Throws: `.notFound`.
  public func person(_ name: String) async throws(FieldpackError) -> Person {
    let id = store.id
    let found: Person? = try await store.read { (snapshot) throws(FieldpackError) in
      guard try snapshot.hasPersons(), let feature = Self.feature(name, SensorLayers.person, id),
        let row = try snapshot.feature(feature, in: SensorLayers.person)
      else { return nil }
      return Person(row, of: id)
    }
    if let found { return found }
    throw missing("person", name, SensorLayers.person)
  }

  /// The feature that a user's text names; `nil` where it can be none of the layer.
  static func feature(_ name: String, _ layer: LayerID, _ store: StoreID) -> FeatureID? {
    if let number = Int64(name) { return .integer(number) }
    guard let key = KeyTuple(name), key.store == store, key.layer == layer,
      case .integer = key.feature
    else { return nil }
    return key.feature
  }

  func missing(_ kind: String, _ name: String, _ layer: LayerID) -> FieldpackError {
    // Only what can be an id is said again: it could be a person's name.
    let shown = Int64(name) != nil || KeyTuple(name) != nil ? " '\(name)'" : " of that id"
    return FieldpackError(
      .notFound, "there is no \(kind)\(shown) in \(store.shownPath)",
      location: .init(store: store.id, layer: layer))
  }

  // MARK: Changes

  /// Adds a person.
  ///
  /// - Throws: `.invalidArgument` for a detail that is not on its list.
  @discardableResult
  public func add(_ details: PersonDetails = .init()) async throws(FieldpackError) -> Person {
    try details.check()
    let now = clock.now
    let id = try await store.edit { (writer) throws(FieldpackError) in
      try PersonRows(writer, at: now).create(details)
    }
    return Person(
      key: KeyTuple(store: store.id, layer: SensorLayers.person, feature: id), details: details,
      createdAt: now)
  }

  /// Replaces a person's details.
  public func edit(
    _ person: KeyTuple, to details: PersonDetails
  ) async throws(FieldpackError) {
    _ = try await edit(person, to: details) { _ in true }
  }

  /// Replaces a person's details, unless they are no longer those that a form shows.
  ///
  /// - Parameter isShown: whether the details as they are now are those that the form shows.
  /// - Returns: false where they are not, and nothing was changed.
  package func edit(
    _ person: KeyTuple, to details: PersonDetails,
    where isShown: @Sendable (PersonDetails) throws(FieldpackError) -> Bool
  ) async throws(FieldpackError) -> Bool {
    try details.check()
    return try await change { (rows) throws(FieldpackError) in
      guard try isShown(rows.details(of: person.feature)) else { return false }
      try rows.edit(person.feature, details)
      return true
    }
  }

  /// Adds a person with the items of another: their sensors and what they capture, but no details and
  /// nothing that was captured.
  @discardableResult
  public func duplicate(_ person: KeyTuple) async throws(FieldpackError) -> Person {
    let now = clock.now
    let id = try await store.edit { (writer) throws(FieldpackError) in
      try PersonRows(writer, at: now).duplicate(person.feature)
    }
    return Person(
      key: KeyTuple(store: store.id, layer: SensorLayers.person, feature: id), createdAt: now)
  }

  /// Deletes persons with their items, the sensors of these, and the files that nothing else has: all of
  /// them, or none.
  ///
  /// - Parameter scrubbing: removes what change logs hold of them, and their bytes from the file. The
  ///   deletion is then in no change log, so that synchronisation does not pass it on.
  @discardableResult
  public func delete(
    _ persons: [KeyTuple], scrubbing: Bool = false
  ) async throws(FieldpackError) -> DeletedFeatures {
    try await delete(scrubbing: scrubbing) { (rows, deleted) throws(FieldpackError) in
      for person in persons { try rows.delete(person: person.feature, &deleted) }
    }
  }

  func change<R: Sendable>(
    _ body: @Sendable (PersonRows) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let now = clock.now
    return try await store.edit { (writer) throws(FieldpackError) in
      try body(try PersonRows(writer, at: now))
    }
  }

  func delete(
    scrubbing: Bool,
    _ body: @Sendable (PersonRows, inout DeletedFeatures) throws(FieldpackError) -> Void
  ) async throws(FieldpackError) -> DeletedFeatures {
    let now = clock.now
    @Sendable func run(_ writer: GeoPackageWriter) throws(FieldpackError) -> DeletedFeatures {
      var deleted = DeletedFeatures()
      let rows = try PersonRows(writer, at: now)
      guard scrubbing else {
        try body(rows, &deleted)
        return deleted
      }
      let before = try SensorScrub.ids(writer)
      try body(rows, &deleted)
      try SensorScrub(before, writer).run()
      return deleted
    }
    guard scrubbing else {
      return try await store.edit { (writer) throws(FieldpackError) in try run(writer) }
    }
    try await checkScrubbing()
    return try await store.scrub { (writer) throws(FieldpackError) in try run(writer) }
  }
}

extension PersonCatalogue {
  /// Refuses a file that cannot be written anew, before anything of it is deleted.
  private func checkScrubbing() async throws(FieldpackError) {
    let layers = try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.layers(areCounted: false)
    }
    guard let unnamed = layers.first(where: { !$0.isView && $0.schema.idColumn == nil }) else {
      return
    }
    throw FieldpackError(
      .unsupported,
      "layer '\(unnamed.id)' has no column for its ids, so that the file cannot be written anew, and "
        + "nothing is deleted",
      location: .init(store: store.id, layer: unnamed.id))
  }
}

extension GeoPackageSnapshot {
  func hasPersons() throws(FieldpackError) -> Bool {
    guard try schema(of: SensorLayers.person) != nil else { return false }
    return try schema(of: SensorLayers.item) != nil
  }
}
