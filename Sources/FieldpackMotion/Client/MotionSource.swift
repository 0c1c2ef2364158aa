public import FieldpackCore

/// A source of readings: sensors, a replay, a generator.
public protocol MotionSource: Sendable {
  /// Whether a reading that is not taken in time is lost, as with a sensor. Other sources wait.
  var isLive: Bool { get }

  /// The reading of this moment; `nil` at the end.
  func next() async throws(FieldpackError) -> MotionReading?
}

/// A source that knows when its readings were made, and gives each when it is due.
public protocol TimedMotionSource: MotionSource {
  /// The next sample with its own time; `nil` at the end.
  func nextSample() async throws(FieldpackError) -> MotionSample?
}

extension TimedMotionSource {
  public func next() async throws(FieldpackError) -> MotionReading? {
    try await nextSample()?.reading
  }
}

/// A source that gives the readings of an array, in order.
public final class MotionReplay: MotionSource {
  public let isLive = false
  private let readings: [MotionReading]
  private let given = Locked(0)

  public init(_ readings: [MotionReading]) { self.readings = readings }

  public func next() async throws(FieldpackError) -> MotionReading? {
    let index = given.withLock { given in
      defer { given += 1 }
      return given
    }
    return index < readings.count ? readings[index] : nil
  }
}

/// A source whose readings a function makes from their number.
public final class MotionGenerator: MotionSource {
  public let isLive: Bool
  private let make: @Sendable (Int) -> MotionReading?
  private let given = Locked(0)

  /// - Parameter make: is asked with 0, 1, 2 …; `nil` is the end.
  public init(isLive: Bool = false, _ make: @escaping @Sendable (Int) -> MotionReading?) {
    self.isLive = isLive
    self.make = make
  }

  public func next() async throws(FieldpackError) -> MotionReading? {
    make(
      given.withLock { given in
        defer { given += 1 }
        return given
      })
  }
}
