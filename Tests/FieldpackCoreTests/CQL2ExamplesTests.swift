import FieldpackCore
import Foundation
import Testing

private enum Examples {
  static let folder = ProcessInfo.processInfo.environment["FIELDPACK_CQL2_EXAMPLES"]
}

/// The examples of OGC 21-065r2, which are not in this repository: `FIELDPACK_CQL2_EXAMPLES` names
/// the folder `cql2/standard/schema/examples` of the standard's own repository.
@Suite(.enabled(if: Examples.folder != nil, "FIELDPACK_CQL2_EXAMPLES is not set"))
struct CQL2ExamplesTests {
  private static func texts(_ kind: String, _ suffix: String) throws -> [String: String] {
    let url = URL(fileURLWithPath: Examples.folder ?? "").appendingPathComponent(kind)
    var texts: [String: String] = [:]
    for file in try FileManager.default.contentsOfDirectory(
      at: url, includingPropertiesForKeys: nil) where file.pathExtension == suffix
    {
      let stem = file.deletingPathExtension().lastPathComponent
      texts[stem] = try String(contentsOf: file, encoding: .utf8)
    }
    return texts
  }

  /// Functions that a server brings itself.
  private static func isForeign(_ error: FieldpackError) -> Bool {
    error.message.contains("function '") || error.message.contains("operation '")
      || error.message.contains("no operation gives a geometry")
  }

  private static func read(_ text: String, isJSON: Bool) throws -> Filter? {
    do throws(FieldpackError) {
      return isJSON ? try Filter(cql2JSON: text) : try Filter(cql2: text)
    } catch {
      if isForeign(error) { return nil }
      throw error
    }
  }

  @Test func `text and JSON of each example are the same filter`() throws {
    let json = try Self.texts("json", "json")
    var pairs = 0
    for (name, text) in try Self.texts("text", "txt").sorted(by: { $0.key < $1.key }) {
      do {
        guard let filter = try Self.read(text, isJSON: false) else { continue }
        let again = try Filter(cql2JSON: filter.cql2JSON)
        #expect(again == filter, "\(name)")
        #expect(try Filter(cql2: filter.cql2Text) == filter, "\(name)")
        guard let other = json[name], let read = try Self.read(other, isJSON: true) else {
          continue
        }
        pairs += 1
        #expect(read == filter, "\(name): \(text)")
      } catch {
        Issue.record("\(name): \(error): \(text)")
      }
    }
    #expect(pairs > 60)
  }

  @Test func `every example in JSON is read`() throws {
    for (name, text) in try Self.texts("json", "json").sorted(by: { $0.key < $1.key }) {
      do {
        _ = try Self.read(text, isJSON: true)
      } catch {
        Issue.record("\(name): \(error): \(text)")
      }
    }
  }
}
