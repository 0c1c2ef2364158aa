import FieldpackCore
import FieldpackField

extension MotionClient {
  /// Takes readings at their times to the end of the source.
  func sample(_ source: any MotionSource) async -> FieldpackError? {
    do throws(FieldpackError) {
      try await sampleAll(source)
    } catch {
      isEnded = true
      wake.give()
      return error
    }
    isEnded = true
    wake.give()
    return nil
  }

  /// After so many intervals in which nothing was read sampling begins anew.
  private static let lateLimit = 5.0

  private func sampleAll(_ source: any MotionSource) async throws(FieldpackError) {
    var rooms = room.stream.makeAsyncIterator()
    let timed = options.keepsTimes ? source as? any TimedMotionSource : nil
    var batch: [MotionSample] = []
    var pace = MeasuredPace(options.interval)
    var start = clock.uptime
    var count = 0
    // What was read for a batch that is not posted any more is lost to the server.
    defer { if !batch.isEmpty { report.lost += 1 } }
    while let sample = try await next(of: source, timed) {
      if timed != nil { pace.take(sample.time) }
      if !continues(batch, sample, pace: timed == nil ? nil : pace.interval) {
        try await finish(batch, &rooms)
        batch = []
      }
      batch.append(sample)
      report.readings += 1
      try await options.keep?([sample])
      if batch.count == options.batchSize {
        try await finish(batch, &rooms)
        batch = []
      }
      guard timed == nil else { continue }
      count += 1
      // What was missed is not made up for.
      if clock.uptime > start + intervals(Double(count) + Self.lateLimit) {
        (start, count) = (clock.uptime, 0)
      }
      try await wait(until: start + intervals(Double(count)))
    }
    guard !batch.isEmpty else { return }
    try await finish(batch, &rooms)
    batch = []
  }

  private func next(
    of source: any MotionSource, _ timed: (any TimedMotionSource)?
  ) async throws(FieldpackError) -> MotionSample? {
    guard !Task.isCancelled else { throw Self.cancelled }
    if let timed {
      return try await timed.nextSample().map {
        MotionSample(time: $0.time, reading: $0.reading.withoutNonFinite)
      }
    }
    guard let reading = try await source.next() else { return nil }
    return MotionSample(time: clock.unixSeconds, reading: reading.withoutNonFinite)
  }

  /// Whether a server takes the sample for what it is where it comes with a batch: the protocol has
  /// one time and the same sections for all.
  ///
  /// - Parameter pace: the measured seconds between two samples, where they have times of their own.
  private func continues(
    _ batch: [MotionSample], _ sample: MotionSample, pace: Double?
  ) -> Bool {
    guard let first = batch.first else { return true }
    guard sections(of: first) == sections(of: sample) else { return false }
    guard let pace, let last = batch.last else { return true }
    // From the first on, so that what is off by a little does not add up.
    let expected = Double(batch.count) * pace
    return sample.time > last.time && abs(sample.time - first.time - expected) <= pace
  }

  private func sections(of sample: MotionSample) -> MotionSections {
    sample.reading.sections.intersection(options.sections)
  }

  private func intervals(_ count: Double) -> Duration {
    .bounded(seconds: count * options.interval)
  }

  private func wait(until moment: Duration) async throws(FieldpackError) {
    guard !Task.isCancelled else { throw Self.cancelled }
    guard moment > clock.uptime else { return }
    do { try await clock.sleep(until: moment) } catch { throw Self.cancelled }
  }

  static let cancelled = FieldpackError(.interrupted, "the motion client was stopped")

  private func finish(
    _ samples: [MotionSample], _ rooms: inout AsyncStream<Void>.Iterator
  ) async throws(FieldpackError) {
    latest = samples.map(\.reading)
    let sections = samples.first.map { self.sections(of: $0) } ?? []
    guard shouldPostData, !sections.isEmpty else {
      report.lost += 1
      if !shouldPostData, isLive { drop(to: options.unsentLimit) }
      return
    }
    let batch = Batch(
      time: samples.last?.time ?? 0, readings: latest.map { $0.keeping(sections) })
    if isLive {
      offer(batch)
    } else {
      while queue.count >= Self.queueLimit {
        _ = await rooms.next(isolation: self)
        guard !Task.isCancelled else { throw Self.cancelled }
      }
      queue.append(batch)
    }
    wake.give()
  }

  /// Puts a batch of a live source where it can still be sent.
  private func offer(_ batch: Batch) {
    let canSend = session != nil && !isFailing
    let limit = canSend ? max(Self.queueLimit, options.unsentLimit) : options.unsentLimit
    queue.append(batch)
    drop(to: limit)
  }

  /// Loses the oldest batches beyond so many.
  private func drop(to limit: Int) {
    while queue.count > limit {
      queue.removeFirst()
      report.lost += 1
    }
  }
}

/// How far apart samples with times of their own are: the median of the last gaps.
private struct MeasuredPace {
  private var gaps: [Double] = []
  private var last: Double?
  private let stated: Double

  init(_ stated: Double) { self.stated = stated }

  mutating func take(_ time: Double) {
    defer { last = time }
    guard let last, time > last else { return }
    // One gap alone may be a pause.
    gaps.append(gaps.isEmpty ? min(time - last, stated) : time - last)
    if gaps.count > 9 { gaps.removeFirst() }
  }

  var interval: Double {
    gaps.isEmpty ? stated : gaps.sorted()[gaps.count / 2]
  }
}

extension MotionReading {
  /// Without the sections that hold a number that is none.
  var withoutNonFinite: MotionReading {
    guard !isFinite else { return self }
    let sound = MotionSection.allCases.filter { section in
      section.channels.allSatisfy { self[$0]?.isFinite ?? false }
    }
    return keeping(MotionSections(sound.map { MotionSections($0) }))
  }
}
