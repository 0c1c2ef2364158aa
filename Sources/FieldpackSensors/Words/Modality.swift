/// What part of a person a sensor captures.
///
/// The numbers are wsabi2's; texts are compared without regard to case. A sensor may speak of a modality
/// that is none of these; such texts are kept where they come from.
public enum Modality: Int, Hashable, Sendable, CaseIterable {
  case finger, face, iris, ear, vein, retina, foot, other

  /// What people read and what is kept in a file, such as `Finger`.
  public var title: String {
    switch self {
    case .finger: "Finger"
    case .face: "Face"
    case .iris: "Iris"
    case .ear: "Ear"
    case .vein: "Vein"
    case .retina: "Retina"
    case .foot: "Foot"
    case .other: "Other"
    }
  }

  /// The modality of a text in any case; `nil` for any other text.
  public init?(_ text: String) {
    let lower = text.lowercased()
    guard let found = Self.allCases.first(where: { $0.title.lowercased() == lower }) else {
      return nil
    }
    self = found
  }

  /// What a person is offered to capture, in the order of the list.
  public var captureTypes: [CaptureType] {
    switch self {
    case .finger:
      [.leftSlap, .rightSlap, .thumbsSlap]
        + CaptureType.range(.leftThumbFlat, .leftLittleFlat)
        + CaptureType.range(.rightThumbFlat, .rightLittleFlat)
        + CaptureType.range(.leftThumbRolled, .leftLittleRolled)
        + CaptureType.range(.rightThumbRolled, .rightLittleRolled)
    case .face: [.face2d, .face3d]
    case .iris: [.leftIris, .rightIris, .bothIrises]
    case .ear: [.leftEar, .rightEar, .bothEars]
    case .vein: [.leftVein, .rightVein, .palm, .backOfHand, .wrist]
    case .retina: [.leftRetina, .rightRetina, .bothRetinas]
    case .foot: [.leftFoot, .rightFoot, .bothFeet]
    case .other:
      [.scent, .dna, .handGeometry, .voice, .gait, .lipMovement, .signature]
    }
  }
}
