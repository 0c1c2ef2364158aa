import FieldpackCore

/// What can be chosen for a detail of a person. The first choice, an empty text, says nothing.
public enum PersonPickList: String, Hashable, Sendable, CaseIterable {
  case gender
  case hairColor = "hair_color"
  case eyeColor = "eye_color"
  case race

  public var values: [String] {
    switch self {
    case .gender: ["", "Male", "Female", "Unknown"]
    case .hairColor: ["", "Black", "Brown", "Blonde", "Red"]
    case .eyeColor: ["", "Brown", "Blue", "Green"]
    case .race: ["", "Unknown", "Asian", "Black", "Native American", "Caucasian", "Latino"]
    }
  }

  /// What people read.
  public var title: String {
    switch self {
    case .gender: "Gender"
    case .hairColor: "Hair"
    case .eyeColor: "Eyes"
    case .race: "Race"
    }
  }

  /// The constraint of the column, which other programs offer as a list.
  var constraint: ColumnConstraint {
    ColumnConstraint("fieldpack_person_\(rawValue)", .oneOf(values.map { .init($0) }))
  }
}
