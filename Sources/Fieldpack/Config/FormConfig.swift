public import FieldpackCore

/// What a config says of one form.
public struct FormConfig: Hashable, Sendable {
  /// The backend's id, above 0.
  public var id: Int64
  /// The name of the layer that keeps what is submitted.
  public var key: String
  public var label: String
  /// A new version has a higher number.
  public var version: Int64
  /// The team that the form belongs to.
  public var team: Int64?
  /// In the order in which they are asked; at least one.
  public var fields: [FormField]
  /// Where the form stands in its config.
  public var position: FilePosition?

  public init(
    id: Int64, key: String, label: String, version: Int64, team: Int64? = nil,
    fields: [FormField], position: FilePosition? = nil
  ) {
    self.id = id
    self.key = key
    self.label = label
    self.version = version
    self.team = team
    self.fields = fields
    self.position = position
  }
}

/// One question of a form.
public struct FormField: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case string, number, integer, boolean, date, time, slider, photo, counter, select, barcode
  }

  /// The name of the column.
  public var key: String
  public var label: String
  /// `nil` where the config names a type that is not known, whose values are text.
  public var kind: Kind?
  public var isRequired: Bool
  public var constraints: FormConstraints

  public init(
    key: String, label: String, kind: Kind?, isRequired: Bool = false,
    constraints: FormConstraints = FormConstraints()
  ) {
    self.key = key
    self.label = label
    self.kind = kind
    self.isRequired = isRequired
    self.constraints = constraints
  }
}

/// What the answer to a question has to meet.
public struct FormConstraints: Hashable, Sendable {
  /// An end of a range.
  public struct Bound: Hashable, Sendable {
    public var value: Double
    /// Whether the value itself lies outside.
    public var isExclusive: Bool

    public init(_ value: Double, isExclusive: Bool = false) {
      self.value = value
      self.isExclusive = isExclusive
    }
  }

  /// What stands in the form before it is filled in.
  public var initialValue: String?
  public var minimum: Bound?
  public var maximum: Bound?
  /// Whether a number has to be whole.
  public var isInteger = false
  /// In characters.
  public var minimumLength: Int?
  /// In characters.
  public var maximumLength: Int?
  /// A regular expression of ECMAScript.
  public var pattern: String?
  /// The values to choose from; empty where any will do.
  public var options: [String] = []

  public init() {}
}
