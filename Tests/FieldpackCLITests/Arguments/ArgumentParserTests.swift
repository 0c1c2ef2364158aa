import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackCLI

/// A small tool to parse for.
enum Sample {
  enum Mode: String, CaseIterable, Sendable { case create, append, replace }

  static let source = Argument<String>.required(
    .text("source", completion: .source(["gpkg", "scfg"])), help: "The source.")
  static let layers = Argument<[String]>.list(
    .text("layer", completion: .layer), help: "The layers.")
  static let files = Argument<[String]>.list(
    .file("file", "geojson", "gpx"), minimum: 1, help: "The files.")
  static let target = Argument<String>.required(.text("target"), help: "The target.")
  static let box = Option<Envelope?>.value("bbox", .box, help: "A box.")
  static let limit = Option<Int?>.value("limit", .integer("n", in: 0...Int.max), help: "A limit.")
  static let sort = Option<[String]?>.value(
    "sort", .list("columns", of: .column), help: "The order.")
  static let store = Option<[String]>.values(
    "store", short: "s", .text("id", completion: .store), help: "A store.")
  static let count = Option<Bool>.flag("count", short: "c", help: "Only count.")
  static let mode = Option<Mode>.value(
    "mode", .choice("mode"), default: .create, shownAs: "create", help: "What to do.")
  static let into = Option<String>.required(
    "into", short: "o", .text("file", completion: .source(["gpkg"])), help: "The file to write.")
  static let srs = Option<SRS?>.value("srs", .srs, help: "The output SRS.")

  static let root = Command(
    "pack", abstract: "A pack.",
    options: [OptionGroup(nil, [CommonOptions.quiet])],
    subcommands: [
      Command(
        "query", abstract: "Answer a query.", arguments: [source, layers],
        options: [
          OptionGroup(nil, [box, limit, sort, store, count, srs]),
          OptionGroup("Common options", [CommonOptions.quiet]),
        ], body: { _ in 0 }),
      Command(
        "import", abstract: "Import files.", arguments: [files, target],
        options: [OptionGroup(nil, [into, mode])], body: { _ in 0 }),
      Command(
        "group", abstract: "A group.",
        subcommands: [
          Command("inner", abstract: "An inner command.", body: { _ in 0 })
        ]),
      Command("help", abstract: "Show help.", arguments: [Sample.topics]),
    ])

  static let topics = Argument<[String]>.list(.text("command"), help: "The command.")

  static func parse(_ words: String...) throws -> ParsedArguments {
    guard case .run(_, _, let arguments) = try root.parse(words) else {
      throw RunExpected()
    }
    return arguments
  }

  struct RunExpected: Error {}
}

@Suite struct ArgumentParserTests {
  @Test func `options stand before and after arguments, in every form`() throws {
    let arguments = try Sample.parse(
      "-q", "query", "--limit=3", "-s", "a", "field.gpkg", "-sb", "-s=c", "wells", "--bbox",
      "-10,1,2,3", "roads", "-c")
    #expect(arguments[CommonOptions.quiet])
    #expect(arguments[Sample.limit] == 3)
    #expect(arguments[Sample.store] == ["a", "b", "c"])
    #expect(arguments[Sample.source] == "field.gpkg")
    #expect(arguments[Sample.layers] == ["wells", "roads"])
    #expect(arguments[Sample.box] == Envelope(minX: -10, minY: 1, maxX: 2, maxY: 3))
    #expect(arguments[Sample.count])
  }

  @Test func `what is not given holds its default`() throws {
    let arguments = try Sample.parse("query", "field.gpkg")
    #expect(arguments[Sample.layers] == [])
    #expect(arguments[Sample.box] == nil)
    #expect(arguments[Sample.store] == [])
    #expect(!arguments[Sample.count])
    #expect(!arguments.contains(Sample.limit))
    let imported = try Sample.parse("import", "a", "b", "-o", "x.gpkg")
    #expect(imported[Sample.mode] == .create)
    #expect(imported[Sample.into] == "x.gpkg")
  }

  @Test func `two dashes end the options`() throws {
    let arguments = try Sample.parse("query", "--", "--count", "-q", "--")
    #expect(arguments[Sample.source] == "--count")
    #expect(arguments[Sample.layers] == ["-q", "--"])
  }

  @Test func `a value may look like an option that is none`() throws {
    #expect(try Sample.parse("query", "x", "--sort", "-name,age")[Sample.sort] == ["-name", "age"])
    #expect(try Sample.parse("query", "-", "-1")[Sample.layers] == ["-1"])
  }

  @Test func `arguments after a list keep theirs`() throws {
    let arguments = try Sample.parse("import", "a", "b", "c", "--into", "x")
    #expect(arguments[Sample.files] == ["a", "b"])
    #expect(arguments[Sample.target] == "c")
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
      ["import", "a", "b", "--into", "x", "-q"],
      "import has no option '-q'. Try: pack help import"
    ),
    (
      ["-q", "import", "a", "b", "--into", "x"],
      "import has no option '--quiet'. Try: pack help import"
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
    (["--help"], "pack"), (["query", "--nope-before", "x"], nil), (["query", "-ch"], "pack query"),
    (["query", "--limit", "x", "--help"], "pack query"), (["group"], "pack group"), ([], "pack"),
    (["help", "group", "inner"], "pack group inner"), (["group", "-h"], "pack group"),
  ])
  func `help is found wherever it stands`(words: [String], title: String?) {
    guard case .help(let path) = try? Sample.root.parse(words) else {
      #expect(title == nil)
      return
    }
    #expect(path.title == title)
  }

  @Test(arguments: [
    ("limt", "limit"), ("lmiit", "limit"), ("LIMIT", "limit"), ("lim", "limit"), ("l", nil),
    ("bobx", "bbox"), ("zzzz", nil), ("", nil),
  ])
  func `slips of the hand are recognised`(word: String, near: String?) {
    #expect(Suggestion.nearest(to: word, among: ["limit", "bbox", "sort"]) == near)
  }
}
