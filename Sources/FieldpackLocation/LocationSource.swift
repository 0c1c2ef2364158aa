public import FieldpackCore

/// Where fixes and headings come from: a replay, standard input, a receiver, a script.
///
/// Recorders and monitors check the authorisation first and then read the updates to their end.
public protocol LocationSource: Sendable {
  /// What the user allows this source to be used for.
  var authorization: LocationAuthorization { get async }
  /// Whether positions can come from this source at all.
  var isAvailable: Bool { get async }
  /// Whether all updates exist already, as in a file, so that reading never waits for new ones.
  ///
  /// A stored run may then read ahead while it stores, and store more in one transaction.
  var isComplete: Bool { get }
  /// Fixes and headings from now on, in the order they are read.
  ///
  /// Each sequence reads from the beginning where the source can be read again. It ends with the
  /// source, and with `.interrupted` when the task is cancelled.
  func updates() -> LocationUpdates
}

extension LocationSource {
  public var authorization: LocationAuthorization { .always }
  public var isAvailable: Bool { true }
  public var isComplete: Bool { false }
}

extension LocationSource {
  /// - Throws: the ``LocationFailure`` for which nothing can be recorded.
  package func checkUse(needsAlways: Bool = false) async throws(FieldpackError) {
    switch await authorization {
    case .denied, .restricted:
      throw FieldpackError(.permissionDenied, "the use of positions is not permitted")
    case .notDetermined:
      throw FieldpackError(
        .insufficientAuthorisation, "the user has not been asked whether positions may be used")
    case .whileInUse where needsAlways:
      throw FieldpackError(
        .insufficientAuthorisation, "a region is watched only where positions may be used always")
    case .whileInUse, .always: break
    }
    guard await isAvailable else {
      throw FieldpackError(.unavailable, "there is nothing that positions could come from")
    }
  }
}

/// What the user allows a source to be used for.
public enum LocationAuthorization: String, Hashable, Sendable, CaseIterable {
  case notDetermined, denied, restricted, whileInUse, always
}

/// A fix or a heading.
public enum LocationUpdate: Hashable, Sendable {
  case fix(Fix)
  case heading(Heading)
}

/// Updates as they arrive, several at a time where several are waiting.
public struct LocationUpdates: AsyncSequence, Sendable {
  public typealias Element = [LocationUpdate]
  public typealias Failure = FieldpackError
  public typealias Next = @Sendable () async throws(FieldpackError) -> [LocationUpdate]?

  private let start: @Sendable () -> Next

  /// - Parameter start: begins a reading and returns a function that gives the next updates, at
  ///   least one, or `nil` at the end.
  public init(start: @escaping @Sendable () -> Next) { self.start = start }

  public struct Iterator: AsyncIteratorProtocol {
    package let nextUpdates: Next

    public func next() async throws(FieldpackError) -> [LocationUpdate]? {
      try await nextUpdates()
    }

    public func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FieldpackError) -> [LocationUpdate]? { try await nextUpdates() }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(nextUpdates: start()) }
}

/// Why there are no positions, in PhotoPath's words.
public enum LocationFailure: String, Error, Hashable, Sendable, CaseIterable {
  /// The user allows less than the recording needs, or was not asked yet.
  case insufficientAuthorisation
  /// The user, or a rule of the device, forbids it.
  case permissionDenied
  /// No source of positions is available.
  case unavailable
  /// Another recording took this one's place.
  case aborted

  var code: FieldpackError.Code {
    switch self {
    case .insufficientAuthorisation, .permissionDenied: .permission
    case .unavailable: .unavailable
    case .aborted: .interrupted
    }
  }
}

extension FieldpackError {
  /// The failure of a source as an error that keeps it: see ``locationFailure``.
  public init(_ failure: LocationFailure, _ message: String) {
    self.init(failure.code, message, underlying: failure)
  }

  /// Why positions could not be had, where that is what went wrong.
  public var locationFailure: LocationFailure? { underlying as? LocationFailure }
}
