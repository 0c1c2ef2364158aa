public import Foundation

/// The folder of real files that the data tests read, from `FIELDPACK_DATA`, by default
/// `../shared/data` beside the checkout.
public enum SharedData {
  public static let root: URL? = {
    let named = ProcessInfo.processInfo.environment["FIELDPACK_DATA"]
    let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let folder =
      named.map { URL(fileURLWithPath: $0) }
      ?? checkout.appendingPathComponent("../shared/data").standardizedFileURL
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder)
    return exists && isFolder.boolValue ? folder : nil
  }()

  public static var isPresent: Bool { root != nil }

  /// Why a data test is skipped; use it as the comment of `.enabled(if: SharedData.isPresent, …)`.
  public static let absent = "the data folder is absent: set FIELDPACK_DATA to run this test"

  /// A file or folder below the data folder. Call it only in tests enabled by `isPresent`.
  public static func url(_ path: String) -> URL {
    (root ?? URL(fileURLWithPath: "/nonexistent")).appendingPathComponent(path)
  }

  /// The files of a folder with one of the extensions, by name; none where the folder is absent.
  public static func files(in folder: String, extensions: [String]) -> [URL] {
    guard let root else { return [] }
    let found = try? FileManager.default.contentsOfDirectory(
      at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
    return (found ?? []).filter { extensions.contains($0.pathExtension) }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }
}
