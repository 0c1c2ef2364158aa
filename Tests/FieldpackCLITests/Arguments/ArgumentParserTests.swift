import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackCLI

/// A small tool to parse for.
enum Sample {
  enum Mode: String, CaseIterable, Sendable { case create, append, replace }

  struct Query: CommandBody {
    struct Options: OptionGroup {
      @Required var source: String
      let layers: [String]
      let box: Envelope?
      let limit: Int?
      let sort: [String]?
      let stores: [String]
      let onlyCounts: Bool
      let srs: SRS?

      init(_ reader: inout OptionReader) {
        _source = reader.argument(
          .text("source", completion: .source(["gpkg", "scfg"])), help: "The source.")
        layers = reader.arguments(.text("layer", completion: .layer), help: "The layers.")
        box = reader.value("bbox", .box, help: "A box.")
        limit = reader.value("limit", .integer("n", in: 0...Int.max), help: "A limit.")
        sort = reader.value("sort", .list("columns", of: .column), help: "The order.")
        stores = reader.values(
          "store", short: "s", .text("id", completion: .store), help: "A store.")
        onlyCounts = reader.flag("count", short: "c", help: "Only count.")
        srs = reader.value("srs", .srs, help: "The output SRS.")
      }
    }

    let invocation: Invocation
    let options: Options

    func run() -> Int32 { 0 }
  }

  struct Import: CommandBody {
    struct Options: OptionGroup {
      let files: [String]
      @Required var target: String
      @Required var into: String
      let mode: Mode

      init(_ reader: inout OptionReader) {
        files = reader.arguments(
          .file("file", "geojson", "gpx"), minimum: 1, help: "The files.")
        _target = reader.argument(.text("target"), help: "The target.")
        _into = reader.required(
          "into", short: "o", .text("file", completion: .source(["gpkg"])),
          help: "The file to write.")
        mode = reader.value(
          "mode", .choice("mode"), default: .create, shownAs: "create", help: "What to do.")
      }
    }

    let invocation: Invocation
    let options: Options

    func run() -> Int32 { 0 }
  }

  struct Get: CommandBody {
    struct Options: OptionGroup {
      @Required var source: String
      let stores: [String]

      init(_ reader: inout OptionReader) {
        _source = reader.argument(
          .text("source", completion: .source(["gpkg", "scfg"])), help: "The source.")
        stores = reader.values(
          "store", short: "s", .text("id", completion: .store), help: "A store.")
      }
    }

    let invocation: Invocation
    let options: Options

    func run() -> Int32 { 0 }
  }

  struct Inner: CommandBody {
    let invocation: Invocation
    let options: NoOptions

    func run() -> Int32 { 0 }
  }

  static let root = Command(
    "pack", abstract: "A pack.",
    subcommands: [
      Command("query", abstract: "Answer a query.", body: Query.self),
      Command("import", abstract: "Import files.", body: Import.self),
      Command(
        "group", abstract: "A group.",
        subcommands: [Command("inner", abstract: "An inner command.", body: Inner.self)]),
      FieldpackTool.helpCommand,
    ])

  static func parse<Options: OptionGroup>(
    _ type: Options.Type, _ words: String...
  ) throws -> (options: Options, common: CommonOptions) {
    var scan = ArgumentScan(root: root)
    for word in words { try scan.take(word) }
    try scan.finish()
    return try scan.texts().filled(type)
  }
}

@Suite struct ArgumentParserTests {
  @Test func `options stand before and after arguments, in every form`() throws {
    let (options, common) = try Sample.parse(
      Sample.Query.Options.self, "-q", "query", "--limit=3", "-s", "a", "field.gpkg", "-sb",
      "-s=c", "wells", "--bbox", "-10,1,2,3", "roads", "-c")
    #expect(common.quiet)
    #expect(options.limit == 3)
    #expect(options.stores == ["a", "b", "c"])
    #expect(options.source == "field.gpkg")
    #expect(options.layers == ["wells", "roads"])
    #expect(options.box == Envelope(minX: -10, minY: 1, maxX: 2, maxY: 3))
    #expect(options.onlyCounts)
  }

  @Test func `what is not given holds its default`() throws {
    let (options, common) = try Sample.parse(Sample.Query.Options.self, "query", "field.gpkg")
    #expect(options.layers == [])
    #expect(options.box == nil)
    #expect(options.stores == [])
    #expect(!options.onlyCounts)
    #expect(options.limit == nil)
    #expect(!common.quiet)
    let imported = try Sample.parse(
      Sample.Import.Options.self, "import", "a", "b", "-o", "x.gpkg"
    ).options
    #expect(imported.mode == .create)
    #expect(imported.into == "x.gpkg")
  }

  @Test func `two dashes end the options`() throws {
    let (options, _) = try Sample.parse(
      Sample.Query.Options.self, "query", "--", "--count", "-q", "--")
    #expect(options.source == "--count")
    #expect(options.layers == ["-q", "--"])
  }

  @Test func `a value may look like an option that is none`() throws {
    let sorted = try Sample.parse(Sample.Query.Options.self, "query", "x", "--sort", "-name,age")
    #expect(sorted.options.sort == ["-name", "age"])
    let negative = try Sample.parse(Sample.Query.Options.self, "query", "-", "-1")
    #expect(negative.options.layers == ["-1"])
  }

  @Test func `arguments after a list keep theirs`() throws {
    let (options, _) = try Sample.parse(
      Sample.Import.Options.self, "import", "a", "b", "c", "--into", "x")
    #expect(options.files == ["a", "b"])
    #expect(options.target == "c")
  }

  @Test(arguments: [
    (["query"], "<source> is missing. Try: pack help query"),
    (["query", "x", "--limt", "3"], "query has no option '--limt'. Try: --limit"),
    (["query", "x", "-z"], "query has no option '-z'. Try: pack help query"),
    (["query", "x", "--limit"], "--limit needs a value. Try: pack help query"),
    (["query", "x", "--limit", "--count"], "--limit needs a value. Try: pack help query"),
    (["query", "x", "--count=1"], "--count takes no value. Try: pack help query"),
    (["query", "x", "-c=1"], "-c takes no value. Try: pack help query"),
    (
      ["query", "x", "--limit", "1", "--limit", "2"],
      "--limit is given more than once. Try: pack help query"
    ),
    (
      ["query", "x", "--limit", "1e3"], "--limit '1e3' is not a whole number. Try: pack help query"
    ),
    (["query", "x", "--limit", "-1"], "--limit '-1' is less than 0. Try: pack help query"),
    (
      ["query", "x", "--limit", "99999999999999999999"],
      "--limit '99999999999999999999' is not a whole number. Try: pack help query"
    ),
    (
      ["query", "x", "--bbox", "1,2,3"],
      "--bbox '1,2,3' is not four numbers: west,south,east,north. Try: pack help query"
    ),
    (
      ["query", "x", "--bbox", "1,5,2,3"],
      "--bbox '1,5,2,3' has its south above its north; the order is west,south,east,north."
        + " Try: pack help query"
    ),
    (
      ["query", "x", "--bbox", "1,nan,2,3"],
      "--bbox '1,nan,2,3' is not a number. Try: pack help query"
    ),
    (
      ["query", "x", "--srs", "+proj=utm"],
      "--srs '+proj=utm' is not an authority and a code such as EPSG:25832. Try: pack help query"
    ),
    (["query", ""], "<source> '' is empty. Try: pack help query"),
    (["query", "x", "--sort", "a,,b"], "--sort 'a,,b' has an empty part. Try: pack help query"),
    (["import", "a", "b"], "--into is missing. Try: pack help import"),
    (["import", "a", "--into", "x"], "<target> is missing. Try: pack help import"),
    (
      ["import", "a", "b", "--into", "x", "--mode", "appendd"],
      "--mode 'appendd' is none of create, append, replace. Try: append"
    ),
    (
      ["import", "a", "b", "--into", "x", "-c"],
      "import has no option '-c'. Try: pack help import"
    ),
    (
      ["-c", "import", "a", "b", "--into", "x"], "there is no option '-c'. Try: pack help"
    ),
    (["qurey"], "there is no command 'qurey'. Try: pack query"),
    (["group", "innre"], "there is no command 'group innre'. Try: pack group inner"),
    (["group", "inner", "x"], "group inner has no place for 'x'. Try: pack help group inner"),
    (["--version=1"], "--version takes no value. Try: pack help"),
    (["help", "quer"], "there is no command 'quer'. Try: pack help query"),
  ])
  func `wrong words are refused with what to try`(words: [String], message: String) {
    let error = #expect(throws: FieldpackError.self) { _ = try Sample.root.parse(words) }
    #expect(error?.message == message)
    #expect(error?.code == .invalidArgument)
  }

  @Test(arguments: [
    (["--help"], "pack"), (["query", "--nope-before", "x"], nil), (["query", "-ch"], nil),
    (["query", "--limit", "x", "--help"], "pack query"), (["group"], "pack group"), ([], "pack"),
    (["help", "group", "inner"], "pack group inner"), (["group", "--help"], "pack group"),
  ])
  func `help is found wherever it stands`(words: [String], title: String?) {
    guard case .help(let path) = try? Sample.root.parse(words) else {
      #expect(title == nil)
      return
    }
    #expect(path.title == title)
  }

  @Test(arguments: [
    (["-h"], "pack"), (["query", "-ch"], "pack query"), (["group", "-h"], "pack group"),
    (["query", "--help", "-h"], nil),
  ])
  func `-h asks for the short help`(words: [String], title: String?) {
    guard case .shortHelp(let path) = try? Sample.root.parse(words) else {
      #expect(title == nil)
      return
    }
    #expect(path.title == title)
  }

  @Test(arguments: OtherVerb.all.indices)
  func `commands of other tools are answered with ours`(index: Int) throws {
    let verb = OtherVerb.all[index]
    let error = #expect(throws: FieldpackError.self) {
      _ = try FieldpackTool.root.parse([verb.name, "x"])
    }
    #expect(
      error?.message == "there is no command '\(verb.name)': \(verb.job). Try: \(verb.example)")
    let words = verb.example.split(separator: "\"", omittingEmptySubsequences: false)
      .enumerated().flatMap { place, text in
        place % 2 == 1 ? [String(text)] : text.split(separator: " ").map(String.init)
      }
    guard words.first == "fieldpack",
      case .run = try FieldpackTool.root.parse(Array(words.dropFirst()))
    else {
      Issue.record("\(verb.example) runs no command")
      return
    }
  }

  @Test(arguments: [
    ("limt", "limit"), ("lmiit", "limit"), ("LIMIT", "limit"), ("lim", "limit"), ("l", nil),
    ("bobx", "bbox"), ("zzzz", nil), ("", nil),
  ])
  func `slips of the hand are recognised`(word: String, near: String?) {
    #expect(Suggestion.nearest(to: word, among: ["limit", "bbox", "sort"]) == near)
  }
}
