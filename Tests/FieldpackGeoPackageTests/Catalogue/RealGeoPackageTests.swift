import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Every real and every damaged file: what is read of it, word for word, and that reading leaves
/// no trace.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct RealGeoPackageTests {
  /// `folder/file` to lines, from `TestData/gpkg/outcomes.txt`.
  static let outcomes: [String: [String]] = {
    let table = Checkout.file("TestData/gpkg/outcomes.txt")
    let text = (try? String(contentsOf: table, encoding: .utf8)) ?? ""
    var outcomes: [String: [String]] = [:]
    var file = ""
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      if line.hasPrefix("== ") {
        file = String(line.dropFirst(3))
        outcomes[file] = []
      } else {
        outcomes[file, default: []].append(String(line))
      }
    }
    return outcomes
  }()

  static let files = ["gpkg", "gpkg-malformed"].flatMap { folder in
    SharedData.files(in: "real/" + folder, extensions: ["gpkg"]).map {
      "\(folder)/\($0.lastPathComponent)"
    }
  }

  @Test(arguments: files)
  func `is read as the table says, without a trace`(file: String) async throws {
    let package = try TestPackage(copying: SharedData.url("real/" + file))
    let before = try Data(contentsOf: URL(fileURLWithPath: package.path))
    let lines = await Survey.lines(of: package.path)
    #expect(lines == Self.outcomes[file], "\(lines.joined(separator: "\n"))")
    #expect(try Data(contentsOf: URL(fileURLWithPath: package.path)) == before)
    #expect(try package.names() == [URL(fileURLWithPath: package.path).lastPathComponent])
  }

  @Test func `names every file of the folders`() {
    #expect(Set(Self.files).symmetricDifference(Self.outcomes.keys) == [])
  }

  @Test func `reads a file of a folder that cannot be written`() async throws {
    let package = try TestPackage(copying: SharedData.url("real/gpkg-malformed/d_wal_mode.gpkg"))
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: package.path)
    try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: package.folder.url.path)
    let lines = await Survey.lines(of: package.path)
    try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: package.folder.url.path)
    #expect(lines == Self.outcomes["gpkg-malformed/d_wal_mode.gpkg"])
    #expect(try package.names() == ["d_wal_mode.gpkg"])
  }
}
