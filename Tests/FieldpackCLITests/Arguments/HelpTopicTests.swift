import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCLI

@Suite struct HelpTopicTests {
  @Test(arguments: HelpTopic.all.indices)
  func `each line of a topic stands in its article`(index: Int) throws {
    let topic = HelpTopic.all[index]
    let url = Checkout.file("Sources/Fieldpack/Fieldpack.docc/\(topic.article).md")
    let lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
    let article = Set(lines)
    for line in topic.markdown.components(separatedBy: "\n") {
      #expect(article.contains(line))
    }
  }

  /// The names in code quotes that begin the rows of an article's tables.
  private func rows(_ article: String) throws -> [Substring] {
    let url = Checkout.file("Sources/Fieldpack/Fieldpack.docc/\(article).md")
    return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").filter {
      $0.hasPrefix("| `")
    }
  }

  @Test(arguments: [
    ("functions", "GeometryFunctions"), ("cql2", "CQL2"), ("styles", "KeysAndStyles"),
  ])
  func `a topic has every row of its article's tables`(name: String, article: String) throws {
    let topic = try #require(HelpTopic.named(name))
    let lines = Set(topic.markdown.split(separator: "\n"))
    let left = try rows(article).filter { !lines.contains($0) }
    #expect(left == [])
  }

  @Test func `exit statuses are those of the codes`() throws {
    let text = HelpTopic.exitStatus.markdown
    for code in FieldpackError.Code.all {
      let row = try #require(text.split(separator: "\n").first { $0.contains("`\(code.name)`") })
      #expect(row.hasSuffix("| \(code.exitStatus) |"))
    }
  }

  @Test func `Markdown is laid out for a terminal`() {
    let markdown = """
      A paragraph whose second line
      is `joined` to it.

      - An entry that is longer than a line has
        room for.
      - Another.

      ### A table

      | Name | What it is |
      | --- | --- |
      | `a`, `b` | both |
      | a name that is long | the second |

      | Name | Read | Written | Notes |
      | --- | --- | --- | --- |
      | GPX | yes | 1.1 | |

      ```sql
      SELECT 1;
      ```
      """
    #expect(
      MarkdownText(markdown, width: 40).text == """
        A paragraph whose second line is joined
        to it.

          - An entry that is longer than a line
            has room for.
          - Another.

        A TABLE:

          a, b              both
          a name that is long
                            the second

          GPX               read yes; written
                            1.1

          SELECT 1;

        """)
  }

  @Test func `a page for man holds what the help does`() {
    #expect(
      ManPage(Sample.root.descend(["import"]) ?? []).text.components(separatedBy: "\n").prefix(22)
        == [
          ".TH PACK-IMPORT 1 \"\" \"fieldpack \(FieldpackTool.version)\"", ".SH NAME",
          "pack\\-import \\- Import files", ".SH SYNOPSIS", ".B pack import",
          "<file> ... <target> \\-\\-into <file> [<options>]", ".SH ARGUMENTS", ".TP",
          "\\fB<file>\\fR", "The files.", ".TP", "\\fB<target>\\fR", "The target.", ".SH OPTIONS",
          ".TP", "\\fB\\-o, \\-\\-into <file>\\fR", "The file to write.", ".TP",
          "\\fB\\-\\-mode <mode>\\fR",
          "What to do. (values: create, append, replace; default: create)", ".SH COMMON OPTIONS",
          ".TP",
        ])
    #expect(
      ManPage([Sample.root]).text.hasSuffix(
        ".SH SEE ALSO\n"
          + Sample.root.subcommands.map { ".BR pack\\-\($0.name) (1)\n" }.joined()))
  }

  @Test func `help tells topics, pages and their documents`() throws {
    let root = FieldpackTool.root
    guard case .topic(let topic) = try root.parse(["help", "cql2"]) else {
      Issue.record("cql2 is no topic")
      return
    }
    #expect(topic.text(width: 80).hasPrefix("cql2: Conditions of --where"))
    guard case .dump(let document) = try root.parse(["help", "keys", "--json"]) else {
      Issue.record("keys has no document")
      return
    }
    #expect(document.text.hasPrefix(#"{"name":"keys","abstract":"Key tuples"#))
    guard case .manual(let path) = try root.parse(["help", "track", "list", "--man"]) else {
      Issue.record("track list has no page")
      return
    }
    #expect(path.title == "fieldpack track list")
    #expect(throws: FieldpackError.self) { try root.parse(["help", "cql2", "x"]) }
  }
}
