import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCLI

@Suite(.programs) struct CompletionRequestTests {
  /// Looks up what the source is called, so that a test sees which one was asked.
  private static let values = CompletionValues(
    stores: { [CompletionCandidate("store of \($0)")] },
    layers: { source in
      [CompletionCandidate("wells", "3 points of \(source)"), CompletionCandidate("a\nb")]
    },
    columns: { source, layers in
      [CompletionCandidate("name", "TEXT"), CompletionCandidate("depth", "\(source) \(layers)")]
    },
    srs: { source in
      ["EPSG:4326", "EPSG:4258"].map { CompletionCandidate($0, source ?? "") }
    })

  @Test(arguments: [
    (["qu"], "words\nquery\tAnswer a query.\n"),
    (["--qu"], "words\n--quiet\tDo not print notes on standard error.\n"),
    (["group", ""], "words\ninner\tAn inner command.\n"),
    (["help", "im"], "words\nimport\tImport files.\n"),
    (["help", "group", ""], "words\ninner\tAn inner command.\n"),
    (["query", ""], "files gpkg scfg\n"),
    (["query", "a.gpkg", "w"], "words\nwells\t3 points of a.gpkg\n"),
    (["query", "a.gpkg", "x", ""], "words\nwells\t3 points of a.gpkg\n"),
    (["query", "a.gpkg", "--store", ""], "words\nstore of a.gpkg\n"),
    (["query", "--nonsense", "a.gpkg", "--sto"], "words\n--store\tA store.\n"),
    (["query", "-c", "a.gpkg", "--co"], "words\n"),
    (["query", "a.gpkg", "-s", "x", "--st"], "words\n--store\tA store.\n"),
    (["query", "--srs", "EPSG:43"], "words\nEPSG:4326\n"),
    (["query", "--srs=EPSG:43"], "words\n--srs=EPSG:4326\n"),
    (["query", "a.gpkg", "--srs", "EPSG:42"], "words\nEPSG:4258\ta.gpkg\n"),
    (["query", "--limit", ""], "words\n"),
    (
      ["query", "a.gpkg", "wells", "--sort", "name,-d"],
      "words nospace\nname,-depth\ta.gpkg [\"wells\"]\n"
    ),
    (["query", "a.gpkg", "--sort=na"], "words nospace\n--sort=name\tTEXT\n"),
    (["import", "--mode", ""], "words\ncreate\nappend\nreplace\n"),
    (["import", "--mode=a"], "words\n--mode=append\n"),
    (["import", ""], "files geojson gpx\n"),
    (["import", "--into", ""], "files gpkg\n"),
    (
      ["import", "-o", "x.gpkg", "a", "--mo"], "words\n--mode\tWhat to do.\n"
    ),
    (["import", "-o", "x.gpkg", "a", "--in"], "words\n"),
    (["import", "--he"], "words\n--help\tShow this help.\n"),
    (
      ["import", "-"],
      """
      words
      --into\tThe file to write.
      --mode\tWhat to do.
      --json\tPrint one JSON document, and errors as one on standard error.
      --quiet\tDo not print notes on standard error.
      --progress\tShow progress on standard error.
      --log-level\tLog from this level up, to standard error without --log-file.
      --log-file\tLog to a file; a new one each day, and seven are kept.
      --log-format\tHow log lines look.
      --help\tShow this help.

      """
    ),
    (["query", "--", "a", "--"], "words\n"),
    (["nope", "x"], "words\n"),
    (
      [],
      "words\nquery\tAnswer a query.\nimport\tImport files.\ngroup\tA group.\n"
        + "help\tShow the help of a command or topic, such as cql2.\n"
    ),
  ])
  func `the tool knows what may follow`(words: [String], answer: String) async {
    let request = CompletionRequest(root: Sample.root, words: ["fish"] + words)
    #expect(await request.answer(from: Self.values) == answer)
  }

  @Test func `words of bash come with their quotes`() async {
    let request = CompletionRequest(
      root: Sample.root, words: ["bash", "query", #"'it'\''s "x".gpkg'"#, "\"w"])
    #expect(
      await request.answer(from: Self.values) == "words\nwells\t3 points of it's \"x\".gpkg\n")
  }

  @Test(arguments: [
    (#"a\ b"#, "a b"), (#""a\"b\c""#, #"a"b\c"#), ("'a\\b'", "a\\b"), ("\"open", "open"),
    (#"x'y'"z""#, "xyz"), ("\\", ""),
  ])
  func `quotes are taken away`(word: String, text: String) {
    #expect(ShellWord.unquote(word) == text)
  }
}

/// The scripts in the shells they are for.
@Suite(.programs) struct CompletionScriptTests {
  private static func isInstalled(_ shell: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(shell)")
    }
  }

  /// A folder to stand in, with a few files, and the tool in `PATH`.
  private func setting() throws -> (folder: TemporaryFolder, environment: [String: String]) {
    let folder = try TemporaryFolder()
    for name in ["one.log", "two words.log"] { _ = try folder.write("", to: name) }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let tool = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path
    return (folder, ["PATH": "\(tool):\(path)"])
  }

  @Test(arguments: [
    ("fieldpack comp", "fieldpack comp", 1, "completions \n"),
    ("cat x | fieldpack completions ", "fieldpack completions ''", 2, "bash \nzsh \nfish \n"),
    ("fieldpack completions --log-fo", "fieldpack completions --log-fo", 2, "--log-format \n"),
    (
      "fieldpack completions --log-level=no", "fieldpack completions --log-level = no", 4,
      "notice \n"
    ),
    (
      "fieldpack completions --log-file t", "fieldpack completions --log-file t", 3,
      "two words.log \n"
    ),
    (
      "fieldpack completions --log-file=o", "fieldpack completions --log-file = o", 4,
      "one.log \n"
    ),
  ])
  func `bash`(line: String, words: String, index: Int, reply: String) async throws {
    let (folder, environment) = try setting()
    let script = """
      eval "$(fieldpack completions bash)"
      COMP_LINE='\(line)' COMP_WORDS=(\(words)) COMP_CWORD=\(index)
      _fieldpack
      ((${#COMPREPLY[@]})) && printf '%s \\n' "${COMPREPLY[@]}"
      """
    let result = try await Program.run(
      "bash", ["-c", script], environment: environment, folder: folder.url)
    #expect(result.output == reply)
    #expect(result.error == "")
  }

  @Test(
    .enabled(if: isInstalled("fish")),
    arguments: [
      ("fieldpack comp", "completions\tPrint completions for a shell.\n"),
      ("fieldpack completions --log-fo", "--log-format\tHow log lines look.\n"),
      ("fieldpack completions --log-level no", "notice\n"),
      ("fieldpack completions --log-level=no", "--log-level=notice\n"),
      ("fieldpack completions --log-file t", "two words.log\n"),
      ("fieldpack completions --log-file=o", "--log-file=one.log\n"),
    ])
  func `fish`(line: String, reply: String) async throws {
    let (folder, environment) = try setting()
    let result = try await Program.run(
      "fish", ["-N", "-c", "fieldpack completions fish | source; complete -C '\(line)'"],
      environment: environment, folder: folder.url)
    #expect(result.output == reply)
    #expect(result.error == "")
  }

  @Test(
    .enabled(if: isInstalled("zsh")),
    arguments: [
      ("fieldpack comp", "fieldpack completions "),
      ("fieldpack completions --log-fo", "fieldpack completions --log-format "),
      ("fieldpack completions --log-level=no", "fieldpack completions --log-level=notice "),
      ("fieldpack completions --log-file t", "fieldpack completions --log-file two\\ words.log "),
      ("fieldpack completions --log-file=o", "fieldpack completions --log-file=one.log "),
    ])
  func `zsh`(line: String, completed: String) async throws {
    let (folder, environment) = try setting()
    // A shell on a terminal of its own: the key after the tab writes the line to a file.
    let script = """
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell 'PS1="" PS2="" RPS1=""; unsetopt zle_bracketed_paste beep'
      zpty -w shell 'autoload -Uz compinit; compinit -u -D; source <(fieldpack completions zsh)'
      zpty -w shell 'show() { print -rn -- "$BUFFER" > line; exit }; zle -N show; bindkey "^X" show'
      zpty -w shell 'print ready > ready'
      until [[ -e ready ]] { sleep 0.05 }
      sleep 0.2
      zpty -n -w shell $'\(line)\\t\\C-x'
      until [[ -s line ]] { sleep 0.05 }
      cat line
      zpty -d shell
      """
    let result = try await Program.run(
      "zsh", ["-f", "-c", script], environment: environment, folder: folder.url)
    #expect(result.output == completed)
  }
}
