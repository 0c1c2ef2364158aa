import CPROJ
public import FieldpackGeometry

extension CoordinateTransformation {
  /// Transforms `count` positions in place and returns the indices of those that failed.
  ///
  /// A failed position holds +infinity in x and y afterwards. A position whose x or y is NaN (an
  /// empty point) and a z that is NaN stay as they are. Without `z` heights count as 0.
  /// - Parameter stride: Bytes from one position to the next, a multiple of 8: 8 for arrays of one
  ///   ordinate, 16, 24 or 32 where the ordinates of a position lie together.
  /// - Precondition: Every pointer is aligned and good for `count` positions.
  public func transform(
    x: UnsafeMutablePointer<Double>, y: UnsafeMutablePointer<Double>,
    z: UnsafeMutablePointer<Double>? = nil, stride: Int = 8, count: Int
  ) -> [Int] {
    precondition(stride >= 8 && stride % 8 == 0 && count >= 0)
    guard let operation, count > 0 else { return [] }
    var positions = StridedPositions(x: x, y: y, z: z, step: stride / 8, count: count)
    let withoutHeight = positions.replaceNaNHeights(with: 0)
    defer { positions.setHeights(withoutHeight, to: .nan) }
    var failed: [Int] = []
    var start = 0
    while let run = positions.runOfNumbers(from: start) {
      positions.transform(run, by: operation.object)
      positions.collectFailures(in: run, into: &failed)
      start = run.upperBound
    }
    return failed
  }

  /// Transforms interleaved ordinates in place and returns the indices of the positions that failed.
  ///
  /// See ``transform(x:y:z:stride:count:)``; m stays as it is.
  /// - Precondition: The number of ordinates is a multiple of `dimensions.count`.
  public func transform(_ ordinates: inout [Double], dimensions: Dimensions) -> [Int] {
    precondition(ordinates.count % dimensions.count == 0)
    let count = ordinates.count / dimensions.count
    return ordinates.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return [] }
      return transform(
        x: base, y: base + 1, z: dimensions.hasZ ? base + 2 : nil, stride: 8 * dimensions.count,
        count: count)
    }
  }

  /// Transforms positions given as two arrays in place; returns the indices of those that failed.
  /// - Precondition: Both arrays are of one length.
  public func transform(x: inout [Double], y: inout [Double]) -> [Int] {
    precondition(x.count == y.count)
    let count = x.count
    return x.withUnsafeMutableBufferPointer { xs in
      y.withUnsafeMutableBufferPointer { ys in
        guard let x = xs.baseAddress, let y = ys.baseAddress else { return [] }
        return transform(x: x, y: y, count: count)
      }
    }
  }

  /// The position in the target's reference system; `nil` where it has none there.
  ///
  /// For single positions only: an array costs a tenth a position.
  public func transform(_ position: Position) -> Position? {
    var moved = position
    var height = position.z ?? 0
    let failed = transform(x: &moved.x, y: &moved.y, z: &height, count: 1)
    if position.z != nil { moved.z = height }
    return failed.isEmpty ? moved : nil
  }
}

/// Positions that lie `step` doubles apart.
private struct StridedPositions {
  let x: UnsafeMutablePointer<Double>
  let y: UnsafeMutablePointer<Double>
  let z: UnsafeMutablePointer<Double>?
  let step: Int
  let count: Int

  func transform(_ run: Range<Int>, by operation: borrowing ProjectionObject) {
    let first = run.lowerBound * step
    let bytes = step * 8
    let many = run.count
    proj_trans_generic(
      operation.handle, PJ_FWD, x + first, bytes, many, y + first, bytes, many,
      z.map { $0 + first }, z == nil ? 0 : bytes, z == nil ? 0 : many, nil, 0, 0)
  }

  // PROJ 9.1 turns a NaN in one position into an error of the whole position, which an empty
  // point is not.
  func runOfNumbers(from start: Int) -> Range<Int>? {
    var first = start
    while first < count, isEmpty(first) { first += 1 }
    guard first < count else { return nil }
    var end = first + 1
    while end < count, !isEmpty(end) { end += 1 }
    return first..<end
  }

  private func isEmpty(_ index: Int) -> Bool {
    x[index * step].isNaN || y[index * step].isNaN
  }

  func collectFailures(in run: Range<Int>, into failed: inout [Int]) {
    for index in run {
      let place = index * step
      let sum = x[place] + y[place] + (z?[place] ?? 0)
      if sum.isFinite { continue }
      x[place] = .infinity
      y[place] = .infinity
      failed.append(index)
    }
  }

  mutating func replaceNaNHeights(with height: Double) -> [Int] {
    guard let z else { return [] }
    var found: [Int] = []
    for index in 0..<count where z[index * step].isNaN {
      z[index * step] = height
      found.append(index)
    }
    return found
  }

  func setHeights(_ indices: [Int], to height: Double) {
    guard let z else { return }
    for index in indices { z[index * step] = height }
  }
}
