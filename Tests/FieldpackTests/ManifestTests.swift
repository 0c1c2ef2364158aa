import FieldpackTestSupport
import Foundation
import Testing

/// The targets of the package, and of the packages that build them once more with other flags.
@Suite(.programs) struct ManifestTests {
  private struct Target {
    var name: String
    var folder: String
    var dependencies: Set<String>
    /// Whether the target is there for tests alone.
    var isTesting: Bool
  }

  /// What each target names or reaches.
  private typealias Graph = [String: Set<String>]

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

  @Test func `the graph in the article on the architecture is the manifest's`() async throws {
    let targets = try await targets(of: ".").filter { !$0.isTesting }
    let graph = Graph(uniqueKeysWithValues: targets.map { ($0.name, $0.dependencies) })
    #expect(try lines(of: documented()) == lines(of: reduced(graph)))
  }

  @Test func `monitoring needs neither XML nor the network`() async throws {
    let targets = try await targets(of: ".")
    let graph = Graph(uniqueKeysWithValues: targets.map { ($0.name, $0.dependencies) })
    let reached = reached(from: "FieldpackMonitoring", in: graph)
    #expect(reached.isSuperset(of: ["FieldpackGeometry", "CGEOS", "CPROJ"]))
    #expect(reached.isDisjoint(with: ["CXML2", "CCURL"]))
  }

  @Test func `a dependency that another one brings is left out of the graph`() {
    let graph: Graph = ["a": ["b", "c", "d"], "b": ["c"], "c": ["d"], "d": [], "e": ["a", "d"]]
    #expect(reduced(graph) == ["a": ["b"], "b": ["c"], "c": ["d"], "d": [], "e": ["a"]])
  }

  /// The rows of the article's tables whose first cell is a target.
  private func documented() throws -> Graph {
    let article = Checkout.file("Sources/Fieldpack/Fieldpack.docc/Architecture.md")
    var graph: Graph = [:]
    for line in try String(contentsOf: article, encoding: .utf8).split(separator: "\n") {
      let cells = line.split(separator: "|").map { cell in
        cell.split(separator: ",").map { String($0.filter { $0.isLetter || $0.isNumber }) }
      }
      guard line.hasPrefix("| `"), cells.count > 2, let name = cells[0].first else { continue }
      graph[name] = Set(cells[1].filter { !$0.isEmpty })
    }
    return graph
  }

  private func lines(of graph: Graph) -> [String] {
    graph.map { "\($0.key) → \($0.value.sorted().joined(separator: ", "))" }.sorted()
  }

  /// The transitive reduction: the smallest graph in which each target reaches what it reaches in this.
  private func reduced(_ graph: Graph) -> Graph {
    graph.mapValues { names in
      names.filter { name in
        !names.contains { $0 != name && reached(from: $0, in: graph).contains(name) }
      }
    }
  }

  private func reached(from name: String, in graph: Graph) -> Set<String> {
    var reached: Set<String> = []
    var waiting = graph[name] ?? []
    while let next = waiting.popFirst() {
      if reached.insert(next).inserted { waiting.formUnion(graph[next] ?? []) }
    }
    return reached
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
      let isTest = target["type"] as? String == "test"
      let parent = isTest ? "Tests" : "Sources"
      let path = target["path"] as? String ?? "\(parent)/\(name)"
      // Each dependency is an object whose one member is a list that begins with the name.
      let dependencies = target["dependencies"] as? [[String: [Any]]] ?? []
      return Target(
        name: name, folder: root.appendingPathComponent(path).path,
        dependencies: Set(dependencies.compactMap { $0.values.first?.first as? String }),
        isTesting: isTest || path.hasPrefix("Tests/"))
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
      text.split(separator: "\n").filter { $0.contains("import ") }
        .compactMap { $0.firstMatch(of: line).map { String($0.name) } })
  }
}
