/// How a machine reaches others.
public enum NetworkPath: String, Hashable, Sendable, CaseIterable {
  /// Not at all.
  case none
  case wifi
  /// By cable, mobile network or anything else that is no wifi.
  case wan
}

/// Whether and how other machines can be reached: of this machine, see ``LinuxReachability``, or of a
/// test.
///
///     for await isConnected in reachability.isConnected { … }
public protocol Reachability: Sendable {
  /// The present path at once, and then each change.
  var paths: AsyncStream<NetworkPath> { get }
}

extension Reachability {
  /// Whether other machines can be reached: now at once, and then whenever it changes.
  public var isConnected: some AsyncSequence<Bool, Never> & Sendable {
    Changes(paths) { $0 != .none }
  }

  /// Whether others are reached by wifi.
  public var viaWifi: some AsyncSequence<Bool, Never> & Sendable { Changes(paths) { $0 == .wifi } }

  /// Whether others are reached by anything but wifi.
  public var viaWAN: some AsyncSequence<Bool, Never> & Sendable { Changes(paths) { $0 == .wan } }
}

/// What is true of each element, told when it differs from what was told before.
struct Changes<Base: Sendable>: AsyncSequence, Sendable {
  typealias Element = Bool
  typealias Failure = Never

  private let base: AsyncStream<Base>
  private let fact: @Sendable (Base) -> Bool

  init(_ base: AsyncStream<Base>, _ fact: @escaping @Sendable (Base) -> Bool) {
    self.base = base
    self.fact = fact
  }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<Base>.Iterator
    fileprivate let fact: @Sendable (Base) -> Bool
    private var told: Bool?

    fileprivate init(_ base: AsyncStream<Base>.Iterator, _ fact: @escaping @Sendable (Base) -> Bool)
    {
      self.base = base
      self.fact = fact
    }

    mutating func next() async -> Bool? { await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Bool? {
      while let element = await base.next(isolation: actor) {
        let fact = fact(element)
        guard fact != told else { continue }
        told = fact
        return fact
      }
      return nil
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(base.makeAsyncIterator(), fact) }
}
