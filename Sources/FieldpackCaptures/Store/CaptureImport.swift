public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage

/// Imports folders of captures into a GeoPackage, each capture in a transaction of its own.
///
///     let report = try await CaptureImport().run(["captures"], into: "field.gpkg", id: "field")
public struct CaptureImport: Sendable {
  /// What became of the captures.
  public struct Report: Sendable {
    public struct Entry: Hashable, Sendable {
      /// What the capture's folder is called.
      public var name: String
      public var token: String
      public var key: KeyTuple
      /// The files that it lacks, by their names.
      public var missing: [String]
      /// What was understood otherwise than the folder declares it.
      public var notes: [String]
    }

    public struct Refusal: Sendable {
      public var name: String
      public var error: FieldpackError
    }

    public var imported: [Entry] = []
    /// The captures that the file had already. Files that these lacked were added where the folder
    /// has them.
    public var known: [Entry] = []
    public var refused: [Refusal] = []
    /// How many files were added to captures that the file had already.
    public var filesAdded = 0
  }

  private let version: GeoPackageVersion
  private let profile: OpeningProfile
  private let logger: Logger

  /// - Parameters:
  ///   - version: of a GeoPackage that is created.
  ///   - profile: how far an existing GeoPackage is trusted.
  public init(
    creating version: GeoPackageVersion = .v14, profile: OpeningProfile = .foreign,
    logger: Logger = .silent
  ) {
    self.version = version
    self.profile = profile
    self.logger = logger
  }

  /// Imports the captures of all folders. The report names those that could not be imported.
  ///
  /// A missing GeoPackage is created with the first capture.
  /// - Parameter progress: called with each capture's name before it is read.
  public func run(
    _ folders: [String], into target: String, id: StoreID,
    progress: (String) -> Void = { _ in }
  ) async throws(FieldpackError) -> Report {
    var run = CaptureImportRun(
      target: target, id: id, version: version, profile: profile, logger: logger)
    do throws(FieldpackError) {
      for path in folders {
        let folder = try CaptureFolder(path: path)
        for name in folder.names {
          if Task.isCancelled { throw FieldpackError(.interrupted, "the import was cancelled") }
          progress(name)
          try await run.take(name, of: folder)
        }
      }
    } catch {
      await run.close()
      throw error
    }
    await run.close()
    return run.report
  }
}

/// An import under way.
private struct CaptureImportRun {
  let target: String
  let id: StoreID
  let version: GeoPackageVersion
  let profile: OpeningProfile
  let logger: Logger
  var report = CaptureImport.Report()
  private var store: GeoPackageStore?
  /// The tokens of this import, with the folders that they came from.
  private var tokens: [String: String] = [:]

  init(
    target: String, id: StoreID, version: GeoPackageVersion, profile: OpeningProfile,
    logger: Logger
  ) {
    self.target = target
    self.id = id
    self.version = version
    self.profile = profile
    self.logger = logger
  }

  mutating func take(
    _ name: String, of folder: CaptureFolder
  ) async throws(FieldpackError) {
    let found: FoundCapture
    do throws(FieldpackError) {
      found = try folder.capture(name)
      if let other = tokens.updateValue(name, forKey: found.info.token) {
        throw FieldpackError(.invalidData, "its token is that of '\(other)', too")
      }
    } catch {
      guard error.code != .interrupted else { throw error }
      report.refused.append(.init(name: name, error: error))
      return
    }
    try await store(found, name)
  }

  private mutating func store(
    _ found: FoundCapture, _ name: String
  ) async throws(FieldpackError) {
    let store = try await opened()
    let outcome = try await store.write { (writer) throws(FieldpackError) in
      try CaptureRows.take(found, writer)
    }
    let entry = CaptureImport.Report.Entry(
      name: name, token: found.info.token,
      key: KeyTuple(store: id, layer: CaptureLayers.capture, feature: outcome.id),
      missing: found.missing, notes: found.notes)
    report.filesAdded += outcome.added
    if outcome.isKnown { report.known.append(entry) } else { report.imported.append(entry) }
  }

  private mutating func opened() async throws(FieldpackError) -> GeoPackageStore {
    if let store { return store }
    if !SafeFolder.exists(target) {
      do throws(FieldpackError) {
        let writer = try GeoPackageBulkWriter(
          creating: target, version: version, store: id, logger: logger)
        _ = try writer.commit()
      } catch {
        // Another program may have created it meanwhile.
        guard error.code == .cannotCreate, SafeFolder.exists(target) else { throw error }
      }
    }
    let opened = try await GeoPackageStore(
      path: target, id: id, profile: profile, logger: logger)
    store = opened
    return opened
  }

  func close() async { await store?.close() }
}

extension FoundCapture {
  /// The files that are not there, by their names.
  var missing: [String] {
    (media == nil ? [info.mediaFile] : []) + (thumbnail == nil ? [info.thumbnailFile] : [])
  }
}

extension CaptureImport.Report: CustomStringConvertible {
  /// `3 captures imported`, and how many were known or refused.
  public var description: String {
    imported.count.counting("capture") + " imported"
      + (known.isEmpty ? "" : "; \(known.count) known")
      + (refused.isEmpty ? "" : "; \(refused.count) refused")
  }
}
