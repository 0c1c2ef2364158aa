public import Fieldpack
public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
public import FieldpackGeometry

/// What somebody filled in.
public struct FormSubmission: Hashable, Sendable {
  /// The answers by the keys of the fields.
  public var values: Attributes
  /// Where it was, in WGS 84.
  public var geometry: Geometry?

  public init(_ values: Attributes, at geometry: Geometry? = nil) {
    self.values = values
    self.geometry = geometry
  }
}

/// What became of a form that was registered.
public struct FormRegistration: Hashable, Sendable {
  public enum Outcome: Hashable, Sendable {
    /// The layer is new.
    case created
    case unchanged
    /// The layer kept an older version, or none that it tells of, and has new columns.
    case upgraded(from: Int64?, added: [String])
    /// The layer keeps a newer version, which counts; nothing is changed.
    case outdated(stored: Int64)
  }

  /// The form that submissions are held to.
  public var form: FormConfig
  public var outcome: Outcome
}

/// The store of what is submitted to forms: a GeoPackage with a layer for each form.
///
///     let store = try await FormStore.open(folder: folder)
///     for form in config.forms { try await store.register(form) }
///     let id = try await store.submit(
///       FormSubmission(["severity": "deep"], at: .point(x: 13.4, y: 52.5)), to: "potholes")
///
/// The layer of a form is named by the key of the form, and has a column for each of its fields; any
/// program that reads GeoPackages reads it. What `submit` gave an id for is in the file,
/// however the program ends.
public actor FormStore {
  public static let id: StoreID = "FORM_STORE"
  /// What the apps of SpatialConnect call the store's file.
  public static let uri = "spacon_form_store.db"

  /// The store for its owner, who may change and delete what was submitted.
  public nonisolated let store: GeoPackageStore
  private var rules: [FormRules] = []
  /// How often the form of each key was taken away.
  private var removals: [String: Int] = [:]
  private nonisolated let changes = Broadcast<Bool>(capacity: 1, present: false)

  private init(_ store: GeoPackageStore) { self.store = store }

  /// Opens `FORM_STORE.gpkg` in a folder; both are made where they are missing.
  ///
  /// - Parameters:
  ///   - usesWAL: as of `GeoPackageStore`.
  ///   - editor: who submits, for the change logs of forms that have one.
  public static func open(
    folder: String, usesWAL: Bool = true, editor: Editor? = nil
  ) async throws(FieldpackError) -> FormStore {
    FormStore(try await BuiltInFile.open(id, in: folder, usesWAL: usesWAL, editor: editor))
  }

  /// Whether the folder has a store of forms.
  public static func exists(in folder: String) -> Bool { BuiltInFile.exists(id, in: folder) }

  /// Closes the file, and ends those who wait for ``hasForms``.
  public func close() async {
    changes.finish()
    await store.close()
  }

  /// The store for bridges to other programs, which may not change what was submitted.
  public nonisolated var readOnly: ReadOnlyStore { ReadOnlyStore(store) }

  // MARK: Forms

  /// The forms that are registered, in the order of their registration.
  public var forms: [FormConfig] { rules.map(\.form) }

  /// The forms that the file has layers of, registered or not, as it keeps their definitions.
  public func storedForms() async throws(FieldpackError) -> [FormConfig] {
    try await store.read { (snapshot) throws(FieldpackError) in
      try FormDocument.all(in: snapshot).map(\.form)
    }
  }

  /// The form of that key, with its rules.
  ///
  /// - Throws: `.notFound` with the keys that there are.
  public func rules(of key: String) throws(FieldpackError) -> FormRules {
    if let known = rules.first(where: { $0.form.key == key }) { return known }
    let keys = rules.map(\.form.key).joined(separator: ", ")
    throw FieldpackError(
      .notFound,
      "there is no form '\(key)'" + (keys.isEmpty ? "" : " (there are: \(keys))"),
      location: .init(store: Self.id))
  }

  /// Whether forms are registered: now at once, and then whenever it changes.
  public nonisolated var hasForms: AsyncStream<Bool> { changes.subscribe().stream }

  /// Makes a form's layer, or brings it to the form's version, and takes submissions from now on.
  ///
  /// A newer version adds the columns of its new fields. Columns and rows that there are stay. A version
  /// that is older than the stored one changes nothing: the stored one counts.
  /// - Throws: `.constraint` where the layer cannot become what the form asks for, such as where a field
  ///   has another type. Then nothing is changed, and other forms are not concerned.
  @discardableResult
  public func register(_ form: FormConfig) async throws(FieldpackError) -> FormRegistration {
    let layer = FormLayer(form: form)
    let removalsBefore = removals[form.key]
    let registration = try await store.write {
      (writer: GeoPackageWriter) throws(FieldpackError) -> FormRegistration in
      let registration = try layer.prepare(in: writer)
      // What is submitted is sent from the log, also where a backend is named only later.
      try writer.logEdits(of: LayerID(form.key))
      return registration
    }
    // The form may have been taken away meanwhile, or have got a newer version.
    guard removals[form.key] == removalsBefore else { return registration }
    let new = FormRules(registration.form)
    if let index = rules.firstIndex(where: { $0.form.key == form.key }) {
      if rules[index].form.version <= new.form.version { rules[index] = new }
    } else {
      rules.append(new)
      if rules.count == 1 { changes.send(true) }
    }
    return registration
  }

  /// Takes no more submissions to a form; its layer stays with all that was submitted.
  ///
  /// - Returns: whether the form was registered.
  @discardableResult
  public func unregister(_ key: String) -> Bool {
    removals[key, default: 0] += 1
    guard let index = rules.firstIndex(where: { $0.form.key == key }) else { return false }
    rules.remove(at: index)
    if rules.isEmpty { changes.send(false) }
    return true
  }

  // MARK: Submissions

  /// Keeps a submission, and gives its id once the file holds it durably.
  ///
  /// - Throws: `.notFound` for an unknown form; `.invalidData` for answers that break the form's rules,
  ///   with the ``RefusedSubmission`` as the underlying error.
  @discardableResult
  public func submit(
    _ submission: FormSubmission, to key: String
  ) async throws(FieldpackError) -> FeatureID {
    let feature = try feature(of: submission, to: rules(of: key))
    return try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.create(feature, in: LayerID(key))
    }
  }

  /// Keeps submissions together: all of them, or none.
  ///
  /// - Throws: as `submit(_:to:)` for one; the position of the error has the number of the submission.
  @discardableResult
  public func submit(
    _ submissions: [FormSubmission], to key: String
  ) async throws(FieldpackError) -> [FeatureID] {
    let rules = try rules(of: key)
    var features: [Feature] = []
    for (index, submission) in submissions.enumerated() {
      do throws(FieldpackError) { features.append(try feature(of: submission, to: rules)) } catch {
        throw error.adding(position: FilePosition(feature: index + 1))
      }
    }
    let new = features
    return try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      var ids: [FeatureID] = []
      for (index, feature) in new.enumerated() {
        do throws(FieldpackError) {
          ids.append(try writer.create(feature, in: LayerID(key)))
        } catch { throw error.adding(position: FilePosition(feature: index + 1)) }
      }
      return ids
    }
  }

  private nonisolated func feature(
    of submission: FormSubmission, to rules: FormRules
  ) throws(FieldpackError) -> Feature {
    do throws(RefusedSubmission) {
      return Feature(
        geometry: submission.geometry, attributes: try rules.values(of: submission.values))
    } catch {
      throw FieldpackError(
        .invalidData, error.description,
        location: .init(store: Self.id, layer: LayerID(rules.form.key)), underlying: error)
    }
  }
}
