public import FieldpackCore
public import FieldpackGeoPackage

/// Makes a GeoPackage quick to read: packed R-trees, features in the order of a Hilbert curve,
/// statistics, and no holes.
///
///     let report = try await FileOptimization().run("survey.gpkg")
public struct FileOptimization: Sendable {
  public var options: OptimizeOptions

  public init(_ options: OptimizeOptions = OptimizeOptions()) { self.options = options }

  /// Changes the file in one transaction, then compacts it.
  ///
  /// What fails or is interrupted before the transaction's end changes nothing; compacting changes
  /// no content.
  /// - Throws: `.notFound` for a layer that is not there; `.constraint` for a named layer that
  ///   cannot be clustered; `.busy`, `.readOnly`, `.full`; `.interrupted` when the task is cancelled.
  public func run(_ path: String) async throws(FieldpackError) -> OptimizeReport {
    let options = options
    return try await Blocking.run(telling: options.progress) { (progress) throws(FieldpackError) in
      var options = options
      options.progress = progress
      return try GeoPackageOptimizer(
        path: path, store: FileImport.storeID(of: path), options: options)
    }
  }
}
