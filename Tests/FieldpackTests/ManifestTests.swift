import FieldpackTestSupport
import Foundation
import Testing

/// The targets of the package, and of the packages that build them once more with other flags.
@Suite(.programs) struct ManifestTests {
  private struct Target {
    var name: String
    var folder: String
    var dependencies: Set<String>
  }

  @Test(arguments: [".", "Tests/Fuzz", "Tests/Sanitize"])
  func `no target imports a module that it does not declare`(package: String) async throws {
    let targets = try await targets(of: package)
    #expect(targets.count > 8)
    var (imported, undeclared): (Set<String>, Set<String>) = ([], [])
    for target in targets {
      for file in try swiftFiles(in: target.folder) {
        for module in try imports(of: file)
        where module.hasPrefix("Fieldpack") || targets.contains(where: { $0.name == module }) {
          imported.insert(module)
          guard module != target.name, !target.dependencies.contains(module) else { continue }
          undeclared.insert("\(target.name) imports \(module)")
        }
      }
    }
    #expect(imported.isSuperset(of: ["FieldpackCore", "FieldpackGeometry", "FieldpackThreads"]))
    #expect(undeclared.sorted() == [])
  }

  /// The targets as SwiftPM reads them from a manifest.
  private func targets(of package: String) async throws -> [Target] {
    let root = Checkout.file(package)
    let scratch = try TemporaryFolder()
    let dumped = try await Program.run(
      "swift",
      [
        "package", "--package-path", root.path, "--scratch-path", scratch.url.path, "dump-package",
      ])
    try #require(dumped.status == 0, "\(dumped)")
    let manifest = try JSONSerialization.jsonObject(with: Data(dumped.output.utf8))
    let list = (manifest as? [String: Any])?["targets"] as? [[String: Any]]
    return try #require(list).map { target in
      let name = try #require(target["name"] as? String)
      let parent = target["type"] as? String == "test" ? "Tests" : "Sources"
      let path = target["path"] as? String ?? "\(parent)/\(name)"
      // Each dependency is an object whose one member is a list that begins with the name.
      let dependencies = target["dependencies"] as? [[String: [Any]]] ?? []
      return Target(
        name: name, folder: root.appendingPathComponent(path).path,
        dependencies: Set(dependencies.compactMap { $0.values.first?.first as? String }))
    }
  }

  private func swiftFiles(in folder: String) throws -> [URL] {
    // Folders of the other packages are links.
    let folder = URL(fileURLWithPath: folder).resolvingSymlinksInPath()
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".swift") }.map { folder.appendingPathComponent($0) }
  }

  private func imports(of file: URL) throws -> Set<String> {
    let line =
      #/
      ^\s* (@\w+ (\([^)]*\))? \s+)* ((public|package|internal|fileprivate|private)\s+)?
      import \s+ ((struct|class|enum|protocol|func|var|let|typealias)\s+)? (?<name>\w+)
      /#
    let text = try String(contentsOf: file, encoding: .utf8)
    return Set(
      text.split(separator: "\n").compactMap { $0.firstMatch(of: line).map { String($0.name) } })
  }
}
