public import FieldpackCore
import FieldpackGeometry

extension RegionsMonitor {
  /// Fixes that are looked at together.
  private static let part = 16_384
  /// What a task takes of them at a time, or of the distances that are owed.
  private static let piece = 1024
  /// Distances that are owed before they are measured, as a fix may owe one a region.
  private static let debt = 65_536

  /// Takes fixes in their order, and leaves what can be known without that to all cores.
  ///
  /// What is seen, and what is known after it, is the same as of ``FixMonitor/take(_:from:into:)``. Holds
  /// some hundred bytes a fix for 16,384 fixes at a time, beside the detections.
  /// - Parameters:
  ///   - first: the number of the first one.
  ///   - detections: what is seen is appended.
  /// - Throws: `.interrupted` where the task is cancelled; no fix is taken then.
  public mutating func take(
    together fixes: [Fix], from first: Int = 0, into detections: inout [Detection]
  ) async throws(FieldpackError) {
    let (before, seen) = (self, detections.count)
    var owed: [OwedDistance]? = []
    var start = 0
    while start < fixes.count {
      let part = start..<min(start + Self.part, fixes.count)
      let steps = part.map { admit(fixes[$0], first + $0) }
      for looks in await look(at: fixes, part, steps) {
        for place in looks.fixes {
          guard let step = steps[place - start] else { continue }
          looks.read(place, &found, &crossed)
          judge(fixes[place], first + place, step, into: &detections, &owed)
          if owed?.count ?? 0 >= Self.debt {
            await pay(owed ?? [], &detections)
            owed = []
          }
        }
      }
      await pay(owed ?? [], &detections)
      owed = []
      guard !Task.isCancelled else {
        self = before
        detections.removeSubrange(seen...)
        throw FieldpackError(.interrupted, "interrupted while fixes were watched")
      }
      start = part.upperBound
    }
  }

  /// The regions that hold each fix of a part and those on the way to it, in the order of the fixes.
  private func look(
    at fixes: [Fix], _ part: Range<Int>, _ steps: [RegionsStep?]
  ) async -> [RegionLooks] {
    let regions = regions
    return await Self.inPieces(part) { piece in
      RegionLooks(at: fixes, piece, steps, from: part.lowerBound, regions)
    }
  }

  /// Measures what is owed.
  private func pay(_ owed: [OwedDistance], _ detections: inout [Detection]) async {
    let regions = regions
    let paid = await Self.inPieces(owed.indices) { piece in
      owed[piece].map { regions.distance(to: Int($0.region), from: Viewpoint($0.x, $0.y)) }
    }
    for (debt, distance) in zip(owed, paid.joined()) {
      detections[debt.detection].distance = distance
    }
  }

  /// What `work` gives for each piece of a range, in their order.
  private static func inPieces<Result: Sendable>(
    _ range: Range<Int>, _ work: @escaping @Sendable (Range<Int>) -> Result
  ) async -> [Result] {
    let starts = Array(stride(from: range.lowerBound, to: range.upperBound, by: piece))
    // Not worth a task.
    if starts.count < 2 { return starts.map { work($0..<range.upperBound) } }
    return await withTaskGroup(of: (Int, Result).self) { group in
      for (number, start) in starts.enumerated() {
        group.addTask { (number, work(start..<min(start + piece, range.upperBound))) }
      }
      var results = [Result?](repeating: nil, count: starts.count)
      for await (number, result) in group { results[number] = result }
      return results.compactMap { $0 }
    }
  }
}

/// The regions that hold each of some fixes, and those on the way to it.
private struct RegionLooks: Sendable {
  let fixes: Range<Int>
  private var regions: [Int32] = []
  /// Where those of a fix end: that hold it, and on the way to it.
  private var ends: [SIMD2<Int32>] = []

  init(
    at fixes: [Fix], _ range: Range<Int>, _ steps: [RegionsStep?], from start: Int,
    _ watched: WatchedRegions
  ) {
    self.fixes = range
    ends.reserveCapacity(range.count)
    var (found, crossed): ([Int32], [Int32]) = ([], [])
    for place in range {
      if let step = steps[place - start] {
        watched.find(step, to: fixes[place].position, holding: &found, crossed: &crossed)
        regions += found
        let end = Int32(regions.count)
        regions += crossed
        ends.append([end, Int32(regions.count)])
      } else {
        ends.append(SIMD2(repeating: Int32(regions.count)))
      }
    }
  }

  func read(_ place: Int, _ found: inout [Int32], _ crossed: inout [Int32]) {
    let index = place - fixes.lowerBound
    let start = index > 0 ? Int(ends[index - 1].y) : 0
    let (middle, end) = (Int(ends[index].x), Int(ends[index].y))
    found.removeAll(keepingCapacity: true)
    crossed.removeAll(keepingCapacity: true)
    found += regions[start..<middle]
    crossed += regions[middle..<end]
  }
}

extension WatchedRegions {
  /// The regions that hold a position, and those on the way of a step to it.
  func find(
    _ step: RegionsStep, to position: Position, holding found: inout [Int32],
    crossed: inout [Int32]
  ) {
    find(holding: position.x, position.y, into: &found)
    if step.mayCross {
      find(crossedFrom: step.before, to: position, into: &crossed)
    } else {
      crossed.removeAll(keepingCapacity: true)
    }
  }
}
