public import FieldpackCore
public import FieldpackLocation

/// What a monitor detects in the fixes of a source, batch by batch.
///
/// Each element holds the detections of a batch of updates, at least one. After 10,000 detections a
/// batch is split. Headings are ignored.
public struct Detections: AsyncSequence, Sendable {
  public typealias Element = [Detection]
  public typealias Failure = FieldpackError

  private let monitor: any FixMonitor
  private let first: Int
  private let updates: LocationUpdates
  private let refresh: MonitorRefresh?

  /// A batch is split after the fix with which it has so many.
  package static let limit = 10_000

  /// What is done to a monitor before each batch; gives whether that changed it.
  package typealias MonitorRefresh =
    @Sendable (inout any FixMonitor) async throws(FieldpackError) -> Bool

  package init(
    _ monitor: any FixMonitor, of updates: LocationUpdates, from first: Int,
    refresh: MonitorRefresh? = nil
  ) {
    self.monitor = monitor
    self.updates = updates
    self.first = first
    self.refresh = refresh
  }

  public struct Iterator: AsyncIteratorProtocol {
    var monitor: any FixMonitor
    var number: Int
    var updates: LocationUpdates.Iterator
    let refresh: MonitorRefresh?
    /// Updates that are not taken yet, those from `taken` on.
    private var batch: [LocationUpdate] = []
    private var taken = 0

    init(
      _ monitor: any FixMonitor, _ number: Int, _ updates: LocationUpdates.Iterator,
      _ refresh: MonitorRefresh?
    ) {
      self.monitor = monitor
      self.number = number
      self.updates = updates
      self.refresh = refresh
    }

    public mutating func next() async throws(FieldpackError) -> [Detection]? {
      try await nextDetections()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FieldpackError) -> [Detection]? { try await nextDetections() }

    private mutating func nextDetections() async throws(FieldpackError) -> [Detection]? {
      while true {
        if taken == batch.count {
          guard let next = try await updates.next() else { return nil }
          (batch, taken) = (next, 0)
        }
        _ = try await refresh?(&monitor)
        var detections: [Detection] = []
        while taken < batch.count, detections.count < Detections.limit {
          if case .fix(let fix) = batch[taken] {
            monitor.take(fix, number: number, into: &detections)
            number += 1
          }
          taken += 1
        }
        if !detections.isEmpty { return detections }
      }
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(monitor, first, updates.makeAsyncIterator(), refresh)
  }
}

extension FixMonitor {
  /// The detections in the fixes that a source gives from now on, as they arrive.
  ///
  ///     for try await detections in monitor.detections(of: source) { … }
  ///
  /// The monitor itself does not change: each sequence uses a copy of it.
  /// - Parameter first: the number of the source's first fix.
  public func detections(of source: some LocationSource, from first: Int = 0) -> Detections {
    Detections(self, of: source.updates(), from: first)
  }
}
