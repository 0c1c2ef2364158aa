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
  public var detail: String

  public init(_ section: String, _ name: String, _ state: State, _ detail: String) {
    self.section = section
    self.name = name
    self.state = state
    self.detail = detail
  }
}
