/// The answer to a query: batches as they are read, on demand.
public struct FeatureBatches: AsyncSequence, Sendable {
  public typealias Element = FeatureBatch
  public typealias Failure = FieldpackError
  public typealias Next = @Sendable () async throws(FieldpackError) -> FeatureBatch?

  /// What went wrong in single stores and layers, and notes; complete after the last batch.
  public let report: QueryReport
  private let start: @Sendable () -> Next

  /// - Parameter start: called once for each iteration; it returns the function that gives the next
  ///   batch.
  public init(report: QueryReport = QueryReport(), start: @escaping @Sendable () -> Next) {
    self.report = report
    self.start = start
  }

  public struct Iterator: AsyncIteratorProtocol {
    let nextBatch: Next

    public func next() async throws(FieldpackError) -> FeatureBatch? { try await nextBatch() }

    public func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FieldpackError) -> FeatureBatch? {
      try await nextBatch()
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(nextBatch: start()) }

  /// The features one by one, for convenience; batches are several times as fast.
  public var features: Features { Features(batches: self) }

  public struct Features: AsyncSequence, Sendable {
    public typealias Element = Feature
    public typealias Failure = FieldpackError
    let batches: FeatureBatches

    public struct Iterator: AsyncIteratorProtocol {
      let batches: FeatureBatches.Iterator
      var batch: FeatureBatch?
      var index = 0

      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(FieldpackError) -> Feature? {
        while batch == nil || index >= batch!.count {
          guard let next = try await batches.next() else { return nil }
          batch = next
          index = 0
        }
        defer { index += 1 }
        return try batch!.feature(at: index)
      }
    }

    public func makeAsyncIterator() -> Iterator {
      Iterator(batches: batches.makeAsyncIterator())
    }
  }
}

/// What a query reports beside its features.
public final class QueryReport: Sendable {
  public struct Contents: Sendable, Equatable {
    /// Stores that failed, before or during their answer, with the reason.
    public var failures: [StoreFailure] = []
    /// Remarks, such as a layer left out because it lacks a filtered column.
    public var notes: [Note] = []
    /// Features passed over because they could not be read or transformed.
    public var skipped = SkippedFeatures()

    package var isEmpty: Bool { self == Contents() }
  }

  private let contents = Locked(Contents())

  public init() {}

  public var current: Contents { contents.withLock { $0 } }

  /// Empties the report, for a second reading of the same answer.
  package func reset() { contents.withLock { $0 = Contents() } }

  public func add(failure: StoreFailure) { contents.withLock { $0.failures.append(failure) } }
  /// Counts a feature that is passed over, and lists it if it is among the first 1,000.
  public func add(skipped: SkippedFeature) { contents.withLock { $0.skipped.add(skipped) } }

  package func add(skipped: SkippedFeatures) { contents.withLock { $0.skipped.add(skipped) } }

  /// Adds a note, unless the report has it already.
  public func add(note: Note) {
    contents.withLock { if !$0.notes.contains(note) { $0.notes.append(note) } }
  }
}

/// A store that could not answer.
public struct StoreFailure: Sendable, Equatable {
  public var store: StoreID
  public var error: FieldpackError

  public init(store: StoreID, error: FieldpackError) {
    self.store = store
    self.error = error
  }

  public static func == (a: StoreFailure, b: StoreFailure) -> Bool {
    a.store == b.store && a.error.code == b.error.code && a.error.message == b.error.message
      && a.error.advice == b.error.advice
  }
}

/// A feature that was passed over, with the reason.
public struct SkippedFeature: Sendable, Equatable {
  /// The key tuple, or the layer and the feature's position in the file.
  public var location: KeyTuple.Partial
  public var position: FilePosition?
  public var reason: String
  /// What to do about it, as far as the reason's error told.
  public var advice: FieldpackError.Advice?

  public init(
    location: KeyTuple.Partial, position: FilePosition? = nil, reason: String,
    advice: FieldpackError.Advice? = nil
  ) {
    self.location = location
    self.position = position
    self.reason = reason
    self.advice = advice
  }

  /// The feature that an error is about, where the error says it is.
  package init(_ error: FieldpackError, position: FilePosition? = nil) {
    self.init(
      location: error.location, position: position, reason: error.message, advice: error.advice)
  }
}

/// Features that were passed over: all are counted, and the first of them are listed.
public struct SkippedFeatures: Sendable, Equatable {
  public private(set) var listed: [SkippedFeature] = []
  public private(set) var count = 0
  private let limit: Int

  /// - Parameter limit: how many features are listed.
  public init(limit: Int = 1000) { self.limit = limit }

  /// Lists all of the features.
  public init(_ features: [SkippedFeature]) {
    (listed, count, limit) = (features, features.count, .max)
  }

  public mutating func add(_ feature: SkippedFeature) {
    count += 1
    if listed.count < limit { listed.append(feature) }
  }

  public mutating func add(_ other: SkippedFeatures) {
    count += other.count
    listed += other.listed.prefix(limit - listed.count)
  }

  /// What a report that is one line says of them; empty where there are none.
  package var behindCount: String { count == 0 ? "" : "; \(count) skipped" }

  /// Takes off the features that came first and are known.
  package mutating func remove(known: SkippedFeatures) {
    count -= known.count
    listed = Array(listed.dropFirst(known.listed.count))
  }
}
