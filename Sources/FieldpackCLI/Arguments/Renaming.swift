import FieldpackCore

/// A spelling of an earlier version, which answers with the one of today.
struct Renaming: Sendable {
  enum Word: Hashable, Sendable {
    case command(String)
    /// With its dashes.
    case option(String)
    /// A word more than the command takes.
    case extraWord
    /// A word less.
    case missingWord
  }

  /// The words that lead to the command, after the tool's name; empty for the tool itself.
  let command: String
  let word: Word
  let old: String
  let new: String
  /// What to type: a whole command line, or an option.
  let example: String

  private init(
    _ command: String, _ word: Word, _ old: String, now new: String, try example: String
  ) {
    self.command = command
    self.word = word
    self.old = old
    self.new = new
    self.example = example
  }

  var error: FieldpackError {
    FieldpackError(.invalidArgument, "'\(old)' is now '\(new)'. Try: \(example)")
  }

  /// What the word of a command is called now; `nil` where it was never one.
  static func of(_ word: Word, _ path: [Command]) -> Renaming? {
    let command = path.dropFirst().map(\.name).joined(separator: " ")
    return all.first { $0.command == command && $0.word == word }
  }

  static let all: [Renaming] = commands + options + words

  private static let commands = [
    Renaming(
      "layer", .command("drop"), "layer drop", now: "layer delete",
      try: "fieldpack layer delete field.gpkg:wells"),
    Renaming(
      "", .command("photos"), "photos", now: "photo list, photo fetch and photo export",
      try: "fieldpack photo list field.gpkg"),
    Renaming(
      "track show", .missingWord, "track show FILE", now: "track list FILE",
      try: "fieldpack track list field.gpkg"),
  ]

  private static let options =
    ["query", "export", "explain"].map { command in
      Renaming(
        command, .option("--within"), "--within", now: "--max-distance",
        try: "--near 13.88,51.94 --max-distance 500")
    } + [
      Renaming(
        "track record", .option("--monitor"), "--monitor", now: "--sampling",
        try: "--sampling region:80"),
      Renaming(
        "track record", .option("--within"), "--within", now: "--max-distance",
        try: "--max-distance 200"),
      Renaming(
        "motion join", .option("--gap"), "--gap", now: "--max-gap", try: "--max-gap 30"),
      Renaming(
        "motion show", .option("--within"), "--within", now: "--max-gap", try: "--max-gap 0.1"),
      Renaming(
        "motion show", .option("--svg"), "motion show --svg", now: "motion export --output",
        try: "fieldpack motion export field.gpkg --output motion.svg"),
      Renaming(
        "capture list", .option("--radius"), "--radius", now: "--max-distance",
        try: "--max-distance 500"),
      Renaming(
        "capture list", .option("--svg"), "capture list --svg", now: "capture export --output",
        try: "fieldpack capture export field.gpkg --output captures.svg"),
    ]
    + ["capture add", "capture record"].map { command in
      Renaming(
        command, .option("--layer"), "--fixes SOURCE --layer LAYER", now: "--fixes SOURCE:LAYER",
        try: "--fixes walk.gpx:track_points")
    }

  private static let words =
    [
      ("monitor", ""), ("track record", " --into field.gpkg"),
    ].map { command, rest in
      Renaming(
        command, .extraWord, "\(command) SOURCE LAYER", now: "\(command) SOURCE:LAYER",
        try: "fieldpack \(command) walk.gpx:track_points\(rest)")
    } + [
      Renaming(
        "motion join", .extraWord, "motion join FILE SOURCE LAYER",
        now: "motion join FILE SOURCE:LAYER",
        try: "fieldpack motion join field.gpkg walk.gpx:track_points")
    ]
}
