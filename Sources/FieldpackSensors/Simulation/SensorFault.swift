package import FieldpackCore

/// What a simulated sensor does instead of what it should.
package struct SensorFault: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Answers with this status, and does nothing.
    case status(SensorStatus)
    /// Answers with this status of HTTP, and does nothing.
    case http(Int)
    case redirect(String)
    /// Answers with XML that ends too early.
    case broken
    /// Answers with XML that would grow by its entities.
    case bomb
    /// Answers without an end.
    case endless
    /// Does what it should, and gives no good answer.
    case lost
    /// Does what it should, later.
    case slow(Duration)
  }

  /// `nil` is each of them.
  package var operation: SensorOperation?
  package var kind: Kind
  /// How often; `nil` is always.
  package var times: Int?
  /// How likely it is each time, from 0 to 1.
  package var chance: Double

  package init(
    _ operation: SensorOperation?, _ kind: Kind, times: Int? = nil, chance: Double = 1
  ) {
    self.operation = operation
    self.kind = kind
    self.times = times
    self.chance = chance
  }

  func fits(_ other: SensorOperation) -> Bool { operation == nil || operation == other }

  var status: SensorStatus? {
    guard case .status(let status) = kind else { return nil }
    return status
  }

  var delay: Duration? {
    guard case .slow(let delay) = kind else { return nil }
    return delay
  }

  /// A fault as text: `OPERATION=KIND`, and after a colon how often, such as `2` or `5%`.
  ///
  /// The operation is a name such as `capture`, or `any`; the kind is a status such as `sensorFailure`,
  /// a status of HTTP such as `503`, or `broken`, `bomb`, `endless`, `lost` and `slow`.
  /// - Throws: `.invalidArgument`.
  package init(_ text: String) throws(FieldpackError) {
    func invalid(_ reason: String) -> FieldpackError {
      FieldpackError(
        .invalidArgument, "'\(text)' is no fault: \(reason). Try: capture=sensorFailure:2")
    }
    let halves = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard halves.count == 2 else { throw invalid("it has no operation and kind") }
    let operation = SensorOperation(name: halves[0])
    guard operation != nil || halves[0] == "any" else {
      throw invalid("there is no operation '\(halves[0])'")
    }
    let parts = halves[1].split(separator: ":", maxSplits: 1).map(String.init)
    guard let kind = parts.first.flatMap({ Self.kind($0) }) else {
      throw invalid("there is no such kind")
    }
    self.init(operation, kind)
    guard parts.count == 2 else { return }
    if parts[1].hasSuffix("%"), let percent = Double(parts[1].dropLast()), 0...100 ~= percent {
      chance = percent / 100
    } else if let count = Int(parts[1]), count > 0 {
      times = count
    } else {
      throw invalid("'\(parts[1])' does not say how often")
    }
  }

  private static func kind(_ text: String) -> Kind? {
    switch text {
    case "broken": return .broken
    case "bomb": return .bomb
    case "endless": return .endless
    case "lost": return .lost
    case "slow": return .slow(.seconds(2))
    default: break
    }
    if let status = Int(text) { return 300...599 ~= status ? .http(status) : nil }
    return SensorStatus(text).map { .status($0) }
  }
}
