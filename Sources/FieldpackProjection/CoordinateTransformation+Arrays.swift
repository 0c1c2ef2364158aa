import CPROJ
public import FieldpackGeometry

extension CoordinateTransformation {
  /// Transforms `count` positions in place and returns the indices of those that failed.
  ///
  /// A failed position gets +infinity in x and y. A position whose x or y is NaN (an empty point)
  /// stays as it is, and so does a z that is NaN. Without `z` heights count as 0.
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
      operation.transform(positions[run])
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
  /// - Precondition: Both arrays have the same length.
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

  /// The position in the target's reference system; `nil` where it cannot be transformed.
  ///
  /// For single positions only: in an array each position takes a tenth of the time.
  public func transform(_ position: Position) -> Position? {
    var moved = position
    var height = position.z ?? 0
    let failed = transform(x: &moved.x, y: &moved.y, z: &height, count: 1)
    if position.z != nil { moved.z = height }
    return failed.isEmpty ? moved : nil
  }
}

extension CoordinateTransformation.Operation {
  fileprivate func transform(_ positions: StridedPositions) {
    if let direct { direct.transform(positions) } else { positions.transform(by: object, PJ_FWD) }
  }

  /// Transforms one position; a position that cannot be transformed becomes infinite.
  func transform(x: Double, y: Double) -> (x: Double, y: Double) {
    if let direct { direct.transform(x: x, y: y) } else { object.transform(x: x, y: y, PJ_FWD) }
  }
}

extension ProjectionObject {
  /// Transforms one position like `proj_trans_generic`, by `proj_trans`, which costs less.
  func transform(x: Double, y: Double, _ direction: PJ_DIRECTION) -> (x: Double, y: Double) {
    var position = PJ_COORD()
    position.xyzt = PJ_XYZT(x: x, y: y, z: 0, t: .infinity)
    let moved = proj_trans(handle, direction, position)
    return (moved.xyzt.x, moved.xyzt.y)
  }
}

/// Positions in an array, `step` doubles apart from each other.
struct StridedPositions {
  let x: UnsafeMutablePointer<Double>
  let y: UnsafeMutablePointer<Double>
  let z: UnsafeMutablePointer<Double>?
  let step: Int
  let count: Int

  subscript(run: Range<Int>) -> StridedPositions {
    let first = run.lowerBound * step
    return StridedPositions(
      x: x + first, y: y + first, z: z.map { $0 + first }, step: step, count: run.count)
  }

  func transform(by operation: borrowing ProjectionObject, _ direction: PJ_DIRECTION) {
    let bytes = step * 8
    proj_trans_generic(
      operation.handle, direction, x, bytes, count, y, bytes, count,
      z, z == nil ? 0 : bytes, z == nil ? 0 : count, nil, 0, 0)
  }

  /// Multiplies x and y.
  func scale(by factor: Double) {
    for index in 0..<count {
      x[index * step] *= factor
      y[index * step] *= factor
    }
  }

  // PROJ 9.1 makes a whole position an error where one ordinate is NaN. An empty point is not an
  // error, so PROJ only gets runs without NaN.
  fileprivate func runOfNumbers(from start: Int) -> Range<Int>? {
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

  fileprivate func collectFailures(in run: Range<Int>, into failed: inout [Int]) {
    for index in run {
      let offset = index * step
      let sum = x[offset] + y[offset] + (z?[offset] ?? 0)
      if sum.isFinite { continue }
      x[offset] = .infinity
      y[offset] = .infinity
      failed.append(index)
    }
  }

  fileprivate mutating func replaceNaNHeights(with height: Double) -> [Int] {
    guard let z else { return [] }
    var found: [Int] = []
    for index in 0..<count where z[index * step].isNaN {
      z[index * step] = height
      found.append(index)
    }
    return found
  }

  fileprivate func setHeights(_ indices: [Int], to height: Double) {
    guard let z else { return }
    for index in indices { z[index * step] = height }
  }
}
