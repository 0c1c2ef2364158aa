import FieldpackTestSupport
import Foundation
import Testing

@Suite struct SecurityPageTests {
  @Test func `each promise of SECURITY names a test that is there`() throws {
    let page = try String(contentsOf: Checkout.file("SECURITY.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }
      .filter { !$0.hasPrefix("| What may") && !$0.hasPrefix("| ---") }
    let named = rows.compactMap { $0.firstMatch(of: #/\| `(\w+Tests)`: ([^|]+) \|$/#)?.output }
    #expect(!rows.isEmpty && named.count == rows.count, "rows without a test")
    var suites: [String: String] = [:]
    let files = FileManager.default.enumerator(
      at: Checkout.file("Tests"), includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      // Two targets may have a suite of the same name.
      suites[file.deletingPathExtension().lastPathComponent, default: ""] += try String(
        contentsOf: file, encoding: .utf8)
    }
    let missing = named.filter { suites[String($0.1)]?.contains("func `\($0.2)`") != true }
    #expect(missing.map { "\($0.1): \($0.2)" } == [])
  }
}
