public import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder of real files that the data tests read, from `FIELDPACK_DATA`, by default
/// `../shared/data` beside the checkout.
public enum SharedData {
  public static let root: URL? = {
    let named = ProcessInfo.processInfo.environment["FIELDPACK_DATA"]
    let folder =
      named.map { URL(fileURLWithPath: $0) }
      ?? Checkout.file("../shared/data").standardizedFileURL
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder)
    return exists && isFolder.boolValue ? folder : nil
  }()

  /// Whether the folder is there; as a condition of a test it also notes which test asked, in the
  /// file that `FIELDPACK_DATA_LOG` names, so that a run can tell how many tests read real data.
  public static var isPresent: Bool {
    if let log, let test = Test.current, !test.isSuite {
      let line = "\(root == nil ? "absent" : "present") \(test.id)\n"
      // One write at the end of the file: lines of tests that run at once do not mix.
      line.withCString { _ = write(log, $0, strlen($0)) }
    }
    return root != nil
  }

  private static let log: Int32? = {
    guard let path = ProcessInfo.processInfo.environment["FIELDPACK_DATA_LOG"] else { return nil }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    return descriptor < 0 ? nil : descriptor
  }()

  /// Why a data test is skipped; use it as the comment of `.enabled(if: SharedData.isPresent, …)`.
  public static let absent = "the data folder is absent: set FIELDPACK_DATA to run this test"

  /// A file or folder below the data folder. Call it only in tests enabled by `isPresent`.
  public static func url(_ path: String) -> URL {
    (root ?? Checkout.file("no data folder")).appendingPathComponent(path)
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
