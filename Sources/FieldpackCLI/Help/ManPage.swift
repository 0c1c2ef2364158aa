import FieldpackCore

/// The page of a command for `man`, in roff, of the same declarations as the help.
struct ManPage {
  private let path: [Command]
  private let declaration: Declaration

  init(_ path: [Command]) {
    self.path = path
    declaration = path.last?.declaration() ?? Declaration()
  }

  /// `fieldpack-track-list`, as the page is called.
  var name: String { path.map(\.name).joined(separator: "-") }

  var text: String {
    guard let command = path.last else { return "" }
    var lines = [
      ".TH \(name.uppercased()) 1 \"\" \"fieldpack \(FieldpackTool.version)\"",
      ".SH NAME", Self.escaped("\(name) - \(command.abstract.prefix { $0 != "." })"),
      ".SH SYNOPSIS", ".B " + Self.escaped(path.map(\.name).joined(separator: " ")),
      Self.escaped(synopsis(command)),
    ]
    if !command.discussion.isEmpty {
      lines.append(".SH DESCRIPTION")
      for line in command.discussion.split(separator: "\n", omittingEmptySubsequences: false) {
        lines.append(line.isEmpty ? ".PP" : Self.escaped(line))
      }
    }
    lines += list("ARGUMENTS", declaration.arguments.map { ("<\($0.name)>", $0.explanation) })
    if command.subcommands.isEmpty {
      for section in declaration.sections {
        lines += list(
          section.title?.uppercased() ?? "OPTIONS",
          section.options.map { ($0.label, $0.explanation) })
      }
    }
    lines += list("COMMANDS", command.subcommands.map { ($0.name, $0.abstract) })
    if !command.examples.isEmpty {
      lines += [".SH EXAMPLES", ".nf"] + command.examples.map { Self.escaped($0) } + [".fi"]
    }
    return (lines + seeAlso(command)).joined(separator: "\n") + "\n"
  }

  private func synopsis(_ command: Command) -> String {
    var words = command.subcommands.isEmpty ? [] : ["<command>"]
    words += declaration.arguments.map(\.usage)
    words += declaration.options.filter(\.isRequired).map {
      "\($0.title) <\($0.placeholder ?? "")>"
    }
    return (words + ["[<options>]"]).joined(separator: " ")
  }

  private func list(_ title: String, _ entries: [(label: String, text: String)]) -> [String] {
    guard !entries.isEmpty else { return [] }
    return [".SH \(Self.escaped(title))"]
      + entries.flatMap { [".TP", "\\fB\(Self.escaped($0.label))\\fR", Self.escaped($0.text)] }
  }

  /// The pages of the commands below and above this one.
  private func seeAlso(_ command: Command) -> [String] {
    let below = command.subcommands.map { "\(name)-\($0.name)" }
    let above = path.count > 1 ? [path.dropLast().map(\.name).joined(separator: "-")] : []
    let pages = (above + below).map { ".BR \(Self.escaped($0)) (1)" }
    return pages.isEmpty ? [] : [".SH SEE ALSO"] + pages
  }

  /// Text that roff shows as it is.
  private static func escaped(_ text: some StringProtocol) -> String {
    let shown = String(text).replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return shown.first == "." || shown.first == "'" ? "\\&" + shown : shown
  }
}
