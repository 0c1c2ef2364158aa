package import FieldpackHTTP

/// The version of the file that a store has open.
package struct HeldVersion: Hashable, Sendable {
  package var version: FileVersion
  /// That of the file, see `DownloadOrigin`.
  package var stamp: String?
}
