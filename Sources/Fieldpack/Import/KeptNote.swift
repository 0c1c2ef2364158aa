import FieldpackCore

/// A note of an import as a document of the GeoPackage that the import made: a JSON object with the
/// text and, where it has advice, the advice's name and what it names.
enum KeptNote {
  static func text(of note: Note) -> String {
    let advice = note.advice.flatMap(words)
    return JSONValue.members(["text": .text(note.text), "advice": advice.map { JSONValue($0) }])
      .text
  }

  /// - Returns: `nil` for what is no such document.
  static func note(of text: String) -> Note? {
    guard let json = try? JSONValueReader.read(text), let said = json["text"]?.string else {
      return nil
    }
    guard case .array(let words)? = json["advice"] else { return Note(said) }
    return Note(said, advice: advice(of: words.compactMap(\.string)))
  }

  /// The advice that imports give; `nil` for all other, with which a note is kept without it.
  private static func words(_ advice: FieldpackError.Advice) -> [String]? {
    switch advice {
    case .nameSourceSRS: ["nameSourceSRS"]
    case .nameOtherSourceSRS: ["nameOtherSourceSRS"]
    case .nameEncoding: ["nameEncoding"]
    case .nameDelimiter(let delimiter): ["nameDelimiter", delimiter]
    case .nameDecimalSign(let sign): ["nameDecimalSign", sign]
    case .nameWKTColumn(let column): ["nameWKTColumn", column]
    case .nameIDColumn(let column): ["nameIDColumn", column]
    case .nameCoordinates(let x, let y): ["nameCoordinates", x, y]
    default: nil
    }
  }

  private static func advice(of words: [String]) -> FieldpackError.Advice? {
    switch (words.first, words.count) {
    case ("nameSourceSRS", 1): .nameSourceSRS
    case ("nameOtherSourceSRS", 1): .nameOtherSourceSRS
    case ("nameEncoding", 1): .nameEncoding
    case ("nameDelimiter", 2): .nameDelimiter(words[1])
    case ("nameDecimalSign", 2): .nameDecimalSign(words[1])
    case ("nameWKTColumn", 2): .nameWKTColumn(words[1])
    case ("nameIDColumn", 2): .nameIDColumn(words[1])
    case ("nameCoordinates", 3): .nameCoordinates(x: words[1], y: words[2])
    default: nil
    }
  }
}
