public import FieldpackCore

/// One thing that was looked at, and whether it is well.
public struct DoctorFinding: Hashable, Sendable {
  public enum State: String, Hashable, Sendable, CaseIterable {
    case ok
    /// Works, and is worth knowing.
    case note
    /// Something does not work.
    case problem
  }

  /// `libraries`, `system`, or the name of a source.
  public var section: String
  public var name: String
  public var state: State
  /// What there is to say, one after the other.
  public var details: [Note]

  public init(_ section: String, _ name: String, _ state: State, _ details: [Note]) {
    self.section = section
    self.name = name
    self.state = state
    self.details = details
  }

  init(
    _ section: String, _ name: String, _ state: State, _ detail: String,
    advice: FieldpackError.Advice? = nil
  ) {
    self.init(section, name, state, [Note(detail, advice: advice)])
  }

  /// The details in one line, without advice.
  public var detail: String { details.map(\.text).joined(separator: "; ") }
}
