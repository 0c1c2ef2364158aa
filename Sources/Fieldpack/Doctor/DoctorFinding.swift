public import FieldpackCore

/// The result of one check.
public struct DoctorFinding: Hashable, Sendable {
  public enum State: String, Hashable, Sendable, CaseIterable {
    case ok
    /// Works, with a remark.
    case note
    /// Something does not work.
    case problem
  }

  /// `libraries`, `system`, or the name of a source.
  public var section: String
  public var name: String
  public var state: State
  /// The details, in order.
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
