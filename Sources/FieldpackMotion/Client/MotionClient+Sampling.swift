import FieldpackCore

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

  private func sampleAll(_ source: any MotionSource) async throws(FieldpackError) {
    var rooms = room.stream.makeAsyncIterator()
    let timed = options.keepsTimes ? source as? any TimedMotionSource : nil
    var batch: [MotionSample] = []
    let start = time.now()
    var count = 0
    while let sample = try await next(of: source, timed) {
      if timed != nil, let last = batch.last, !follows(sample, last) {
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
      count += 1
      if timed == nil { try await wait(until: start + Double(count) * options.interval) }
    }
    if !batch.isEmpty { try await finish(batch, &rooms) }
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
    return MotionSample(time: time.now(), reading: reading.withoutNonFinite)
  }

  /// Whether a sample is about an interval after another.
  private func follows(_ sample: MotionSample, _ last: MotionSample) -> Bool {
    abs(sample.time - last.time - options.interval) < options.interval / 2
  }

  private func wait(until moment: Double) async throws(FieldpackError) {
    guard !Task.isCancelled else { throw Self.cancelled }
    let seconds = moment - time.now()
    guard seconds > 0 else { return }
    do { try await time.sleep(seconds) } catch { throw Self.cancelled }
  }

  static let cancelled = FieldpackError(.interrupted, "the motion client was stopped")

  private func finish(
    _ samples: [MotionSample], _ rooms: inout AsyncStream<Void>.Iterator
  ) async throws(FieldpackError) {
    latest = samples.map(\.reading)
    guard shouldPostData else {
      report.lost += 1
      return
    }
    let sections = latest.reduce(options.sections) { $0.intersection($1.sections) }
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
    while queue.count > limit {
      queue.removeFirst()
      report.lost += 1
    }
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
