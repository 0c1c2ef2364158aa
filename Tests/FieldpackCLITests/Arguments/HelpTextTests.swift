import FieldpackCore
import Testing

@testable import FieldpackCLI

@Suite struct HelpTextTests {
  /// - Parameter isWhole: whether the options that all commands have stand at the end.
  private func help(_ names: String..., width: Int, isWhole: Bool = true) -> String {
    let text = HelpText(Sample.root.descend(names) ?? [], width: width).text
    guard !isWhole, let range = text.firstRange(of: "\n\nCOMMON OPTIONS:") else { return text }
    return text[..<range.lowerBound] + "\n"
  }

  @Test func `a command shows its words, arguments and options`() {
    #expect(
      help("import", width: 60) == """
        OVERVIEW: Import files.

        USAGE: pack import <file> ... <target> --into <file>
        [<options>]

        ARGUMENTS:
          <file>                  The files.
          <target>                The target.

        OPTIONS:
          -o, --into <file>       The file to write.
          --mode <mode>           What to do. (values: create,
                                  append, replace; default: create)
          -h, --help              Show this help; -h shows less of
                                  it.

        COMMON OPTIONS:
          --json                  Print one JSON document, and
                                  errors as one on standard error.
          -q, --quiet             Do not print notes on standard
                                  error.
          --progress <how>        Show progress on standard error.
                                  (values: auto, bar, plain, none;
                                  default: auto)
          --log-level <level>     Log from this level up, to
                                  standard error without --log-file.
                                  (values: trace, debug, info,
                                  notice, warning, error, critical)
          --log-file <file>       Log to a file; a new one each day,
                                  and seven are kept.
          --log-format <format>   How log lines look. (values: text,
                                  json; default: text)

        """)
  }

  @Test func `a narrow terminal gets narrow columns, but not below 40`() {
    #expect(
      help("query", width: 10, isWhole: false) == """
        OVERVIEW: Answer a query.

        USAGE: pack query <source> [<layer> ...]
        [<options>]

        ARGUMENTS:
          <source>          The source.
          <layer>           The layers.

        OPTIONS:
          --bbox <w,s,e,n>  A box.
          --limit <n>       A limit.
          --sort <columns>  The order.
          -s, --store <id>  A store.
          -c, --count       Only count.
          --srs <EPSG:n>    The output SRS.
          -h, --help        Show this help; -h
                            shows less of it.

        """)
  }

  @Test func `the short help shows the first options, a sentence of each`() {
    #expect(
      HelpText(Sample.root.descend(["query"]) ?? [], width: 80, isShort: true).text == """
        OVERVIEW: Answer a query.

        USAGE: pack query <source> [<layer> ...] [<options>]

        ARGUMENTS:
          <source>                The source.
          <layer>                 The layers.

        OPTIONS:
          --bbox <w,s,e,n>        A box.
          --limit <n>             A limit.
          --sort <columns>        The order.
          -s, --store <id>        A store.
          -c, --count             Only count.
          --srs <EPSG:n>          The output SRS.

        'pack query --help' tells all 12 options.

        """)
  }

  @Test func `neighbours of a family share a line`() {
    let root = Command(
      "pack", abstract: "A pack.",
      subcommands: [
        Command(
          "get", abstract: "Get.", family: "Handle features.", body: Sample.Inner.self),
        Command(
          "delete", abstract: "Delete.", family: "Handle features.", body: Sample.Inner.self),
        Command("sql", abstract: "Run SQL.", body: Sample.Inner.self),
      ])
    #expect(
      HelpText([root], width: 80).text == """
        OVERVIEW: A pack.

        USAGE: pack <command> [<options>] [--help] [--version]

        SUBCOMMANDS:
          get delete              Handle features.
          sql                     Run SQL.

        """)
  }

  @Test func `the dump holds the whole tree`() {
    let command = Command("get", abstract: "Get.", body: Sample.Get.self)
    // What all commands have is at the end.
    let text = command.dump.text.replacing(#/,\{"name":"--json".*\}\],/#, with: "],")
    #expect(
      text == """
        {"name":"get","abstract":"Get.","examples":[],"arguments":[{"name":"source",\
        "help":"The source.","minimum":1,"maximum":1,"completion":{"kind":"source",\
        "extensions":["gpkg","scfg"]}}],"options":[{"name":"--store","short":"-s",\
        "help":"A store.","value":"id","default":null,"is_required":false,"is_repeatable":true,\
        "completion":{"kind":"store"}}],"subcommands":[]}
        """)
  }
}
