public import FieldpackCore

/// What a monitor sees in the fixes of a source, a batch of fixes at a time.
///
/// Each element holds the detections of one batch of updates, never none; headings are passed over.
public struct Detections: AsyncSequence, Sendable {
  public typealias Element = [Detection]
  public typealias Failure = FieldpackError

  private let monitor: any FixMonitor
  private let first: Int
  private let updates: LocationUpdates
  private let refresh: MonitorRefresh?

  /// What is done to a monitor before each batch.
  package typealias MonitorRefresh =
    @Sendable (inout any FixMonitor) async throws(FieldpackError) -> Void

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

    public mutating func next() async throws(FieldpackError) -> [Detection]? {
      try await nextDetections()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FieldpackError) -> [Detection]? { try await nextDetections() }

    private mutating func nextDetections() async throws(FieldpackError) -> [Detection]? {
      while let batch = try await updates.next() {
        if let refresh { try await refresh(&monitor) }
        var detections: [Detection] = []
        for case .fix(let fix) in batch {
          monitor.take(fix, number: number, into: &detections)
          number += 1
        }
        if !detections.isEmpty { return detections }
      }
      return nil
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(
      monitor: monitor, number: first, updates: updates.makeAsyncIterator(), refresh: refresh)
  }
}

extension FixMonitor {
  /// The detections in the fixes that a source gives from now on, as they come.
  ///
  ///     for try await detections in monitor.detections(of: source) { … }
  ///
  /// The monitor itself stays as it is: each sequence goes on from a copy.
  /// - Parameter first: the number of the source's first fix.
  public func detections(of source: some LocationSource, from first: Int = 0) -> Detections {
    Detections(self, of: source.updates(), from: first)
  }
}
