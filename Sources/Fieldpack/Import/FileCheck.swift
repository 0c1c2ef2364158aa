public import FieldpackCheck
public import FieldpackCore

/// Checks a GeoPackage against the standard and its parts against each other, and repairs what can
/// be repaired.
///
///     let report = try await FileCheck().run("survey.gpkg")
///     for finding in report.findings { print(finding.requirement, finding.reason) }
public struct FileCheck: Sendable {
  public var options: CheckOptions

  public init(_ options: CheckOptions = CheckOptions()) { self.options = options }

  /// Reads the whole file, in bounded memory; with repairs or an upgrade all changes are one
  /// transaction.
  ///
  /// What is wrong with the file is in the report; errors say why it could not be checked.
  /// - Throws: `.notFound`, `.permission`, `.busy`, `.readOnly`, `.full`; `.invalidArgument` for an
  ///   upgrade to an older version; `.interrupted` when the task is cancelled. Then nothing was
  ///   changed.
  public func run(_ path: String) async throws(FieldpackError) -> CheckReport {
    let options = options
    return try await Blocking.run(telling: options.progress) { (progress) throws(FieldpackError) in
      var options = options
      options.progress = progress
      return try GeoPackageChecker(
        path: path, store: FileImport.storeID(of: path), options: options)
    }
  }
}
