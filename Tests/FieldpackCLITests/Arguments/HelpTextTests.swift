import FieldpackCore
import Testing

@testable import FieldpackCLI

@Suite struct HelpTextTests {
  private func help(_ names: String..., width: Int) -> String {
    HelpText(Sample.root.descend(names) ?? [], width: width).text
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
          -h, --help              Show this help.

        """)
  }

  @Test func `a narrow terminal gets narrow columns, but not below 40`() {
    #expect(
      help("query", width: 10) == """
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
          -h, --help        Show this help.

        COMMON OPTIONS:
          -q, --quiet       Do not print notes
                            on standard error.

        """)
  }

  @Test func `neighbours of a family share a line`() {
    let root = Command(
      "pack", abstract: "A pack.",
      subcommands: [
        Command("get", abstract: "Get.", family: "Handle features."),
        Command("delete", abstract: "Delete.", family: "Handle features."),
        Command("sql", abstract: "Run SQL."),
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
    let command = Command(
      "get", abstract: "Get.", arguments: [Sample.source],
      options: [OptionGroup(nil, [Sample.store])])
    #expect(
      command.dump.text == """
        {"name":"get","abstract":"Get.","examples":[],"arguments":[{"name":"source",\
        "help":"The source.","minimum":1,"maximum":1,"completion":{"kind":"source",\
        "extensions":["gpkg","scfg"]}}],"options":[{"name":"--store","short":"-s",\
        "help":"A store.","value":"id","default":null,"is_required":false,"is_repeatable":true,\
        "completion":{"kind":"store"}}],"subcommands":[]}
        """)
  }
}
