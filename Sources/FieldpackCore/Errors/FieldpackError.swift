/// The one error of the engine: what happened, where, and what to do next.
///
///     do throws(FieldpackError) {
///       count = try await store.count(Query("well"))
///     } catch {
///       show(error.code == .notFound ? error.message : "\(error)")
///     }
public struct FieldpackError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure; the tool derives its exit status from it.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let name: String
    /// The exit status of a command that ends with this error.
    public let exitStatus: Int32

    public var description: String { name }

    public static let invalidArgument = Code(name: "invalidArgument", exitStatus: 64)
    public static let invalidData = Code(name: "invalidData", exitStatus: 65)
    public static let corrupt = Code(name: "corrupt", exitStatus: 65)
    public static let notFound = Code(name: "notFound", exitStatus: 66)
    public static let unavailable = Code(name: "unavailable", exitStatus: 69)
    public static let cannotCreate = Code(name: "cannotCreate", exitStatus: 73)
    public static let io = Code(name: "io", exitStatus: 74)
    public static let full = Code(name: "full", exitStatus: 74)
    public static let busy = Code(name: "busy", exitStatus: 75)
    public static let permission = Code(name: "permission", exitStatus: 77)
    public static let readOnly = Code(name: "readOnly", exitStatus: 77)
    public static let interrupted = Code(name: "interrupted", exitStatus: 130)
    public static let constraint = Code(name: "constraint", exitStatus: 1)
    public static let unsupported = Code(name: "unsupported", exitStatus: 1)
    public static let configuration = Code(name: "configuration", exitStatus: 1)

    /// Every code, for tables in documents and tests.
    public static let all: [Code] = [
      .invalidArgument, .invalidData, .corrupt, .notFound, .unavailable, .cannotCreate, .io, .full,
      .busy, .permission, .readOnly, .interrupted, .constraint, .unsupported, .configuration,
    ]
  }

  public let code: Code
  /// What happened, in the user's words.
  public let message: String
  /// What to do about it, where there is more to say than the message does.
  public var advice: Advice?
  /// Where it happened, as far as known.
  public let location: KeyTuple.Partial
  /// Where in a file, as far as known.
  public let position: FilePosition?
  public let underlying: (any Error)?

  public init(
    _ code: Code, _ message: String, advice: Advice? = nil, location: KeyTuple.Partial = .init(),
    position: FilePosition? = nil, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.advice = advice
    self.location = location
    self.position = position
    self.underlying = underlying
  }

  /// The same error with what `location` and `position` lack filled in.
  public func adding(
    location other: KeyTuple.Partial = .init(), position otherPosition: FilePosition? = nil
  ) -> FieldpackError {
    let completed = KeyTuple.Partial(
      store: location.store ?? other.store, layer: location.layer ?? other.layer,
      feature: location.feature ?? other.feature)
    return FieldpackError(
      code, message, advice: advice, location: completed, position: position ?? otherPosition,
      underlying: underlying)
  }

  /// The position, what happened, and the advice in Swift's words.
  public var description: String {
    let hint = advice.map { ". Try: \($0)" } ?? ""
    guard let position else { return message + hint }
    return "\(position): \(message)\(hint)"
  }
}

/// A position in an input file; every member is given as far as it is known.
public struct FilePosition: Hashable, Sendable, CustomStringConvertible {
  public var file: String?
  /// 1-based.
  public var line: Int?
  /// 1-based, in bytes.
  public var column: Int?
  /// 0-based, in bytes from the start of the file.
  public var byteOffset: Int?
  /// 1-based ordinal of the feature in the file.
  public var feature: Int?

  public init(
    file: String? = nil, line: Int? = nil, column: Int? = nil, byteOffset: Int? = nil,
    feature: Int? = nil
  ) {
    self.file = file
    self.line = line
    self.column = column
    self.byteOffset = byteOffset
    self.feature = feature
  }

  /// The line and column of a byte of a text.
  init(of offset: Int, in bytes: [UInt8]) {
    let before = bytes[..<min(offset, bytes.count)]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    self.init(
      line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: before.count - lineStart + 1)
  }

  public var description: String {
    var text = file ?? ""
    if let line { text += (text.isEmpty ? "line " : ":") + "\(line)" }
    if let column, line != nil { text += ":\(column)" }
    var parts = text.isEmpty ? [] : [text]
    if let feature { parts.append("feature \(feature)") }
    if let byteOffset { parts.append("byte \(byteOffset)") }
    return parts.joined(separator: ", ")
  }
}
