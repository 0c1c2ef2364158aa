/// What exactly a sensor captures: wsabi2's submodality.
///
/// The numbers are wsabi2's, from 0 to 50.
public enum CaptureType: Int, Hashable, Sendable, CaseIterable {
  case notSet, rightThumbRolled, rightIndexRolled, rightMiddleRolled, rightRingRolled,
    rightLittleRolled, rightThumbFlat, rightIndexFlat, rightMiddleFlat, rightRingFlat,
    rightLittleFlat, leftThumbRolled, leftIndexRolled, leftMiddleRolled, leftRingRolled,
    leftLittleRolled, leftThumbFlat, leftIndexFlat, leftMiddleFlat, leftRingFlat, leftLittleFlat,
    leftSlap, rightSlap, thumbsSlap, leftIris, rightIris, bothIrises, face2d, face3d, leftEar,
    rightEar, bothEars, leftVein, rightVein, palm, backOfHand, wrist, leftRetina, rightRetina,
    bothRetinas, leftFoot, rightFoot, bothFeet, scent, dna, handGeometry, voice, gait, keystroke,
    lipMovement, signature

  /// What a sensor calls it in its parameter `submodality`, such as `RightThumbRolled`. Empty where
  /// nothing is set.
  public var parameterName: String {
    switch self {
    case .notSet: ""
    case .face2d: "Face2d"
    case .face3d: "Face3d"
    case .dna: "Dna"
    default: Self.capitalized("\(self)")
    }
  }

  /// What people read, such as `Right Thumb (Rolled)`.
  public var title: String {
    switch self {
    case .notSet: "Capture Type Not Set"
    case .face2d: "Face"
    case .face3d: "Face (3D)"
    case .dna: "DNA"
    default: titleOfWords
    }
  }

  /// The type of a parameter's name in any case; `nil` for any other text.
  public init?(parameterName text: String) {
    let lower = text.lowercased()
    guard let found = Self.allCases.first(where: { $0.parameterName.lowercased() == lower }) else {
      return nil
    }
    self = found
  }

  /// What part of a person it is of; `nil` where nothing is set.
  public var modality: Modality? {
    if self == .keystroke { return .other }
    return Modality.allCases.first { $0.captureTypes.contains(self) }
  }

  /// What can be noted for each part of a capture, in order: the four fingers of a slap, or both of a
  /// pair; one unnamed part for all others.
  public var annotatedParts: [String] {
    switch self {
    case .leftSlap, .rightSlap: ["Index", "Middle", "Ring", "Little"]
    case .thumbsSlap, .bothEars, .bothFeet, .bothIrises, .bothRetinas: ["Left", "Right"]
    default: [""]
    }
  }

  static func range(_ first: Self, _ last: Self) -> [Self] {
    (first.rawValue...last.rawValue).compactMap(Self.init)
  }

  /// The words of the case's name, with the kind of a finger behind them: flat is not said.
  private var titleOfWords: String {
    var words: [String] = []
    for letter in Self.capitalized("\(self)") {
      if letter.isUppercase { words.append("") }
      words[words.count - 1].append(letter)
    }
    switch words.last {
    case "Flat": return words.dropLast().joined(separator: " ")
    case "Rolled": return words.dropLast().joined(separator: " ") + " (Rolled)"
    default: return words.joined(separator: " ")
    }
  }

  private static func capitalized(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }
}
