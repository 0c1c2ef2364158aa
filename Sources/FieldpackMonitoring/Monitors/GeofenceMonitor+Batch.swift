public import FieldpackCore
public import FieldpackLocation

extension GeofenceMonitor {
  /// Fixes that are looked at while those before them are judged.
  private static let part = 8192

  /// Takes fixes in their order, using all cores for what does not depend on the order.
  ///
  /// Detections and state are the same as with ``FixMonitor/take(_:from:into:)``. Besides the
  /// detections, memory holds some hundred bytes a fix for 16,384 fixes at a time.
  /// - Parameters:
  ///   - first: the number of the first one.
  ///   - detections: gets the detections appended.
  /// - Throws: `.interrupted` where the task is cancelled; no fix is taken then.
  public mutating func take(
    together fixes: [Fix], from first: Int = 0, into detections: inout [Detection]
  ) async throws(FieldpackError) {
    let (before, seen) = (self, detections.count)
    await withTaskGroup(of: BatchResult.self) { group in
      var run = BatchRun(regions)
      var waiting: BatchPart?
      for start in stride(from: 0, to: fixes.count, by: Self.part) {
        guard !Task.isCancelled else { break }
        let range = start..<min(start + Self.part, fixes.count)
        let next = BatchPart(range: range, steps: range.map { admit(fixes[$0], first + $0) })
        run.look(at: next, &group)
        if let waiting {
          await judge(waiting, of: fixes, from: first, into: &detections, &run, &group)
        }
        waiting = next
      }
      if let waiting {
        await judge(waiting, of: fixes, from: first, into: &detections, &run, &group)
      }
      await run.end(&detections, &group)
    }
    guard !Task.isCancelled else {
      self = before
      detections.removeSubrange(seen...)
      throw FieldpackError(.interrupted, "interrupted while fixes were watched")
    }
  }

  /// Says what there is to say of the fixes of a part.
  private mutating func judge(
    _ part: BatchPart, of fixes: [Fix], from first: Int, into detections: inout [Detection],
    _ run: inout BatchRun, _ group: inout TaskGroup<BatchResult>
  ) async {
    for piece in part.pieces {
      guard let looks = await run.looks(of: piece, &detections, &group) else { return }
      for index in piece {
        guard let step = part.steps[index - part.range.lowerBound] else { continue }
        looks.read(index, &found, &crossed)
        if isUnchanged(step) { continue }
        judge(fixes[index], first + index, step, into: &detections, &run.owed)
        await run.pay(&detections, &group)
      }
    }
  }
}

/// Fixes that were admitted together.
private struct BatchPart: Sendable {
  /// What a task takes of them at a time.
  private static let size = 1024

  let range: Range<Int>
  let steps: [RegionsStep?]

  var pieces: [Range<Int>] {
    stride(from: range.lowerBound, to: range.upperBound, by: Self.size).map {
      $0..<min($0 + Self.size, range.upperBound)
    }
  }
}

private enum BatchResult: Sendable {
  case looks(RegionLooks)
  case paid([OwedDistance], [Double?])
}

/// What is done beside the order of the fixes.
private struct BatchRun {
  /// Distances that a task measures at a time.
  private static let size = 512
  /// Tasks whose distances are waited for at most, as a fix may owe one a region.
  private static let limit = 128

  let regions: WatchedRegions
  var owed: [OwedDistance]? = []
  /// By their first fix.
  private var looks: [Int: RegionLooks] = [:]
  private var unpaid = 0

  init(_ regions: WatchedRegions) { self.regions = regions }

  func look(at part: BatchPart, _ group: inout TaskGroup<BatchResult>) {
    for piece in part.pieces {
      group.addTask { [regions] in .looks(RegionLooks(piece, of: part, regions)) }
    }
  }

  /// Waits for what was seen at the fixes of a piece.
  mutating func looks(
    of piece: Range<Int>, _ detections: inout [Detection], _ group: inout TaskGroup<BatchResult>
  ) async -> RegionLooks? {
    while looks[piece.lowerBound] == nil {
      guard await wait(&detections, &group) else { return nil }
    }
    return looks.removeValue(forKey: piece.lowerBound)
  }

  /// Lets measure what is owed where it is enough for a task.
  mutating func pay(
    _ detections: inout [Detection], _ group: inout TaskGroup<BatchResult>
  ) async {
    guard owed?.count ?? 0 >= Self.size else { return }
    letMeasure(&group)
    while unpaid > Self.limit, await wait(&detections, &group) {}
  }

  mutating func end(
    _ detections: inout [Detection], _ group: inout TaskGroup<BatchResult>
  ) async {
    letMeasure(&group)
    while await wait(&detections, &group) {}
  }

  private mutating func letMeasure(_ group: inout TaskGroup<BatchResult>) {
    let debts = owed ?? []
    owed = []
    unpaid += 1
    group.addTask { [regions] in
      .paid(
        debts,
        debts.map {
          regions.distance(to: Int($0.region), from: Viewpoint($0.x, $0.y), isHeld: $0.isHeld)
        })
    }
  }

  /// Takes what the next task has found; false where there is none.
  private mutating func wait(
    _ detections: inout [Detection], _ group: inout TaskGroup<BatchResult>
  ) async -> Bool {
    switch await group.next() {
    case .looks(let found): looks[found.fixes.lowerBound] = found
    case .paid(let debts, let distances):
      unpaid -= 1
      for (debt, distance) in zip(debts, distances) {
        detections[debt.detection].distance = distance
      }
    case nil: return false
    }
    return true
  }
}

/// The regions that hold each of some fixes, and those on the way to it.
private struct RegionLooks: Sendable {
  let fixes: Range<Int>
  private var regions: [Int32] = []
  /// Where those of a fix end: that hold it, and on the way to it.
  private var ends: [SIMD2<Int32>] = []

  init(_ fixes: Range<Int>, of part: BatchPart, _ watched: WatchedRegions) {
    self.fixes = fixes
    ends.reserveCapacity(fixes.count)
    var (found, crossed): ([Int32], [Int32]) = ([], [])
    for fix in fixes {
      if let step = part.steps[fix - part.range.lowerBound] {
        watched.find(step, holding: &found, crossed: &crossed)
        regions += found
        let end = Int32(regions.count)
        regions += crossed
        ends.append([end, Int32(regions.count)])
      } else {
        ends.append(SIMD2(repeating: Int32(regions.count)))
      }
    }
  }

  func read(_ fix: Int, _ found: inout [Int32], _ crossed: inout [Int32]) {
    let index = fix - fixes.lowerBound
    let start = index > 0 ? Int(ends[index - 1].y) : 0
    let (middle, end) = (Int(ends[index].x), Int(ends[index].y))
    found.removeAll(keepingCapacity: true)
    crossed.removeAll(keepingCapacity: true)
    for number in start..<middle { found.append(regions[number]) }
    for number in middle..<end { crossed.append(regions[number]) }
  }
}
